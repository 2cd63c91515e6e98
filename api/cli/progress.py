"""How far a file was sent, so that an interrupted ingest goes on where it stopped."""

import hashlib
import json
from functools import cached_property
from pathlib import Path

PIECE_BYTES = 1 << 20


class IngestMark:
    """A small file under the home folder, one for each server and token that the file was sent to.

    It only saves time: sending a line twice would change nothing. Whoever trusts it asks the server first.
    """

    def __init__(self, home: Path, file: Path, *, server: str, token: str | None) -> None:
        self._file = file.resolve()
        name = hashlib.sha256(f"{self._file}\n{server}\n{token}".encode()).hexdigest()[:16]
        self._mark = home / "run" / "ingest" / f"{name}.json"

    @cached_property
    def _size(self) -> int:
        return self._file.stat().st_size

    @cached_property
    def _fingerprint(self) -> str:
        return self._digest(self._size)

    def _digest(self, size: int) -> str:
        """Of the file's first bytes: every word counts, for one that was changed is to be sent."""
        digest = hashlib.sha256()
        with self._file.open("rb") as file:
            while size > 0 and (piece := file.read(min(size, PIECE_BYTES))):
                digest.update(piece)
                size -= len(piece)
        return digest.hexdigest()

    def read(self) -> int:
        """The last line that was sent; 0 for a new file, or one that did more than grow since."""
        try:
            found = json.loads(self._mark.read_text())
            line, size, fingerprint = int(found["line"]), int(found["size"]), found["fingerprint"]
        except (OSError, ValueError, KeyError, TypeError):
            return 0
        return line if self._size >= size and self._digest(size) == fingerprint else 0

    def write(self, line: int) -> None:
        """Remember that everything up to this line was accepted."""
        self._mark.parent.mkdir(parents=True, exist_ok=True)
        state = {"line": line, "size": self._size, "fingerprint": self._fingerprint}
        self._mark.write_text(json.dumps(state))
