"""Compaction of sessions: its passes, what each writes, and its share of the machine."""
