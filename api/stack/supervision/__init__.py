"""The processes of a stack under supervisord: what runs, whether it is well, and why it would not start."""
