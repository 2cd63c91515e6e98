"""Asking for a compaction."""
