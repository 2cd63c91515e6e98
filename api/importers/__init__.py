"""Other systems' memory, read into ours: one module a source, pure functions from a file to turns, and one runner."""
