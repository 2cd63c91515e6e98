"""The sources of an import, one module each, and what several of them share: pure functions from a file to turns."""
