"""Usefulness labels in, a calibrated gate threshold out."""
