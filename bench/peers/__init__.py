"""Other memories that run without a language model, each in an environment of its own, on the same turns and questions.

A script here is run by the environment of its peer: it reads histories from a file, lets the peer remember every turn,
asks it every question, and writes the turns it named, best first.
"""
