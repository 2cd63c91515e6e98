"""Pure mathematics of the memory model: no clock, no I/O, only the standard library and numpy."""
