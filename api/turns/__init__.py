"""Raw turns: accepted once, read back word for word."""
