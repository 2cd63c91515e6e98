"""Durable memories, one by one."""
