"""Questions about time: what a query asks for, and which turns fit it."""
