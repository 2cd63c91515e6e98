"""Authored documents: load, look, take away."""
