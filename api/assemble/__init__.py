"""From a request to a prompt: read, rank, make blocks, fit the budget, shape the answer."""
