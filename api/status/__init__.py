"""Whether the service works, how far behind it is, and its numbers for Prometheus."""
