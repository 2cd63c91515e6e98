"""Alembic migrations and the one function that brings a database up to date."""
