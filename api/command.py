#!python
"""What is installed as `longtail`: a script that an installer writes loads `re`, which takes longer than Python's start."""

from api.__main__ import main

if __name__ == "__main__":
    main()
