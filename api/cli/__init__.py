"""The `longtail` command: a thin shell over the stack and the service. Heavy modules load inside commands."""
