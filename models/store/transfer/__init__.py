"""The rows of an export, out and back in."""
