"""What is known of a user before anything is asked."""
