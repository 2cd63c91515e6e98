"""Code that runs inside a host's turn: standard library only, so that it starts in milliseconds."""
