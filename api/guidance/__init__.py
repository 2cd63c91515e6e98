"""Spoken rules and wishes, one by one."""
