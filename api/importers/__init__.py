"""Other systems' memory, read into ours: found, read, audited and sent by one runner."""
