"""What is known of a user before anything is asked: which statements make its lines, and for how long."""
