"""What an operator reads about a stack: status, the doctor's findings, logs."""
