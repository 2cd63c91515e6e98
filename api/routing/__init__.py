"""What the routes share: checks of parameters and texts, pages, errors, how long a client may take."""
