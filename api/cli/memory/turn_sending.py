"""Sending a file of turns: where an earlier run stopped, what the server said."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from api.cli.memory.turn_files import Batch, count_turns, read_batches
from api.cli.progress import IngestMark
from api.client import ServiceClient
from models.errors import NotFound
from models.settings import get_settings


class SendRun:
    """One run over a file, and its counts."""

    def __init__(self, client: ServiceClient, path: Path, *, is_resumable: bool) -> None:
        settings = get_settings()
        self._client = client
        self._path = path
        self._mark = (
            IngestMark(settings.home, path, server=client.url, token=settings.client_token())
            if is_resumable
            else None
        )
        self.lines = self.accepted = self.duplicates = self.ignored = self.erased = 0
        self.differing: list[dict[str, str]] = []

    def find_start(self) -> int:
        """The last line that need not be sent: an earlier run sent it, and the server still has as many turns."""
        done = self._mark.read() if self._mark else 0
        if done and all(
            self._count_kept(session) >= turns
            for session, turns in count_turns(self._path, to_line=done).items()
        ):
            return done
        return 0

    def _count_kept(self, session: str) -> int:
        try:
            return int(self._client.read_session(session)["turns"])
        except NotFound:
            return 0

    def send(self, *, after_line: int) -> Iterator[int]:
        """Send what comes after the line, and say how many lines each call took."""
        for batch in read_batches(self._path, after_line=after_line):
            self._count(batch, self._client.post_turns(batch.session_id, batch.turns, **batch.identity))
            if self._mark and not self.differing:  # what differs is said again at the next run
                self._mark.write(batch.end_line)
            yield batch.lines

    def _count(self, batch: Batch, answer: dict[str, Any]) -> None:
        self.lines += batch.lines
        self.accepted += len(answer["accepted"])
        self.duplicates += len(answer["duplicates"])
        self.ignored += len(answer["skipped"])
        self.erased += len(answer["erased"])
        self.differing += [
            {"session_id": batch.session_id, "id": str(batch.turns[one["index"]].get("id"))}
            for one in answer["duplicates"]
            if one["content_differs"]
        ]
