"""Moving a tenant's memory out and back in."""
