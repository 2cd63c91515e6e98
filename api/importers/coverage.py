"""Summaries of another system as coverage: read what the server keeps of the session, adopt, send, all or nothing.

How well a summary stands for its sources is measured here, with our encoder: what another system wrote is trusted
as far as it lies near to the turns it covers.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from api.client import ServiceClient
from api.importers.records import ImportedSummary
from api.transfer.schemas import FORMAT, VERSION
from models.domain.compaction.adoption import Adoption, CoverableTurn, ForeignSummary, adopt_summaries
from models.domain.compaction.clustering import summary_id
from models.domain.compaction.summaries import judge_summary, measure_quality
from models.domain.prompt.tail import TailTurn
from models.domain.prompt.tokens import CharsCounter
from models.domain.vectors import mean_direction
from models.errors import Conflict, NotFound

if TYPE_CHECKING:
    from models.encoders.protocol import Vectors

ATTEMPTS: Final = 3  # a compaction of ours may cover the same turns while we look
MEASURED_CHARS: Final = 4000  # of a turn; enough to say what it is about
GONE: Final = "covers turns that were not taken"
OVERTAKEN: Final = "was overtaken by a compaction of ours"
count_tokens = CharsCounter().count
Encode = Callable[[Sequence[str]], Sequence["Vectors"]]  # a text's windows


@dataclass(slots=True, kw_only=True)
class KeptSession:
    """What the server holds of a session, as far as coverage is concerned."""

    namespace: str = ""
    turns: list[dict[str, Any]] = field(default_factory=list)
    covered: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)  # summaries
    silenced: set[str] = field(default_factory=set)
    generation: int = 0

    def find_parts(self) -> dict[str, list[str]]:
        """The turns of each message of the source: one, or several where it was long."""
        parts: dict[str, list[str]] = {}
        for turn in self.turns:
            name = turn["host_message_id"] or ""
            number = turn["metadata"].get("part", 1)
            parts.setdefault(name if number == 1 else name.rpartition(":")[0], []).append(turn["id"])
        return parts


def read_session(client: ServiceClient, session_id: str) -> KeptSession:
    """The session as it is now."""
    kept = KeptSession()
    for record in _read_lines(client.export(session_id=session_id)):
        match record["type"]:
            case "session":
                kept.namespace = record["namespace"]
            case "turn":
                kept.turns.append(record)
            case "forgotten":
                kept.silenced.add(record["item_id"])
            case "memory" if record["corrected_at"] or record["forgotten_at"]:
                kept.silenced.add(record["turn_id"])
            case "summary":
                kept.known.add(record["id"])
                kept.covered |= {edge["turn_id"] for edge in record["turns"]}
                kept.generation = max(kept.generation, record["generation"])
    return kept


def _read_lines(pieces: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    waiting = b""
    for piece in pieces:
        *whole, waiting = (waiting + piece).split(b"\n")
        yield from (json.loads(line) for line in whole if line.strip())


def plan(kept: KeptSession, summaries: Sequence[ImportedSummary], *, min_turns: int) -> Adoption:
    """Which summaries can cover the session's turns."""
    parts = kept.find_parts()
    turns = [
        CoverableTurn(
            turn=TailTurn(id=one["id"], role=one["role"], host_turn=one["metadata"].get("host_turn")),
            tokens=count_tokens(one["content"]),
        )
        for one in kept.turns
    ]
    given = [
        ForeignSummary(
            id=one.id,
            text=one.text,
            turns=[turn for message in one.messages for turn in parts.get(message, [message])],
            children=one.children,
        )
        for one in summaries
    ]
    return adopt_summaries(turns, given, min_turns=min_turns, covered=kept.covered, silenced=kept.silenced)


@dataclass(slots=True, kw_only=True)
class Sent:
    """What became of the summaries of a session."""

    kept: int = 0
    known: int = 0  # from an earlier run
    declined: list[str] = field(default_factory=list)  # a reason each


