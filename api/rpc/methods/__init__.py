"""The methods of the older daemon's protocol, one module a family."""
