"""Files that a command is told to read or write: what is wrong with one, in words."""

import os
from pathlib import Path

from models.errors import InvalidInput


def read_text(path: Path) -> str:
    """The whole file."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8", remedy="save it as UTF-8") from error


def unreadable(path: Path, error: OSError) -> InvalidInput:
    """Why it cannot be read."""
    if isinstance(error, FileNotFoundError):
        return InvalidInput(f"there is no file {path}", remedy="check the path")
    if isinstance(error, IsADirectoryError):
        return InvalidInput(f"{path} is a folder", remedy="name a file in it")
    return InvalidInput(f"cannot read {path}: {error.strerror}", remedy="check the path and its permissions")


def unwritable(path: Path, error: OSError) -> InvalidInput:
    """Why it cannot be written."""
    if isinstance(error, FileNotFoundError):
        return InvalidInput(f"there is no folder {path.parent}", remedy="make it first, or name another file")
    return InvalidInput(
        f"cannot write {path}: {error.strerror or os.strerror(error.errno or 0)}",
        remedy="name a file in a folder that you may write to",
    )