def send_coverage(
    client: ServiceClient,
    session_id: str,
    summaries: Sequence[ImportedSummary],
    *,
    backend: str,
    min_turns: int,
    encode: Encode,
) -> Sent:
    """Cover the session's turns with these summaries; a second time it finds them and changes nothing."""
    for _ in range(ATTEMPTS):
        try:
            kept = read_session(client, session_id)
        except NotFound:
            return Sent(declined=[GONE for _ in summaries])
        whole = plan(KeptSession(turns=kept.turns, silenced=kept.silenced), summaries, min_turns=min_turns)
        names = _name(session_id, whole)
        known = {one for one in whole.adopted if names[one] in kept.known}
        fresh = [one for one in summaries if one.id not in known]
        adoption = plan(kept, fresh, min_turns=min_turns)
        sent = Sent(kept=len(adoption.adopted), known=len(known), declined=list(adoption.declined.values()))
        if not adoption.adopted:
            return sent
        records = list(_describe(session_id, kept, adoption, backend=backend, encode=encode))
        try:
            client.import_(_write_lines(records))
        except Conflict:
            continue
        return sent
    return Sent(declined=[OVERTAKEN for _ in summaries])


def _name(session_id: str, adoption: Adoption) -> dict[str, str]:
    """Our ids, made from what is covered: the same every time."""
    names: dict[str, str] = {}
    for one in adoption.adopted.values():  # parts come before what covers them
        sources = [*one.turns, *(names[child] for child in one.children)]
        names[one.id] = str(UUID(summary_id(session_id, one.level, sources)))
    return names


def _describe(
    session_id: str, kept: KeptSession, adoption: Adoption, *, backend: str, encode: Encode
) -> Iterator[dict[str, Any]]:
    names = _name(session_id, adoption)
    active = adoption.list_active()
    turns = {one["id"]: one for one in kept.turns}
    used = [one for made in adoption.adopted.values() for one in made.turns]
    windows = encode([turns[one]["content"][:MEASURED_CHARS] for one in used])
    vectors = {one: mean_direction(rows) for one, rows in zip(used, windows, strict=True)}
    now = datetime.now(UTC).isoformat()
    for made in adoption.adopted.values():
        below = [turns[one] for one in made.below]
        own = mean_direction(encode([made.text])[0])
        vectors[made.id] = own
        quality = measure_quality(own, [vectors[one] for one in (*made.turns, *made.children)])
        judged = judge_summary(
            quality,
            method="abstractive",
            summary_tokens=made.summary_tokens,
            source_tokens=made.source_tokens,
        )
        yield {
            "type": "summary",
            "id": names[made.id],
            "session_id": session_id,
            "namespace": kept.namespace,
            "level": made.level,
            "body": made.text,
            "method": "abstractive",
            "attempt": "normal",
            "backend": backend,
            "confidence": judged.confidence,
            "align": quality.align,
            "cover": quality.cover,
            "prior_ids": [],
            "summary_tokens": made.summary_tokens,
            "source_tokens": made.source_tokens,
            "turn_count": made.turn_count,
            "turn_tokens": made.turn_tokens,
            "first_position": min(one["position"] for one in below),
            "last_position": max(one["position"] for one in below),
            "earliest_at": min((one["ts"] for one in below), key=datetime.fromisoformat),
            "latest_at": max((one["ts"] for one in below), key=datetime.fromisoformat),
            "made_at": now,
            "generation": kept.generation + 1,
            "is_active": made.id in active,
            "turns": [
                {"turn_id": one, "tokens": count_tokens(turns[one]["content"]), "is_protected": False}
                for one in made.turns
            ],
            "children": [names[child] for child in made.children],
        }


def _write_lines(records: Sequence[dict[str, Any]]) -> Iterator[bytes]:
    now = datetime.now(UTC).isoformat()
    header = {"type": "header", "format": FORMAT, "version": VERSION, "exported_at": now}
    end = {"type": "end", "counts": {"summary": len(records)}}
    for record in (header, *records, end):
        yield json.dumps(record).encode() + b"\n"
