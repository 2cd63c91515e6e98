"""A proxy in front of a model's API: any program that speaks to one remembers by changing its base URL."""
