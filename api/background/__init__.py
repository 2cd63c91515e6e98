"""Threads that work after the answer: the doorbell of the workers, read counts, receipts."""
