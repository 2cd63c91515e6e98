"""Which of two statements still holds: what a statement claims, and whether a newer claim replaces an older one."""
