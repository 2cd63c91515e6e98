"""From a request to a prompt: read, rank, fit the budget, shape the answer."""
