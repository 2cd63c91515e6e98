"""What every request passes first: bounds on its size and on how often it comes."""
