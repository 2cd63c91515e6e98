"""Summaries, down to the turns they cover."""
