"""What the routes share: parameters, pages, errors, how long a client may take."""
