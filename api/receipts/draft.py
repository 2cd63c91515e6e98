"""A receipt: how one prompt came about. Its arithmetic, every candidate with its terms and its fate, settings, timings.

What is stored is numbers and ids, and of texts the query alone: what was remembered stays where it is, and is looked up
when a receipt is read. Candidates are rows under one list of fields, because a prompt has up to two hundred.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import numpy as np

from api.assemble.schemas import AssembleIn
from api.recall.profiles import Scored
from models.domain.prompt.assembly import Assembly, TierName
from models.domain.prompt.tail import KEPT_SHARE
from models.domain.recall.relevance import DEFAULT_RELEVANCE, DEFAULT_WEIGHTS, Relevance
from models.domain.rules.tiers import RULES_VERSION, Tier
from models.settings import Settings

if TYPE_CHECKING:
    from api.assemble.gathering import Gathered

RECEIPT_VERSION: Final = 1
TERM_DIGITS: Final = 5
TERMS: Final = tuple(field for field in Relevance._fields if field not in {"id", "scope"})
FIELDS: Final = (
    *("tier", "kind", "id", "turn_id", "fate", "reason", "tokens", "scope", "vector_rank", "lexical_rank"),
    *("hop_from", "temporal"),
    *TERMS,
)
_UNRANKED: Final = (None,) * 5  # scope, ranks, hop and temporal choice: of recall alone
SETTINGS_THAT_MATTER: Final = (
    *("hard_reserve", "soft_reserve", "tail_target", "guidance_reserve", "tail_min_turns"),
    *("budget_tokens_configured", "assemble_deadline_ms", "encoder"),
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
    got: "Gathered"
    assembly: Assembly
    stable_sha256: str
    stable_prefix_chars: int
    fingerprint: str | None  # of the encoder; None: there was none


def describe_settings(settings: Settings) -> dict[str, Any]:
    """Everything but data that decides what a prompt looks like, flat, by name."""
    found = {name: getattr(settings, name) for name in SETTINGS_THAT_MATTER}
    found |= {f"relevance.{name}": value for name, value in asdict(DEFAULT_RELEVANCE).items()}
    found |= {f"weights.{name}": value for name, value in asdict(DEFAULT_WEIGHTS).items()}
    found |= {"tail_kept_share": KEPT_SHARE, "rules_version": RULES_VERSION, "version": version("longtail")}
    return json.loads(json.dumps(found, default=str))  # type: ignore[no-any-return]


def name_settings_version(described: dict[str, Any]) -> str:
    """A short name for these settings: the same for the same values."""
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16]


def write_receipt(draft: Draft, described_settings: dict[str, Any]) -> dict[str, Any]:
    """The receipt as it is stored."""
    got, assembly, request = draft.got, draft.assembly, draft.request
    reasons: list[str] = []
    rows = [*_list_rules(got, assembly), *_list_tail(got, assembly), *_list_guidance(got, assembly)]
    rows += _list_recall(got, assembly)
    for row in rows:
        if row[5] is not None:
            if row[5] not in reasons:
                reasons.append(row[5])
            row[5] = reasons.index(row[5])
    return {
        "version": RECEIPT_VERSION,
        "request": request.model_dump(mode="json", exclude={"messages", "now"}),
        "now": draft.now.isoformat(),
        "budget": describe_budget(assembly, described_settings, got.recall_limit_tokens),
        "tail": {
            "read_turns": len(got.turns),
            "through_position": got.turns[-1].position if got.turns else None,
        },
        "visible": list(assembly.visible),
        "stable": {
            "sha256": draft.stable_sha256,
            "chars": len(assembly.stable),
            "prefix_chars": draft.stable_prefix_chars,
        },
        "candidates": {"fields": list(FIELDS), "reasons": reasons, "rows": rows},
        "degraded": [miss.model_dump() for miss in got.degraded],
        "timings_ms": got.timings_ms,
        "pending": got.backlog.pending,
        "lag_seconds": got.backlog.lag_seconds,
        "encoder": {"name": described_settings["encoder"], "fingerprint": draft.fingerprint},
        "settings": described_settings,
        "settings_version": name_settings_version(described_settings),
    }


def describe_budget(
    assembly: Assembly, described_settings: dict[str, Any], recall_limit: int | None
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
            for name in ("hard_reserve", "soft_reserve", "tail_target", "guidance_reserve")
        },
        "hard": assembly.tokens["hard"],
        "base": caps["base"],
        "soft_capacity": caps.get("soft"),
        "soft": assembly.tokens["soft"],
        "tail_capacity": caps.get("tail"),
        "tail": assembly.tokens["tail"],
        "guidance_capacity": caps.get("guidance"),
        "guidance": assembly.tokens["guidance"],
        "recall_capacity": caps.get("recall"),
        "recall_limit": recall_limit,
        "recall": assembly.tokens["recall"],
    }


def _row(
    assembly: Assembly,
    tier: TierName,
    *,
    kind: str,
    key: str,
    turn_id: str | None,
    reason: str | None,
    ranking: Sequence[Any] = _UNRANKED,
    terms: Sequence[Any] = (None,) * len(TERMS),
    is_chosen: bool,
) -> list[Any]:
    fate = "chosen" if is_chosen else "dropped"
    return [tier, kind, key, turn_id, fate, reason, assembly.costs.get(key), *ranking, *terms]


def _find_reasons(assembly: Assembly, tier: TierName) -> dict[str, str]:
    return {drop.id: drop.reason for drop in assembly.drops if drop.tier == tier}


def _list_rules(got: "Gathered", assembly: Assembly) -> list[list[Any]]:
    rows = []
    for tier, wanted in (("hard", Tier.HARD), ("soft", Tier.SOFT)):
        name: TierName = tier  # type: ignore[assignment]  # one of two of its values
        chosen, reasons = frozenset(assembly.chosen[name]), _find_reasons(assembly, name)
        for rule in got.rules:
            if rule.tier is wanted:
                key = str(rule.id)
                rows.append(
                    _row(
                        assembly,
                        name,
                        kind="rule",
                        key=key,
                        turn_id=None,
                        reason=reasons.get(key) or (None if key in chosen else "the budget is infeasible"),
                        is_chosen=key in chosen,
                    )
                )
    return rows


def _list_tail(got: "Gathered", assembly: Assembly) -> list[list[Any]]:
    """Turns that were read for the tail: in it, on the host's screen, or before its beginning."""
    chosen, visible = frozenset(assembly.chosen["tail"]), frozenset(assembly.visible)
    rows = []
    for turn in got.turns:
        key = str(turn.id)
        reason = None
        if key in visible:
            reason = "the host shows it"
        elif key not in chosen:
            reason = "before the beginning of the tail"
        rows.append(
            _row(assembly, "tail", kind="turn", key=key, turn_id=key, reason=reason, is_chosen=key in chosen)
        )
    return rows


