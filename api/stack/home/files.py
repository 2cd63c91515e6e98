"""Files that hold secrets or are read while we write them: private from birth, replaced as a whole."""

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.stack.home.accounts import Account
from models.errors import Misconfigured, TransientError


def write_file(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Replace the file by `text` in one step: readers and crashes see the old or the new, whole."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise Misconfigured(
            f"cannot write {path}: {error.strerror}",
            remedy="free space or give yourself write permission there, or set LONGTAIL_HOME",
        ) from error


def make_folder(path: Path, *, mode: int = 0o700, owner: Account | None = None) -> None:
    """Make sure the folder exists with this mode and, where given, this owner (only root can give away)."""
    try:
        path.mkdir(mode=mode, exist_ok=True)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode):
            raise Misconfigured(
                f"{path} is not a folder", remedy="move it away, or set LONGTAIL_HOME to another folder"
            )
        if owner is not None and found.st_uid != owner.uid:
            os.chown(path, owner.uid, owner.gid)
        if stat.S_IMODE(found.st_mode) != mode:
            path.chmod(mode)
    except OSError as error:
        raise Misconfigured(
            f"cannot prepare the folder {path}: {error.strerror}",
            remedy="give yourself write permission there, or set LONGTAIL_HOME to a folder you own",
        ) from error


@contextmanager
def hold_lock(path: Path, *, wait_seconds: float) -> Iterator[None]:
    """One command at a time starts or stops the stack; the kernel drops the lock if its holder dies."""
    try:
        opened = open(path, "a+", opener=lambda name, flags: os.open(name, flags, 0o600))  # noqa: SIM115
    except OSError as error:
        raise Misconfigured(
            f"cannot open {path}: {error.strerror}",
            remedy="run as the user who started the stack, or set LONGTAIL_HOME to a folder of your own",
        ) from error
    with opened as file:
        deadline = time.monotonic() + wait_seconds
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    file.seek(0)
                    holder = file.read().strip() or "unknown"
                    raise TransientError(
                        f"another longtail command (process {holder}) is starting or stopping this stack",
                        remedy="wait for it to finish, then try again",
                    ) from None
                time.sleep(0.1)
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield
