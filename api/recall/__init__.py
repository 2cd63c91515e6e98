"""Ranked recall, as assemble and search share it."""
