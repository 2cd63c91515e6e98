"""Commands over what is remembered: turns in, prompts and search out, memories, documents, export, erasure."""
