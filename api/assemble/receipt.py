"""A receipt: how one prompt came about. Its arithmetic, every candidate with its terms and its fate, settings, timings.

What is stored is numbers and ids, and of texts the query alone: what was remembered stays where it is, and is looked up
when a receipt is read. Candidates are rows under one list of fields, because a prompt has up to two hundred.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from typing import Any, Final
from uuid import UUID

import numpy as np
from pydantic_core import to_json

from api.assemble.gathering import Gathered
from api.assemble.reading import identify
from api.assemble.schemas import AssembleIn, AssembleOut
from api.recall.explanation import name_moment
from api.recall.profiles import Scored
from api.routing.trail import Trail
from api.runtime import Runtime, Serving
from api.screening import screen_note
from models.domain.prompt.assembly import Assembly
from models.domain.prompt.fate import Fate
from models.domain.prompt.supply import TierName
from models.domain.prompt.tail import TAIL_STEP
from models.domain.recall.relevance import DEFAULT_RELEVANCE, DEFAULT_WEIGHTS, Relevance
from models.domain.records import durable_namespace
from models.domain.rules.tiers import RULES_VERSION
from models.settings import Settings
from models.store.receipts import NewReceipt
from models.store.tenancy.tokens import Caller

RECEIPT_VERSION: Final = 1
TERM_DIGITS: Final = 5
TERMS: Final = tuple(field for field in Relevance._fields if field not in {"id", "scope"})
FIELDS: Final = (
    *("tier", "kind", "id", "turn_id", "fate", "reason", "tokens", "scope", "vector_rank", "lexical_rank"),
    *("hop_from", "temporal", "quoted_chars", "superseded_by", "superseded_at"),
    *TERMS,
)
_UNRANKED: Final = (None,) * 8  # scope, ranks, hop, temporal choice, quote, what replaced it: of recall alone
SETTINGS_THAT_MATTER: Final = (
    *("recall_floor", "hard_reserve", "soft_reserve", "tail_target", "guidance_reserve", "tail_min_turns"),
    *("guidance_floor_tokens", "budget_tokens_configured", "assemble_deadline_ms"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """All that a receipt is made from; taking it down costs an assembly nothing."""

    id: UUID
    tenant_id: UUID
    namespace: str
    request: AssembleIn
    now: datetime
    made_at: datetime
    got: Gathered
    trail: Trail
    assembly: Assembly
    stable_sha256: str
    stable_prefix_chars: int
    serving: Serving  # the encoder it was read with


def keep_receipt(
    runtime: Runtime,
    caller: Caller,
    request: AssembleIn,
    got: Gathered,
    assembly: Assembly,
    trail: Trail,
    *,
    answer: AssembleOut,
    now: datetime,
) -> None:
    """Have the receipt of an assembly written after its answer is sent."""
    draft = Draft(
        id=UUID(answer.assembly_id),
        tenant_id=caller.tenant_id,
        namespace=got.namespace
        or caller.namespace
        or durable_namespace(identify(request), request.session_id),
        request=request,
        now=now,
        made_at=datetime.now(UTC),
        got=got,
        trail=trail,
        assembly=assembly,
        stable_sha256=answer.stable.sha256,
        stable_prefix_chars=answer.stable_prefix_chars,
        serving=got.serving or runtime.serving,
    )
    runtime.receipts.keep(draft.id, draft.tenant_id, partial(make_row, draft, runtime.settings))


def make_row(draft: Draft, settings: Settings) -> NewReceipt:
    """The receipt as a row to be kept."""
    return NewReceipt(
        id=draft.id,
        namespace=draft.namespace,
        session_id=draft.request.session_id,
        receipt=to_json(write_receipt(draft, describe_settings(settings))),
        made_at=draft.made_at,
    )


@cache
def _version() -> str:
    return version("longtail")


def describe_settings(settings: Settings) -> dict[str, Any]:
    """Everything but data that decides what a prompt looks like, flat, by name."""
    found = {name: getattr(settings, name) for name in SETTINGS_THAT_MATTER}
    found |= {f"relevance.{name}": value for name, value in asdict(DEFAULT_RELEVANCE).items()}
    found |= {f"weights.{name}": value for name, value in asdict(DEFAULT_WEIGHTS).items()}
    found |= {"tail_step": TAIL_STEP, "rules_version": RULES_VERSION, "version": _version()}
    return json.loads(json.dumps(found, default=str))  # type: ignore[no-any-return]


def name_settings_version(described: dict[str, Any]) -> str:
    """A short name for these settings: the same for the same values."""
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]


def write_receipt(draft: Draft, described_settings: dict[str, Any]) -> dict[str, Any]:
    """The receipt as it is stored."""
    got, trail, assembly, request = draft.got, draft.trail, draft.assembly, draft.request
    reasons: list[str] = []
    rows = [*_list_rules(assembly), *_list_tail(assembly), *_list_guidance(got, assembly)]
    rows += _list_recall(got, assembly)
    for row in rows:
        if row[5] is not None:
            if row[5] not in reasons:
                reasons.append(row[5])
            row[5] = reasons.index(row[5])
    return {
        "version": RECEIPT_VERSION,
        "request": request.model_dump(mode="json", exclude={"messages", "now"})
        | {"query": screen_note(request.query)},
        "now": draft.now.isoformat(),
        "budget": describe_budget(
            assembly, described_settings, got.recovery_tokens, is_complete=got.is_complete
        ),
        "tail": {
            "read_turns": len(got.turns),
            "through_position": got.turns[-1].position if got.turns else None,
            "from_position": assembly.tail_from,
        },
        "visible": list(assembly.visible),
        "stable": {
            "sha256": draft.stable_sha256,
            "chars": len(assembly.stable),
            "prefix_chars": draft.stable_prefix_chars,
        },
        "candidates": {"fields": list(FIELDS), "reasons": reasons, "rows": rows},
        "degraded": [miss.model_dump() for miss in trail.degraded],
        "timings_ms": trail.timings_ms,
        "pending": got.backlog.pending,
        "lag_seconds": got.backlog.lag_seconds,
        "encoder": {"name": draft.serving.name, "fingerprint": draft.serving.fingerprint},
        "settings": described_settings,
        "settings_version": name_settings_version(described_settings),
    }


def describe_budget(
    assembly: Assembly,
    described_settings: dict[str, Any],
    recovery_tokens: int | None,
    *,
    is_complete: bool,
) -> dict[str, Any]:
    """Every number of memory-model.md section 2; a capacity is None where the mandatory part left no room."""
    caps = assembly.caps
    return {
        "total": assembly.total,
        "used": assembly.used,
        "needed": assembly.needed,
        "is_feasible": assembly.needed is None,
        **{
            name: described_settings[name]
            for name in (
                *("hard_reserve", "soft_reserve", "tail_target", "guidance_reserve"),
                "guidance_floor_tokens",
            )
        },
        "hard": assembly.tokens["hard"],
        "base": caps["base"],
        "soft_capacity": caps.get("soft"),
        "soft": assembly.tokens["soft"],
        "tail_capacity": caps.get("tail"),
        "tail": assembly.tokens["tail"],
        "guidance_capacity": caps.get("guidance"),
        "guidance_reserved": caps.get("guidance_reserved"),
        "guidance": assembly.tokens["guidance"],
        "recall_capacity": caps.get("recall"),
        "recovery_reserve": recovery_tokens,
        "recall": assembly.tokens["recall"],
        "exhausted": is_complete and not assembly.wants_room,
    }


def _row(
    assembly: Assembly,
    tier: TierName,
    *,
    kind: str,
    key: str,
    turn_id: str | None = None,
    ranking: Sequence[Any] = _UNRANKED,
    terms: Sequence[Any] = (None,) * len(TERMS),
) -> list[Any]:
    fate: Fate = assembly.fates[tier][key]
    name = "chosen" if fate.is_in else "dropped"
    return [tier, kind, key, turn_id, name, fate.reason, assembly.costs.get(key), *ranking, *terms]


def _list_rules(assembly: Assembly) -> list[list[Any]]:
    tiers: tuple[TierName, ...] = ("hard", "soft")
    return [_row(assembly, tier, kind="rule", key=key) for tier in tiers for key in assembly.fates[tier]]


def _list_tail(assembly: Assembly) -> list[list[Any]]:
    """Turns that were read for the tail: in it, on the host's screen, or before its beginning."""
    return [_row(assembly, "tail", kind="turn", key=key, turn_id=key) for key in assembly.fates["tail"]]


