"""The home folder of a stack: where things lie, whose they are, how they are written, what a start left behind."""
