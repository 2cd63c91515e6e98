"""What the service answers. Fields it may add later are ignored; times are aware datetimes in UTC."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Duplicate:
    """A turn that was known already; `content_differs`: under the same id, but with other words. The first are kept."""

    index: int
    turn_id: str
    content_differs: bool = False


@dataclass(frozen=True)
class Accepted:
    """What became of posted turns."""

    accepted: list[str]
    duplicates: list[Duplicate]
    pending: int
    skipped: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Stable:
    """Rules and newest turns: changes at its end only, but for rare cuts."""

    text: str
    sha256: str
    chars: int


@dataclass(frozen=True)
class Volatile:
    """Guidance and recall: changes with every query."""

    text: str


@dataclass(frozen=True)
class Budget:
    """Tokens allowed and used, by tier."""

    total: int
    used: int
    hard: int
    tail: int
    soft: int
    guidance: int
    recall: int


@dataclass(frozen=True)
class PromptItem:
    """One thing in a prompt, and the turns it rests on."""

    tier: str
    kind: str
    id: str
    source_turn_ids: list[str]
    text: str
    tokens: int
    score: float | None = None


@dataclass(frozen=True)
class Degraded:
    """Something an answer had to do without."""

    code: str
    detail: str


@dataclass(frozen=True)
class Prompt:
    """The prompt for a model call; `text` costs `budget.used` tokens."""

    assembly_id: str
    text: str
    stable: Stable
    volatile: Volatile
    budget: Budget
    items: list[PromptItem]
    degraded: list[Degraded]
    pending: int
    lag_seconds: float
    stable_prefix_chars: int = 0
    stable_prefix_sha256: str = ""
    visible: list[str] = field(default_factory=list)
    system: list[dict[str, Any]] | None = None
    messages: list[dict[str, Any]] | None = None
    parts: list[dict[str, Any]] | None = None
    timings_ms: dict[str, float] = field(default_factory=dict)
    explain: dict[str, Any] | None = None


@dataclass(frozen=True)
class Hit:
    """One result of a search."""

    id: str
    kind: str
    text: str
    score: float
    source_turn_ids: list[str]
    role: str | None = None
    session_id: str | None = None
    ts: datetime | None = None
    similarity: float | None = None
    superseded_by: str | None = None


@dataclass(frozen=True)
class Hits:
    """A page of a ranking; `next_cursor` holds the rest of it."""

    results: list[Hit]
    next_cursor: str | None = None
    degraded: list[Degraded] = field(default_factory=list)
    pending: int = 0
    lag_seconds: float = 0.0


@dataclass(frozen=True)
class Turn:
    """A turn as it is kept, word for word."""

    id: str
    session_id: str
    position: int
    role: str
    content: str
    ts: datetime
    name: str | None = None
    host_message_id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    summary_id: str | None = None


@dataclass(frozen=True)
class Turns:
    """A page of the raw record, oldest first."""

    turns: list[Turn]
    next_cursor: str | None = None


@dataclass(frozen=True)
class Session:
    """One conversation: whose it is and how large."""

    session_id: str
    namespace: str
    turns: int
    tokens: int
    created_at: datetime
    last_turn_at: datetime
    user_id: str | None = None
    session_key: str | None = None
    agent_id: str | None = None
    summaries: int = 0


@dataclass(frozen=True)
class Compacted:
    """What a compaction did; with `is_done` false it was asked for and will run."""

    did_compact: bool
    clusters_formed: int
    clusters_declined: int
    turns_covered: int
    summary_ids: list[str]
    mean_confidence: float | None = None
    reason: str | None = None
    is_done: bool = True


@dataclass(frozen=True)
class Summary:
    """A summary and what it stands for."""

    id: str
    session_id: str
    text: str
    level: int
    is_active: bool
    source_turn_ids: list[str]
    source_summary_ids: list[str]
    method: str
    confidence: float
    turn_count: int


@dataclass(frozen=True)
class Expanded:
    """The raw turns a summary covers, and the summaries in between."""

    turns: list[Turn]
    summaries: list[Summary]
    next_cursor: str | None = None


@dataclass(frozen=True)
class Match:
    """A place in the raw record where a pattern was found."""

    turn_id: str
    session_id: str
    position: int
    role: str
    ts: datetime
    excerpt: str
    match_start: int
    match_end: int
    name: str | None = None
    summary_id: str | None = None


@dataclass(frozen=True)
class Matches:
    """What a search of the raw record found; go on with `next_cursor` while `is_complete` is false."""

    matches: list[Match]
    scanned: int
    is_complete: bool
    next_cursor: str | None = None


@dataclass(frozen=True)
class Memory:
    """Something remembered, and the turn that said it."""

    id: str
    namespace: str
    text: str
    gate_score: float
    mention_count: int
    turn_id: str
    session_id: str
    first_seen_at: datetime
    last_seen_at: datetime
    corrected_at: datetime | None = None
    forgotten_at: datetime | None = None
    explain: dict[str, Any] | None = None


@dataclass(frozen=True)
class Memories:
    """A page of memories."""

    memories: list[Memory]
    next_cursor: str | None = None


@dataclass(frozen=True)
class Forgotten:
    """A memory that left recall."""

    id: str
    forgotten_at: datetime


@dataclass(frozen=True)
class Document:
    """A loaded document, by tier."""

    id: str
    name: str
    binding: str
    nodes: int
    hard: int
    soft: int
    lore: int
    hard_tokens: int = 0
    hard_cap_tokens: int = 0
    demotions: list[str] = field(default_factory=list)
    conflicts: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Feedback:
    """How many labels were kept, and the ids on which the gate never decided."""

    accepted: int
    unknown: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Hint:
    """A lifecycle hint that was written down."""

    id: str
    compaction_scheduled: bool


@dataclass(frozen=True)
class Erased:
    """A namespace that is gone, by rows."""

    namespace: str
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Status:
    """What waits and what failed."""

    version: str
    pending: int
    lag_seconds: float
    dead_letters: int
    uptime_seconds: float = 0.0
    redis: str = ""
    encoder: str = ""
    encoder_fingerprint: str | None = None
    counts: dict[str, int] | None = None
