"""What is answered while PostgreSQL is away."""
