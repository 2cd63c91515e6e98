"""Benchmarks: what is measured stands beside its floor and beside what a user would pick instead, in one run."""
