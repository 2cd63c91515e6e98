"""The ends of the parts' logs, and what comes after them."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from api.stack.home.layout import Layout
from api.stack.supervision.parts import IN_START_ORDER
from models.errors import NotFound

BLOCK_BYTES = 64 * 1024
POLL_SECONDS = 0.3
KNOWN = (*IN_START_ORDER, "supervisord")


def find_logs(layout: Layout, part: str | None) -> dict[str, Path]:
    """The log of the part, or every log there is, in start order."""
    if part is not None and part not in KNOWN:
        raise NotFound(f"there is no part {part!r}", field="part", remedy=f"name one of {', '.join(KNOWN)}")
    found = {name: layout.log_file(name) for name in ([part] if part else KNOWN)}
    found = {name: path for name, path in found.items() if path.exists()}
    if not found:
        raise NotFound(
            f"no log of {part or 'any part'} in {layout.logs}",
            remedy="start the stack with 'longtail up'; the logs appear then",
        )
    return found


def read_last_lines(path: Path, count: int) -> list[str]:
    """The last `count` lines, read from the end: logs may be large."""
    if count <= 0:
        return []
    with open(path, "rb") as file:
        position = file.seek(0, os.SEEK_END)
        tail = b""
        while position > 0 and tail.count(b"\n") <= count:
            step = min(BLOCK_BYTES, position)
            position -= step
            file.seek(position)
            tail = file.read(step) + tail
    return tail.decode(errors="replace").splitlines()[-count:]


def follow(logs: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """(part, line) as lines are written, for ever; goes on in the new file after a rotation."""
    places = {name: (_number(path), path.stat().st_size) for name, path in logs.items()}
    while True:
        for name, path in logs.items():
            number, position = places[name]
            try:
                if _number(path) != number or path.stat().st_size < position:
                    number, position = _number(path), 0
                with open(path, "rb") as file:
                    file.seek(position)
                    fresh = file.read()
            except FileNotFoundError:
                continue  # between the two steps of a rotation
            whole = fresh[: fresh.rfind(b"\n") + 1]
            places[name] = (number, position + len(whole))
            for line in whole.decode(errors="replace").splitlines():
                yield name, line
        time.sleep(POLL_SECONDS)


def _number(path: Path) -> int:
    return path.stat().st_ino
