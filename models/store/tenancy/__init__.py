"""Tenants, their tokens and their namespaces, and how a namespace is erased."""
