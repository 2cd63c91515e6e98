"""Standing rules: stated once, hundreds of turns ago, in words the question does not share. Are they in the prompt?

Every case of `bench/sets/standing_rules*.jsonl` gets a user of its own who says the rule and a decoy (a sentence that
looks like a rule and is none), then talks about other things for hundreds of turns of real conversation, then asks in
a new session. A rule counts as found when it stands in the prompt as guidance; a decoy counts as admitted when the
service keeps it as guidance, whether or not there was room for it in a prompt.

Each case belongs to a split: "tuned" may be read by whoever works on the detector, "held back" (half of the first set,
by the parity of SHA-256 of its number), "fresh" (a set written before the detector was changed) and "unseen" and
"unseen2" (each written after that, before its own first measurement) may not. Their results are counted and never
listed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

from bench.quality.datasets import TURN_SECONDS
from bench.quality.metrics import flatten
from bench.quality.records import History, Question, SaidTurn
from bench.quality.service import Service

_SETS: Final = Path(__file__).parents[1] / "sets"
CASES_FILES: Final = (
    _SETS / "standing_rules.jsonl",
    _SETS / "standing_rules_fresh.jsonl",
    _SETS / "standing_rules_unseen.jsonl",
    _SETS / "standing_rules_unseen2.jsonl",
)
TUNED: Final = "tuned"  # the one split whose sentences are listed
UNSEEN: Final = frozenset({"unseen", "unseen2"})  # the splits that nothing was fitted to
FILLERS: Final = 300
BUDGET_TOKENS: Final = 2000
BEGAN: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
TARGET: Final = "≥ 95 % of the rules in the prompt as guidance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A rule, the question it governs, and a sentence that only looks like a rule."""

    id: str
    theme: str
    rule: str
    question: str
    decoy: str
    decoy_theme: str
    split: str


def load_cases(paths: Sequence[Path] = CASES_FILES) -> list[Case]:
    """The cases, each rule with the decoy of the same number, which is of the same split."""
    lines = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    rules = [line for line in lines if line["kind"] == "rule"]
    decoys = [line for line in lines if line["kind"] == "decoy"]
    return [
        Case(
            id=rule["id"],
            theme=rule["theme"],
            rule=rule["says"],
            question=rule["asks"],
            decoy=decoy["says"],
            decoy_theme=decoy["theme"],
            split=rule["split"],
        )
        for rule, decoy in zip(rules, decoys, strict=True)
    ]


def make_histories(cases: Sequence[Case], talk: Sequence[SaidTurn], *, fillers: int) -> list[History]:
    """A user for each case: the rule, the decoy, then a stretch of real talk, each user another one."""
    if not talk:
        raise ValueError("there is no talk to fill with; name a folder of conversations")
    return [
        _make_history(case, list(islice(cycle(talk), place * fillers, (place + 1) * fillers)))
        for place, case in enumerate(cases)
    ]


def _make_history(case: Case, talk: Sequence[SaidTurn]) -> History:
    said = [("rule", "user", case.rule), ("ok", "assistant", "Understood."), ("decoy", "user", case.decoy)]
    # Alternating roles: one side of the talk is the user, whose words may pose as rules, as in life.
    said += [
        (f"filler-{place}", "assistant" if place % 2 == 0 else "user", turn.text)
        for place, turn in enumerate(talk)
    ]
    session = f"{case.id}-talk"
    turns = tuple(
        SaidTurn(
            id=key,
            session=session,
            role=role,
            text=text,
            said_at=BEGAN + timedelta(seconds=TURN_SECONDS * place),
        )
        for place, (key, role, text) in enumerate(said)
    )
    question = Question(
        id=case.id,
        text=case.question,
        category=case.theme,
        gold=frozenset({"rule"}),
        gold_sessions=frozenset({session}),
        asked_at=turns[-1].said_at + timedelta(days=1),
    )
    return History(user=case.id, turns=turns, questions=(question,))


def measure_rules(
    service: Service,
    cases: Sequence[Case],
    histories: Sequence[History],
    *,
    fillers: int,
    title: str = "rules",
) -> dict[str, Any]:
    """How many rules are found, how many decoys and how much of the talk were taken for rules."""
    seconds = service.remember(histories, title=title)
    kept = service.guidance_turns()
    rows = [
        _measure_case(service, case, history, kept) for case, history in zip(cases, histories, strict=True)
    ]
    said_by_user = sum(
        turn.role == "user" and turn.id.startswith("filler") for one in histories for turn in one.turns
    )
    talk_kept = sum(row["talk_kept"] for row in rows)
    listed = [(case, row) for case, row in zip(cases, rows, strict=True) if case.split == TUNED]
    return {
        "cases": len(rows),
        "fillers": fillers,
        "budget_tokens": BUDGET_TOKENS,
        "target": TARGET,
        "pipeline_seconds": round(seconds, 1),
        "rules_kept": _share(rows, "is_kept"),
        "rules_in_guidance": _share(rows, "is_in_guidance"),
        "rules_in_prompt": _share(rows, "is_in_prompt"),
        "decoys_admitted": _share(rows, "is_decoy_kept"),
        "talk_admitted": round(talk_kept / said_by_user, 4) if said_by_user else 0.0,
        "by_theme": {
            theme: _share([row for row in rows if row["theme"] == theme], "is_in_guidance")
            for theme in dict.fromkeys(case.theme for case in cases)
        },
        "by_split": {
            split: _count_split([row for row in rows if row["split"] == split])
            for split in dict.fromkeys(case.split for case in cases)
        },
        "missed": [case.rule for case, row in listed if not row["is_in_guidance"]],
        "decoys": [case.decoy for case, row in listed if row["is_decoy_kept"]],
    }


def _count_split(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "cases": len(rows),
        "rules_in_guidance": _share(rows, "is_in_guidance"),
        "rules_in_prompt": _share(rows, "is_in_prompt"),
        "decoys_admitted": _share(rows, "is_decoy_kept"),
    }


def _measure_case(service: Service, case: Case, history: History, kept: set[str]) -> dict[str, Any]:
    (question,) = history.questions
    answer = service.assemble(history.user, question, BUDGET_TOKENS)
    ids = {turn.id: service.turn_ids[history.user, turn.id] for turn in history.turns}
    is_in_guidance = any(ids["rule"] in item["source_turn_ids"] for item in _guidance(answer))
    return {
        "theme": case.theme,
        "split": case.split,
        "is_kept": ids["rule"] in kept,
        "is_in_guidance": is_in_guidance,  # by its turn: thanks and questions beside a rule are no part of the wish
        "is_in_prompt": is_in_guidance or flatten(case.rule) in flatten(answer["text"]),
        "is_decoy_kept": ids["decoy"] in kept,
        "talk_kept": sum(key in kept for name, key in ids.items() if name.startswith("filler")),
    }


def _guidance(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (item for item in answer["items"] if item["tier"] == "guidance")


def _share(rows: Sequence[Mapping[str, Any]], claim: str) -> float:
    """The share of the rows for which the claim holds.

    >>> _share([{"is_kept": True}, {"is_kept": False}], "is_kept")
    0.5
    """
    return round(sum(bool(row[claim]) for row in rows) / len(rows), 4) if rows else 0.0