def _list_guidance(got: Gathered, assembly: Assembly) -> list[list[Any]]:
    rows = []
    for record in got.guidance:
        terms: list[float | None] = [None] * len(TERMS)
        terms[TERMS.index("cosine")] = _shorten(record.similarity)
        terms[TERMS.index("authority")] = _shorten(record.stability_weight)
        key = str(record.id)
        rows.append(
            _row(assembly, "guidance", kind="rule", key=key, turn_id=str(record.turn_id), terms=terms)
        )
    return rows


def _round_terms(scored: Sequence[Scored]) -> list[list[float | None]]:
    """The terms of each score; a profile that has no such term has None there."""
    if all(isinstance(one, Relevance) for one in scored):
        numbers = np.array([one[2:] for one in scored], dtype=np.float64)  # type: ignore[index]
        rounded: list[list[float | None]] = np.round(numbers, TERM_DIGITS).tolist()
        return rounded
    return [[_shorten(getattr(one, name, None)) for name in TERMS] for one in scored]


def _list_recall(got: Gathered, assembly: Assembly) -> list[list[Any]]:
    if not got.recalled:
        return []
    terms = _round_terms([one.scored for one in got.recalled])
    rows = []
    for found, row in zip(got.recalled, terms, strict=True):
        candidate, key = found.candidate, found.scored.id
        dated = asdict(found.dated) if found.dated else None
        rows.append(
            _row(
                assembly,
                "recall",
                kind=candidate.kind,
                key=key,
                turn_id=candidate.item_id if candidate.item_id != key else None,
                ranking=(
                    found.scored.scope,
                    candidate.vector_rank,
                    candidate.lexical_rank,
                    found.hop_from,
                    dated,
                    len(assembly.quotes[key]) if key in assembly.quotes else None,
                    found.superseded_by,
                    name_moment(candidate.superseded_at),
                ),
                terms=row,
            )
        )
    return rows


def _shorten(value: float | None) -> float | None:
    return None if value is None else round(value, TERM_DIGITS)
