"""The raw record: turns in and out, the sessions they belong to, and what hosts noted about those."""
