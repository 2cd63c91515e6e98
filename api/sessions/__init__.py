"""Sessions: lists and states."""
