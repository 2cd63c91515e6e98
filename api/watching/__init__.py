"""Markdown folders that are kept as documents: what belongs, what was sent, what has to be sent."""
