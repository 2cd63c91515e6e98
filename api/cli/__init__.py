"""The `longtail` command: a thin shell over the stack and the service, and its words. Heavy modules load inside commands."""
