"""Lines out of a stream of bytes: however it was cut, the same lines come out, and memory stays bounded."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was longer than allowed; nothing of it is kept."""

    size_bytes: int


class LineFramer:
    """Collects bytes until a newline; blank lines are nothing.

    >>> framer = LineFramer(max_bytes=9)
    >>> list(framer.feed(b'{"a":')), list(framer.feed(b'1}' + bytes([13, 10]) + b'much too long' + bytes([10])))
    ([], [b'{"a":1}', TooLong(size_bytes=13)])
    """

    def __init__(self, *, max_bytes: int) -> None:
        self.max_bytes = max_bytes  # of a line; may be changed between two of them
        self._parts: list[bytes] = []
        self._size = 0  # of the line so far, dropped bytes included

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """The lines that are complete now. Read all of them: the rest of `data` is kept behind the last."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._add(data[start:end])
            start = end + 1
            yield from self._take()
        self._add(data[start:])

    def finish(self) -> Iterator[bytes | TooLong]:
        """What is left when the stream has ended: a last line without its newline."""
        yield from self._take()

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self.max_bytes + 1:  # one more: the carriage return is not the line's
            self._parts.clear()
        elif part:
            self._parts.append(part)

    def _take(self) -> Iterator[bytes | TooLong]:
        line, size = b"".join(self._parts).strip(b" \t\r"), self._size
        self._parts.clear()
        self._size = 0
        if size > self.max_bytes + 1 or len(line) > self.max_bytes:
            yield TooLong(size)
        elif line:
            yield line
