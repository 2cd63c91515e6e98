"""How far a file was sent, so that an interrupted ingest goes on where it stopped."""

import hashlib
import json
from pathlib import Path

FINGERPRINT_BYTES = 65_536


class IngestMark:
    """A small file under the home folder; it only saves time: sending a line twice would change nothing."""

    def __init__(self, home: Path, file: Path) -> None:
        self._file = file.resolve()
        name = hashlib.sha256(str(self._file).encode()).hexdigest()[:16]
        self._mark = home / "run" / "ingest" / f"{name}.json"

    def _fingerprint(self) -> str:
        with self._file.open("rb") as file:
            return hashlib.sha256(file.read(FINGERPRINT_BYTES)).hexdigest()

    def read(self) -> int:
        """The last line that was sent; 0 for a new file or one whose beginning has changed."""
        try:
            found = json.loads(self._mark.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return 0
        size = self._file.stat().st_size
        same = found.get("fingerprint") == self._fingerprint() or size < FINGERPRINT_BYTES
        return int(found["line"]) if same and size >= found["size"] else 0

    def write(self, line: int) -> None:
        """Remember that everything up to this line was accepted."""
        self._mark.parent.mkdir(parents=True, exist_ok=True)
        state = {"line": line, "size": self._file.stat().st_size, "fingerprint": self._fingerprint()}
        self._mark.write_text(json.dumps(state))
