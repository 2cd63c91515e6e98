"""Measuring and fitting what finds rules."""
