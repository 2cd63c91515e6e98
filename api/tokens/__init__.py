"""Tokens: issued, listed, revoked and rotated by an administrator."""
