"""Compaction: which turns a summary covers, whether it may stand for them, and the proof that none is lost."""
