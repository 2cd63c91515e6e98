"""Calls that the API has not taken yet, in order, on disk: $LONGTAIL_HOME/spool.

queue       a line a call: CRC-32 of what follows, a space, JSON. Appended under `lock`, then fsync.
sent        how many bytes of the queue the API has taken, 20 digits
aside       what could not be sent and never will: torn lines, refused calls, input that was no JSON; with the reason
dropped     how many calls found the spool full, as JSON: they are gone, and this says so
lock        held while the queue is appended to or cut; replay.lock while somebody sends

A writer that is killed leaves a torn line without an end. The next writer ends it, its checksum does not match, and it is
put aside. `sent` goes back to 0 before the queue is cut: a crash in between sends calls twice, which changes nothing
(every call carries its ids or its key), and never skips one.
"""

from __future__ import annotations

import os
import time
from binascii import crc32
from fcntl import LOCK_EX, LOCK_NB, flock

from api.host.private import make_private_folder, open_private
from api.host.quick_json import MalformedJson, dump, parse
from api.host.turns import format_now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedReader
    from typing import Any

CUT_BYTES = 1024 * 1024  # of the queue that were sent, from which the rest is copied to a new file
ASIDE_SHARE = 4  # the aside file may be this part of the spool's bound


# What must stand in a call before its secrets are looked for: loading the rules takes longer than all else a hook does.
HINTS = (
    *(
        "pass",
        "pwd",
        "pin",
        "secret",
        "token",
        "credential",
        "key",
        "bearer",
        "authorization",
        "-----begin",
        "@",
        "eyj",
        "sk-",
    ),
    *(
        "sk_",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat",
        "glpat-",
        "xox",
        "akia",
        "asia",
        "aiza",
        "hf_",
        "npm_",
        "lt_",
        ":aa",
        "hooks.",
    ),
)


def mask(value: Any) -> Any:
    """The value as it may lie on disk: without secrets, unless the policy keeps them."""
    if os.environ.get("LONGTAIL_SECRETS", "mask") in ("off", "tag"):
        return value
    lowered = (value if isinstance(value, str) else dump(value)).lower()
    if not any(hint in lowered for hint in HINTS):
        return value
    from models.domain.text.secrets import mask_values

    return mask_values(value)[0]


def _mask_call(call: dict[str, Any]) -> dict[str, Any]:
    """What somebody said in the call, masked. Our own words in it (its key is one) are no hint of a secret."""
    body = call.get("body")
    if not isinstance(body, dict):
        return {name: mask(value) for name, value in call.items()}
    said = {name: value for name, value in body.items() if name != "idempotency_key"}
    return {**call, "path": mask(call.get("path", "")), "body": {**body, **mask(said)}}


