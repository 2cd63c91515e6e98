"""Receipts: how a prompt came about, and whether it would come about again."""
