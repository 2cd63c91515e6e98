"""Commands over what is remembered."""
