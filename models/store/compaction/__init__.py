"""Compaction: how far each session came, its summaries, and the lineage down to raw turns."""
