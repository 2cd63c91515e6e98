"""How far an import came, so that the next run goes on there. It only saves time: sending twice changes nothing."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from api.importers.records import Unit


class ImportMarks:
    """A small file for each source and path under the home folder."""

    def __init__(self, home: Path, kind: str, path: Path, *, owner: str) -> None:
        name = hashlib.sha256(f"{kind}\n{path.resolve()}\n{owner}".encode()).hexdigest()[:16]
        self._file = home / "run" / "import" / f"{kind}-{name}.json"
        self._units = self._read()

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return {}
        return found if isinstance(found, dict) else {}

    def sent_of(self, unit: Unit) -> int:
        """How many turns of the unit were sent; 0 for one that is new or has changed since."""
        return int(self._find(unit).get("sent", 0))

    def is_done(self, unit: Unit) -> bool:
        """Whether all of the unit was sent, and it has not changed since."""
        return bool(self._find(unit).get("done"))

    def write(self, unit: Unit, *, sent: int, is_done: bool) -> None:
        """Remember that so many turns of the unit were taken."""
        self._units[unit.name] = {"size": unit.size, "changed": unit.changed, "sent": sent, "done": is_done}
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self._file.with_name(f".{self._file.name}.{os.getpid()}")
        fresh.write_text(json.dumps(self._units))
        fresh.replace(self._file)

    def forget(self) -> None:
        """Begin anew."""
        self._units = {}

    def _find(self, unit: Unit) -> dict[str, Any]:
        known = self._units.get(unit.name)
        is_same = (
            isinstance(known, dict)
            and known.get("size") == unit.size
            and known.get("changed") == unit.changed
        )
        return known if is_same and isinstance(known, dict) else {}
