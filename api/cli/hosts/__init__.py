"""Commands that bring an agent and Longtail together."""