class Spool:
    """One home's spool. Every method may be called by several processes at once."""

    def __init__(self, home: str, *, max_bytes: int) -> None:
        self.folder = os.path.join(home, "spool")
        self.max_bytes = max_bytes

    def append(self, call: dict[str, Any]) -> bool:
        """Keep a call, durably; False when the spool is full, which is counted."""
        payload = dump({"at": format_now(), **_mask_call(call)}).encode("ascii")
        line = b"%08x %s\n" % (crc32(payload), payload)
        with self._hold("lock"):
            kept = self._append_line("queue", line, self.max_bytes)
            if not kept:
                self._count_dropped(len(line))
        return kept

    def put_aside(self, why: str, what: bytes) -> None:
        """Keep what cannot be sent, with the reason, for a person to look at."""
        with self._hold("lock"):
            self._put_aside(why, what)

    def is_empty(self) -> bool:
        """Whether nothing waits; cheap."""
        try:
            return os.path.getsize(self._path("queue")) == 0
        except OSError:
            return True

    def replay(self, *, wait_seconds: float) -> Replay | None:
        """The right to send what waits; None when somebody else has it for all of that time."""
        self._make_folder()
        try:
            lock = _Lock(self._path("replay.lock"), wait_seconds=wait_seconds)
        except BlockingIOError:
            return None
        return Replay(self, lock)

    def measure(self) -> dict[str, Any]:
        """What waits, since when, and what was lost, for `longtail status`; nothing is changed."""
        waiting, size, oldest_at = 0, 0, None
        for line, _ in self._lines_from(self._read_sent()):
            call = check_line(line)
            waiting += call is not None
            size += len(line)
            oldest_at = oldest_at or (call or {}).get("at")
        return {
            "folder": self.folder,
            "waiting": waiting,
            "bytes": size,
            "oldest_at": oldest_at,
            "aside": sum(1 for _ in _read_lines(self._path("aside"))),
            "dropped": self.read_dropped()["calls"],
            "max_bytes": self.max_bytes,
        }

    def read_dropped(self) -> dict[str, Any]:
        """How many calls found the spool full, and when first and last."""
        nothing = {"calls": 0, "bytes": 0, "first_at": None, "last_at": None}
        try:
            with _read(self._path("dropped")) as file:
                found = parse(file.read().decode("ascii", "replace"))
        except (OSError, MalformedJson):
            return nothing
        return {**nothing, **found} if isinstance(found, dict) else nothing

    def read_aside(self) -> Iterator[dict[str, Any]]:
        """What was put aside, oldest first, without the words themselves."""
        for line, _ in _read_lines(self._path("aside")):
            try:
                note = parse(line.decode("ascii", "replace"))
            except MalformedJson:
                continue  # torn while it was written: what it was about was put aside whole before
            if isinstance(note, dict):
                yield {name: note.get(name) for name in ("at", "why", "bytes")}

    def forget(self, is_about: Callable[[dict[str, Any]], bool]) -> int:
        """Take out every call that waits, or was put aside, and is about what was erased; how many there were.

        Lines that cannot be read stay in the queue: they are put aside when their turn comes.
        """
        gone = 0
        with self._hold("replay.lock"), self._hold("lock"):
            for name, read in (("queue", check_line), ("aside", _read_aside_call)):
                start = self._read_sent() if name == "queue" else 0
                kept = []
                for line, _ in _read_lines(self._path(name), start):
                    call = read(line)
                    if call is not None and is_about(call):
                        gone += 1
                    else:
                        kept.append(line)
                if os.path.exists(self._path(name)):
                    if name == "queue":
                        self._write_sent(0)  # before the cut, never after it: see above
                    self._replace(name, b"".join(kept))
        return gone

    def clear_losses(self) -> None:
        """Forget what was put aside and what was dropped; what waits stays."""
        with self._hold("lock"):
            for name in ("aside", "dropped"):
                _remove(self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _hold(self, name: str) -> _Lock:
        self._make_folder()
        return _Lock(self._path(name), wait_seconds=None)

    def _make_folder(self) -> None:
        os.makedirs(os.path.dirname(self.folder), mode=0o700, exist_ok=True)
        make_private_folder(self.folder)

    def _append_line(self, name: str, line: bytes, most_bytes: int) -> bool:
        """Append and fsync; the lock is held. False where the file would grow past its bound."""
        descriptor = open_private(self._path(name), os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line  # ends the line of a writer that was killed
            if size + len(line) > most_bytes:
                return False
            try:
                _write_all(descriptor, line)
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)  # a full disk must not leave half a line
                raise
            if size == 0:
                self._sync_folder()
        finally:
            os.close(descriptor)
        return True

    def _put_aside(self, why: str, what: bytes) -> None:
        note = dump(
            {
                "at": format_now(),
                "why": why,
                "bytes": len(what),
                "what": mask(what.decode("utf-8", "replace")),
            }
        )
        if not self._append_line("aside", note.encode("ascii") + b"\n", self.max_bytes // ASIDE_SHARE):
            self._count_dropped(len(what))

    def _count_dropped(self, size: int) -> None:
        known = self.read_dropped()
        now = format_now()
        fresh = {
            "calls": known["calls"] + 1,
            "bytes": known["bytes"] + size,
            "first_at": known["first_at"] or now,
            "last_at": now,
        }
        self._replace("dropped", dump(fresh).encode("ascii"))

    def _replace(self, name: str, data: bytes) -> None:
        fresh = self._path(f".{name}.{os.getpid()}")
        descriptor = open_private(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(fresh, self._path(name))

    def _sync_folder(self) -> None:
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _read_sent(self) -> int:
        """How far the queue was sent; 0 when unknown or not at a line's beginning: sending again is harmless."""
        try:
            with _read(self._path("sent")) as file:
                found = file.read(32)
            sent = int(found) if found.isdigit() else 0
            with _read(self._path("queue")) as file:
                if sent == 0 or sent > os.fstat(file.fileno()).st_size:
                    return 0
                file.seek(sent - 1)
                return sent if file.read(1) == b"\n" else 0
        except OSError:
            return 0

    def _write_sent(self, sent: int) -> None:
        descriptor = open_private(self._path("sent"), os.O_WRONLY | os.O_CREAT)
        try:
            os.pwrite(descriptor, b"%020d" % sent, 0)
        finally:
            os.close(descriptor)

    def _lines_from(self, start: int) -> Iterator[tuple[bytes, int]]:
        return _read_lines(self._path("queue"), start)


class Replay:
    """The only process that sends: reads the queue in order and remembers how far it came."""

    def __init__(self, spool: Spool, lock: _Lock) -> None:
        self._spool = spool
        self._lock = lock
        self._sent = spool._read_sent()

    def __enter__(self) -> Replay:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._cut()
        finally:
            self._lock.close()

    def calls(self) -> Iterator[dict[str, Any]]:
        """Every call that waits; asking for the next one says that the one before was taken or put aside."""
        while True:
            found = False
            for line, end in self._spool._lines_from(self._sent):
                found = True
                if not line.endswith(b"\n"):
                    if not self._end_torn_line(end):
                        break  # a writer finished it meanwhile: read it again
                    continue
                call = check_line(line)
                if call is None:
                    self._spool.put_aside(
                        "the line is torn: its writer was killed, or the disk failed", line.rstrip()
                    )
                else:
                    yield call
                self._sent = end
                self._spool._write_sent(end)
            if not found:
                return

    def put_aside(self, why: str, call: dict[str, Any]) -> None:
        """Keep a call that the API refused, with its reason."""
        self._spool.put_aside(why, dump(call).encode("ascii"))

    def _end_torn_line(self, end: int) -> bool:
        """Put an unfinished last line aside, unless it is being written right now."""
        with self._spool._hold("lock"):
            # Nobody writes while we hold the lock: a line that still has no end will never get one.
            path = self._spool._path("queue")
            if os.path.getsize(path) != end:
                return False
            with _read(path) as file:
                file.seek(self._sent)
                torn = file.read(end - self._sent)
            if torn.endswith(b"\n"):
                return False
            if check_line(torn) is not None:  # killed between its last byte and its end: it is whole
                with open(open_private(path, os.O_WRONLY | os.O_APPEND), "ab") as file:
                    file.write(b"\n")
                return False
            if torn:
                self._spool._put_aside("the line is torn: its writer was killed", torn)
            _truncate(path, self._sent)
        return True

    def _cut(self) -> None:
        """Give back the space of what was sent."""
        spool = self._spool
        path = spool._path("queue")
        if not self._sent:
            return
        with spool._hold("lock"):
            size = os.path.getsize(path)
            if self._sent >= size:
                spool._write_sent(0)  # before the cut, never after it: see above
                _truncate(path, 0)
            elif self._sent >= min(CUT_BYTES, spool.max_bytes // 2):
                with _read(path) as file:
                    file.seek(self._sent)
                    rest = file.read()
                spool._write_sent(0)
                spool._replace("queue", rest)


class _Lock:
    """A lock on a file, which the kernel drops when its holder dies."""

    def __init__(self, path: str, *, wait_seconds: float | None) -> None:
        self._descriptor = open_private(path, os.O_RDWR | os.O_CREAT)
        try:
            self._take(wait_seconds)
        except BaseException:
            os.close(self._descriptor)
            raise

    def _take(self, wait_seconds: float | None) -> None:
        if wait_seconds is None:
            flock(self._descriptor, LOCK_EX)
            return
        deadline = time.monotonic() + wait_seconds
        while True:
            try:
                flock(self._descriptor, LOCK_EX | LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.005)

    def __enter__(self) -> _Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self._descriptor)


def check_line(line: bytes) -> dict[str, Any] | None:
    """The call on a line of the queue; None when the line is not whole.

    >>> check_line(b'6c5d1b9a {"path":"/v1"}\\n') is None
    True
    """
    checksum, _, payload = line.rstrip(b"\n").partition(b" ")
    if checksum != b"%08x" % crc32(payload):
        return None
    try:
        call = parse(payload.decode("ascii"))
    except (UnicodeDecodeError, MalformedJson):
        return None
    return call if isinstance(call, dict) else None


def _read_aside_call(line: bytes) -> dict[str, Any] | None:
    """The call that a note of the aside file quotes, if it quotes one."""
    try:
        note = parse(line.decode("ascii", "replace"))
        call = parse(note["what"]) if isinstance(note, dict) and isinstance(note.get("what"), str) else None
    except MalformedJson:
        return None
    return call if isinstance(call, dict) else None


def _read_lines(path: str, start: int = 0) -> Iterator[tuple[bytes, int]]:
    """Lines of a file and where each ends; the last may have no line end."""
    try:
        file = _read(path)  # closed below; a missing file has no lines
    except FileNotFoundError:
        return
    with file:
        file.seek(start)
        for line in file:
            start += len(line)
            yield line, start


def _read(path: str) -> BufferedReader:
    return open(open_private(path, os.O_RDONLY), "rb")


def _truncate(path: str, size: int) -> None:
    descriptor = open_private(path, os.O_WRONLY)
    try:
        os.ftruncate(descriptor, size)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
