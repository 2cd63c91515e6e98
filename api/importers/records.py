"""What a source gives and what a run reports: the same words for every source."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MOST_NOTES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTurn:
    """One turn of another system. The id must be the same every time the source is read."""

    session_id: str
    role: str  # user, assistant, system or tool
    content: str
    id: str
    ts: str | None = None  # RFC 3339
    name: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    identity: dict[str, str] = field(default_factory=dict)  # whose memory, where the source says it


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSummary:
    """A summary of another system; it comes after the turns of its session, and covers turns or other summaries."""

    session_id: str
    id: str
    text: str
    messages: Sequence[str] = ()  # ids of the turns, as the source gives them
    children: Sequence[str] = ()  # ids of summaries


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something that is no turn, and why: `reason` is one of a few words, `where` a place for the first few notes."""

    reason: str
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Stripped:
    """Something taken out of a turn that was kept otherwise, and why."""

    reason: str


Finding = ImportedTurn | ImportedSummary | Dropped | Stripped


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What is read in one piece and remembered as done: a file, or a conversation of a larger one."""

    name: str  # stable between runs
    size: int  # with `changed`: whether it is still what an earlier run read
    changed: int
    read: Callable[[], Iterator[Finding]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One kind of import."""

    kind: str
    find_units: Callable[[Path], Sequence[Unit]]
    default_path: Callable[[], Path] | None = None
    agent_id: str | None = None


@dataclass(slots=True, kw_only=True)
class Report:
    """What was kept, what was dropped and why."""

    kind: str
    path: str
    is_dry_run: bool
    units: int = 0
    units_known: int = 0  # unchanged since an earlier run sent them whole
    sessions: set[str] = field(default_factory=set)
    kept: Counter[str] = field(default_factory=Counter)  # by role
    dropped: Counter[str] = field(default_factory=Counter)  # by reason
    stripped: Counter[str] = field(default_factory=Counter)
    summaries: int = 0  # that cover turns now
    summaries_known: int = 0  # of an earlier run
    resumed: int = 0  # turns that an interrupted run had sent
    accepted: int = 0
    known: int = 0  # turns that the server had already
    differing: int = 0  # of these, with other words; the first are kept
    refused: Counter[str] = field(default_factory=Counter)  # by the server, by its code
    notes: list[str] = field(default_factory=list)

    def take(self, finding: Dropped | Stripped) -> None:
        """Count what was left out."""
        if isinstance(finding, Stripped):
            self.stripped[finding.reason] += 1
            return
        self.dropped[finding.reason] += 1
        if finding.where:
            self.note(f"{finding.where}: {finding.reason}")

    def note(self, words: str) -> None:
        """Keep the first few places, for a person to look at."""
        if len(self.notes) < MOST_NOTES:
            self.notes.append(words)

    def to_json(self) -> dict[str, Any]:
        """The report for scripts."""
        return {
            "kind": self.kind,
            "path": self.path,
            "dry_run": self.is_dry_run,
            "units": self.units,
            "units_known": self.units_known,
            "sessions": len(self.sessions),
            "kept": dict(self.kept),
            "dropped": dict(self.dropped),
            "stripped": dict(self.stripped),
            "summaries": self.summaries,
            "summaries_known": self.summaries_known,
            "resumed": self.resumed,
            "accepted": self.accepted,
            "known": self.known,
            "differing": self.differing,
            "refused": dict(self.refused),
            "notes": list(self.notes),
        }
