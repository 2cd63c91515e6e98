"""Which memories answer a query: scores, order, and the set that is worth its tokens."""
