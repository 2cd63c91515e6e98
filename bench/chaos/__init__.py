"""Faults on purpose: a real stack under steady load, hurt at random moments, and what is found afterwards."""
