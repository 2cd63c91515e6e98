"""One run of an import: read the units, send their turns in batches, remember how far it came, count everything."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from api.client import ServiceClient
from api.host.turns import build_turns
from api.importers.coverage import Encode, KeptSession, Sent, plan, send_coverage
from api.importers.marks import ImportMarks
from api.importers.records import Dropped, ImportedSummary, ImportedTurn, Report, Unit
from models.errors import Forbidden, PermanentError, Unauthorized

MAX_BATCH_TURNS = 200
MAX_BATCH_CHARS = 2_000_000
Progress = Callable[[Unit], None]
Identity = dict[str, str | None]
Ready = tuple[str, Identity, dict[str, Any]]  # a session, whose it is, and a turn of it


class ImportRun:
    """Sends the turns of units. Without a client it is a dry run: everything but the sending.

    Whose memory it becomes: the user who was named, else whom the source names, else the user of this machine.
    """

    def __init__(
        self,
        report: Report,
        *,
        client: ServiceClient | None,
        marks: ImportMarks,
        user_id: str | None,
        agent_id: str | None,
        is_user_named: bool = False,
        encode: Encode | None = None,
        tail_min_turns: int = 0,
    ) -> None:
        self._report = report
        self._client = client
        self._marks = marks
        self._identity: Identity = {"user_id": user_id, "agent_id": agent_id}
        self._is_user_named = is_user_named
        self._encode = encode  # without it, summaries are left out
        self._tail_min_turns = tail_min_turns
        self._summaries: list[ImportedSummary] = []  # of the unit under way
        self._read: list[Ready] = []  # of the unit under way, in a dry run

    def run(self, units: Sequence[Unit], advance: Progress) -> Report:
        """Every unit in turn; an interruption costs at most the batch that was under way."""
        for unit in units:
            self._report.units += 1
            if self._client is not None and self._marks.is_done(unit):
                self._report.units_known += 1
            else:
                self._run_unit(unit)
            advance(unit)
        return self._report

    def _run_unit(self, unit: Unit) -> None:
        done = self._marks.sent_of(unit) if self._client is not None else 0
        self._report.resumed += done
        self._summaries, self._read = [], []
        place = 0
        for batch in _gather(self._turns(unit)):
            place += len(batch)
            fresh = batch[max(done - (place - len(batch)), 0) :]
            if self._client is None:
                self._read += batch
            elif fresh:
                self._send(self._client, fresh)
                self._marks.write(unit, sent=place, is_done=False)
        for session_id in dict.fromkeys(one.session_id for one in self._summaries):
            self._cover(session_id, [one for one in self._summaries if one.session_id == session_id])
        if self._client is not None:
            self._marks.write(unit, sent=place, is_done=True)

    def _turns(self, unit: Unit) -> Iterator[Ready]:
        """The unit's turns, ready to be sent: cleaned, and in several where one is too long."""
        for finding in unit.read():
            if isinstance(finding, ImportedSummary):
                self._summaries.append(finding)
                continue
            if not isinstance(finding, ImportedTurn):
                self._report.take(finding)
                continue
            turns = build_turns(
                role=finding.role,
                text=finding.content,
                id=finding.id,
                ts=finding.ts,
                name=finding.name,
                metadata=finding.metadata,
            )
            if not turns:
                self._report.dropped["empty"] += 1
                continue
            self._report.kept[finding.role] += 1
            self._report.sessions.add(finding.session_id)
            for turn in turns:
                yield finding.session_id, self._identify(finding), turn

    def _cover(self, session_id: str, summaries: Sequence[ImportedSummary]) -> None:
        """The summaries of a session over its turns; those that cannot cover them are dropped, each with its reason."""
        if self._client is None:
            turns = [
                {"id": turn["id"], "host_message_id": turn["id"], "metadata": {}, **turn}
                for session, _, turn in self._read
                if session == session_id
            ]
            found = plan(KeptSession(turns=turns), summaries, min_turns=self._tail_min_turns)
            sent = Sent(kept=len(found.adopted), declined=list(found.declined.values()))
        elif self._encode is None:
            sent = Sent(declined=["no encoder measured it" for _ in summaries])
        else:
            try:
                sent = send_coverage(
                    self._client,
                    session_id,
                    summaries,
                    backend=self._report.kind,
                    min_turns=self._tail_min_turns,
                    encode=self._encode,
                )
            except Forbidden:
                sent = Sent(declined=["this token may not import coverage" for _ in summaries])
        self._report.summaries += sent.kept
        self._report.summaries_known += sent.known
        for reason in sent.declined:
            self._report.take(Dropped(f"summary: {reason}"))

    def _identify(self, turn: ImportedTurn) -> Identity:
        if not turn.identity or self._is_user_named:
            return self._identity
        return dict(turn.identity)

    def _send(self, client: ServiceClient, batch: Sequence[Ready]) -> None:
        session_id, identity, _ = batch[0]
        turns = [turn for _, _, turn in batch]
        try:
            answer = client.post_turns(session_id, turns, **identity)
        except (Unauthorized, Forbidden):
            raise
        except PermanentError as error:
            if len(batch) > 1:  # one of them is wrong: the others are not to suffer for it
                for one in batch:
                    self._send(client, [one])
                return
            self._report.refused[error.code] += 1
            self._report.note(f"session {session_id}, turn {turns[0]['id']}: {error.detail}")
            return
        self._report.accepted += len(answer["accepted"])
        self._report.known += len(answer["duplicates"])
        self._report.differing += sum(one["content_differs"] for one in answer["duplicates"])
        self._report.refused.update(
            {code: len(answer[code]) for code in ("skipped", "erased") if answer[code]}
        )


def _gather(turns: Iterator[Ready]) -> Iterator[list[Ready]]:
    """Consecutive turns of one session and identity, as many as fit one call."""
    batch: list[Ready] = []
    size = 0
    for ready in turns:
        chars = len(ready[2]["content"])
        size += chars
        is_other = batch and batch[-1][:2] != ready[:2]
        if batch and (is_other or len(batch) >= MAX_BATCH_TURNS or size > MAX_BATCH_CHARS):
            yield batch
            batch, size = [], chars
        batch.append(ready)
    if batch:
        yield batch
