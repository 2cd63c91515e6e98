"""Lifecycle hints, and the journal of them."""
