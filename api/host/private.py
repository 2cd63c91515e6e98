"""Files with words in them: their owner's alone, and never somewhere else by way of a link. Standard library only."""

from __future__ import annotations

import os
import stat
from errno import EPERM

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def make_private_folder(path: str) -> None:
    """Make sure that the folder is there and its owner's alone; OSError where it, or a link to it, is somebody else's."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        os.makedirs(path, mode=0o700, exist_ok=True)
        return
    if stat.S_ISLNK(found.st_mode):  # to another disk, perhaps: whoever owns this home may have put it there
        _check_owner(path, found.st_uid)
        found = os.stat(path)
    _check_owner(path, found.st_uid)
    if found.st_mode & OTHERS_WRITE and stat.S_ISDIR(found.st_mode):
        os.chmod(path, 0o700)


def open_private(path: str, flags: int) -> int:
    """A descriptor of a regular file of ours that nobody else reads; a new one is private from birth."""
    # O_NONBLOCK: a pipe that somebody put there must not hold us up.
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    try:
        found = os.fstat(descriptor)
        _check_owner(path, found.st_uid)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(EPERM, "it is no regular file", path)
        if stat.S_IMODE(found.st_mode) & 0o077:
            os.fchmod(descriptor, 0o600)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check_owner(path: str, uid: int) -> None:
    """Root may look after somebody's folder; nobody uses what another account has put into theirs."""
    me = os.geteuid()
    if uid == me or (me == 0 and uid == os.stat(os.path.dirname(path) or ".").st_uid):
        return
    raise OSError(EPERM, "it belongs to another user", path)
