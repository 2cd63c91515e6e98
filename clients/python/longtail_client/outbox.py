"""Writes that nobody answered, kept on disk in order until somebody does. One file a service and token.

A line is one request as JSON. Lines are appended with fsync under a lock; half a line, left by a process that was
killed, is set aside and stops nothing. The file is bounded: when it is full the newest write is refused, so that what
was promised first is kept. Nothing is locked while something is sent: whoever has a write to keep never waits for a
network.
"""

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longtail_client.config import Config
from longtail_client.errors import LongtailError, TooLarge
from longtail_client.request import Request

MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Flushed:
    """What became of waiting writes; `refused` ones were answered with no, and are kept aside with the reason."""

    sent: int = 0
    refused: int = 0
    waiting: int = 0


class Outbox:
    """Requests in a file. All of them are idempotent: one that was sent and not crossed out is sent again."""

    def __init__(self, path: Path, *, most_bytes: int = MOST_BYTES) -> None:
        self.path = path
        self.most_bytes = most_bytes

    @classmethod
    def of(cls, config: Config) -> "Outbox":
        """The outbox of a service and token, in the home's folder `outbox`."""
        owner = hashlib.sha256(f"{config.url}\n{config.token or ''}".encode()).hexdigest()[:16]
        return cls(config.home / "outbox" / f"{owner}.jsonl")

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits; costs one look at the folder."""
        try:
            return self.path.stat().st_size == 0
        except FileNotFoundError:
            return True

    def count(self) -> int:
        """How many writes wait."""
        return len(self._read_lines())

    def append(self, *requests: Request[Any]) -> None:
        """Keep writes, in order and durably: all of them or none."""
        lines = b"".join(_to_line(request) for request in requests)
        with self._lock("lock"), open(_private(self.path), "r+b") as file:
            size = file.seek(0, os.SEEK_END)
            if size + len(lines) > self.most_bytes:
                raise TooLarge(
                    f"the outbox {self.path} holds {size} bytes; it may hold {self.most_bytes}",
                    code="outbox_full",
                    remedy="start the service and run 'longtail-client flush'",
                )
            is_torn = size > 0 and os.pread(file.fileno(), 1, size - 1) != b"\n"
            file.write((b"\n" if is_torn else b"") + lines)  # a torn line ends here, not inside of ours
            file.flush()
            os.fsync(file.fileno())

    def flush(self, send: Callable[[Request[Any]], Any], *, seconds: float | None = None) -> Flushed:
        """Send what waits, in order, up to the first that nobody answers or until the time is over."""
        if self.is_empty:
            return Flushed()
        with self._lock("flushing", wait=False) as is_ours:
            if not is_ours:  # somebody else is at it
                return Flushed(waiting=self.count())
            started = time.monotonic()
            lines = self._read_lines()
            done, refused = 0, []
            for line in lines:
                if seconds is not None and time.monotonic() - started > seconds:
                    break
                try:
                    send(_from_line(line))
                except LongtailError as error:
                    if error.is_transient:
                        break
                    refused.append(_describe(line, error.code, error.detail))
                except (ValueError, KeyError) as error:
                    refused.append(_describe(line, "torn", str(error)))
                done += 1
            self._cross_out(done, refused)
            return Flushed(sent=done - len(refused), refused=len(refused), waiting=len(lines) - done)

    def set_aside(self, request: Request[Any], error: LongtailError) -> None:
        """Keep a write that was refused, with the reason, for a person to look at."""
        self._keep_aside(_describe(_to_line(request), error.code, error.detail))

    @property
    def refused_path(self) -> Path:
        """Where refused writes are kept."""
        return self.path.with_suffix(".refused.jsonl")

    def _keep_aside(self, *described: bytes) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(_private(self.refused_path), "ab") as file:
            file.write(b"".join(described))
            file.flush()
            os.fsync(file.fileno())

    def _read_lines(self) -> list[bytes]:
        try:
            return [line for line in self.path.read_bytes().split(b"\n") if line.strip()]
        except FileNotFoundError:
            return []

    def _cross_out(self, count: int, refused: list[bytes]) -> None:
        """Take the first lines away; those that were refused are kept aside first."""
        if refused:
            self._keep_aside(*refused)
        with self._lock("lock"):
            rest = self._read_lines()[count:]  # with what was appended meanwhile
            shorter = _private(self.path.with_suffix(".new"))
            with open(shorter, "wb") as file:
                file.write(b"".join(line + b"\n" for line in rest))
                file.flush()
                os.fsync(file.fileno())
            os.replace(shorter, self.path)

    @contextlib.contextmanager
    def _lock(self, name: str, *, wait: bool = True) -> Iterator[bool]:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(_private(self.path.with_suffix(f".{name}")), "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
            else:
                yield True


def _private(path: Path) -> Path:
    """The file, made for its owner alone where it is new."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    return path


def _describe(line: bytes, code: str, detail: str) -> bytes:
    said = {"error": code, "detail": detail, "line": line.decode("utf-8", "replace")}
    return json.dumps(said).encode() + b"\n"


def _to_line(request: Request[Any]) -> bytes:
    line = {
        "method": request.method,
        "path": request.path,
        "content": base64.b64encode(request.content or b"").decode(),
        "params": dict(request.params),
        "headers": dict(request.headers),
    }
    return json.dumps(line).encode() + b"\n"


def _from_line(line: bytes) -> Request[Any]:
    found = json.loads(line)
    return Request(
        method=found["method"],
        path=found["path"],
        read=lambda data: data,
        is_idempotent=True,
        content=base64.b64decode(found["content"]),
        params=found["params"],
        headers=found["headers"],
    )
