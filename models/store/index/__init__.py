"""The search index: a row for everything recall can find, and its vectors."""
