"""Code that runs inside a host's turn: standard library only, so that it starts in milliseconds.

What a hook reaches loads neither `typing` nor `re`, `json`, `socket` or `collections`: together they cost more than
Python's own start. Types are named under TYPE_CHECKING.
"""
