"""Namespaces: lists, and erasing one."""
