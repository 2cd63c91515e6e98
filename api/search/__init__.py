"""Search: ranked memory outside of any prompt."""
