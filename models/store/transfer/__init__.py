"""The rows of an export, out and back in; what a backup counts, compares, and must not bring back."""
