"""What was sent of a folder, so that a restart sends only what changed meanwhile."""

import contextlib
import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

FORMAT = 1
SAVE_SECONDS = 1.0  # a crash may cost a second sending of what was sent since


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A document as the server has it: what was sent, and how."""

    sha256: str
    kind: str
    policy: str


class Ledger:
    """A small file under the home folder; losing it costs one sending of everything and nothing else."""

    def __init__(self, home: Path, *, root: Path, destination: str) -> None:
        """`destination` names the server and whose documents they are: another one knows nothing yet."""
        key = hashlib.sha256(f"{root}\0{destination}".encode()).hexdigest()[:16]
        self._file = home / "run" / "watch" / f"{key}.json"
        self._root = root
        self.documents: dict[str, Sent] = self._read()
        self._saved_at = 0.0

    def _read(self) -> dict[str, Sent]:
        try:
            found = json.loads(self._file.read_text())
            if found["format"] != FORMAT:
                return {}
            return {name: Sent(**entry) for name, entry in found["documents"].items()}
        except (FileNotFoundError, PermissionError, ValueError, KeyError, TypeError):
            return {}  # not there, or not ours: everything is compared with the server's answer again

    def record(self, name: str, sent: Sent) -> None:
        """This is what the server has under the name now."""
        self.documents[name] = sent
        self._save_now_and_then()

    def forget(self, name: str) -> None:
        """The server has nothing under the name."""
        self.documents.pop(name, None)
        self._save_now_and_then()

    def _save_now_and_then(self) -> None:
        if time.monotonic() - self._saved_at > SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Write down what is known."""
        self._saved_at = time.monotonic()
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        state = {
            "format": FORMAT,
            "root": str(self._root),
            "documents": {name: asdict(sent) for name, sent in sorted(self.documents.items())},
        }
        unfinished = self._file.with_suffix(f".{os.getpid()}.tmp")
        try:
            unfinished.write_text(json.dumps(state))
            unfinished.replace(self._file)  # a reader sees the old one or the new one
        finally:
            with contextlib.suppress(FileNotFoundError):
                unfinished.unlink()