def _list_guidance(got: "Gathered", assembly: Assembly) -> list[list[Any]]:
    chosen, reasons = frozenset(assembly.chosen["guidance"]), _find_reasons(assembly, "guidance")
    nothing = [None] * len(TERMS)
    cosine = TERMS.index("cosine")
    rows = []
    for record in got.guidance:
        key = str(record.id)
        terms = [*nothing[:cosine], _shorten(record.similarity), *nothing[cosine + 1 :]]
        terms[TERMS.index("authority")] = _shorten(record.stability_weight)
        reason = reasons.get(key) or (None if key in chosen else "the budget is infeasible")
        rows.append(
            _row(
                assembly,
                "guidance",
                kind="rule",
                key=key,
                turn_id=str(record.turn_id),
                reason=reason,
                terms=terms,
                is_chosen=key in chosen,
            )
        )
    return rows


def _round_terms(scored: Sequence[Scored]) -> list[list[float | None]]:
    """The terms of each score; a profile that has no such term has None there."""
    if all(isinstance(one, Relevance) for one in scored):
        numbers = np.array([one[2:] for one in scored], dtype=np.float64)  # type: ignore[index]
        rounded: list[list[float | None]] = np.round(numbers, TERM_DIGITS).tolist()
        return rounded
    return [[_shorten(getattr(one, name, None)) for name in TERMS] for one in scored]


def _list_recall(got: "Gathered", assembly: Assembly) -> list[list[Any]]:
    if not got.recalled:
        return []
    chosen, reasons = frozenset(assembly.chosen["recall"]), _find_reasons(assembly, "recall")
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
                reason=reasons.get(key) or (None if key in chosen else "the budget is infeasible"),
                ranking=(
                    found.scored.scope,
                    candidate.vector_rank,
                    candidate.lexical_rank,
                    found.hop_from,
                    dated,
                ),
                terms=row,
                is_chosen=key in chosen,
            )
        )
    return rows


def _shorten(value: float | None) -> float | None:
    return None if value is None else round(value, TERM_DIGITS)
