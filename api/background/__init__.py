"""Threads that work after the answer: they ring for the workers, count reads, write receipts in batches, erase."""
