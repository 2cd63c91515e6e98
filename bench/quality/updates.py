"""Updates: whether a prompt holds what is true now, and whether what was true before is marked as such or left out.

Three sources. Pairs of our own (`bench/sets/updates.jsonl`): an older and a newer statement with talk between them, and
a question. LongMemEval's knowledge updates: their evidence turns, by date. And talk in which nearly nothing is an update:
lines of our own (readings, lists, logs, notes, statements that only look alike), chats between people and with coding
agents, LoCoMo. Every mark there is wrong unless a reader called it right (`bench/labels/updates.jsonl`, by turn id).

Marks are counted where they are stored, whatever is asked; the rest is read from prompts.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import text

from bench.quality.datasets import TURN_SECONDS, load_locomo, load_longmemeval
from bench.quality.metrics import flatten
from bench.quality.records import History, Question, SaidTurn
from bench.quality.service import Service
from models.store.engine import plain_transaction

SET: Final = Path(__file__).parents[1] / "sets" / "updates.jsonl"
LABELS: Final = Path(__file__).parents[1] / "labels" / "updates.jsonl"
CHAT_FILE: Final = "chat_turns.jsonl"
TARGET: Final = "newer in the prompt ≥ 0.95, older marked or out ≥ 0.80, wrong marks at most 1 in 100 lines"
BUDGET_TOKENS: Final = 1000
LONG_BUDGET_TOKENS: Final = 2000  # LongMemEval's turns are longer
UPDATE_CATEGORY: Final = "knowledge-update"
OTHER_SESSIONS: Final = 8  # of LongMemEval's haystack, beside those that answer
FILLERS: Final = 40  # turns of other talk: a third before the older, a third between, a third after
BEGAN: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
_MARK: Final = re.compile(r"\(said otherwise on \d{4}-\d\d-\d\d(?:: “[^”]*”)?(?:; excerpt [^()]*)?\): ?$")
_MARK_CHARS: Final = 240
_SHOWN_CHARS: Final = 60
_MARKS: Final = text("SELECT older_turn_id, newer_turn_id FROM longtail.supersessions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What was true, what is true now, and where each was said."""

    history: History
    older: tuple[str, ...]  # ids of turns
    newer: tuple[str, ...]
    about: str
    split: str


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines; none where there is no such file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def make_pairs(rows: Sequence[Mapping[str, Any]], talk: Sequence[SaidTurn]) -> list[Pair]:
    """A user for each pair of our own, who says the newer three weeks after the older."""
    return [
        _make_pair(row, list(islice(cycle(talk), place * FILLERS, (place + 1) * FILLERS)))
        for place, row in enumerate(row for row in rows if row["kind"] == "update")
    ]


def _make_pair(row: Mapping[str, Any], talk: Sequence[SaidTurn]) -> Pair:
    third = FILLERS // 3
    said = [(f"filler-{place}", turn.text, turn.speaker) for place, turn in enumerate(talk)]
    said.insert(2 * third, ("newer", row["newer"], None))
    said.insert(third, ("older", row["older"], None))
    turns = []
    for place, (key, words, speaker) in enumerate(said):
        days = 21 if place > third + third // 2 else 0
        turns.append(
            SaidTurn(
                id=key,
                session=f"{row['id']}-{'later' if days else 'before'}",
                role="user" if speaker is None or place % 2 else "assistant",
                text=words,
                said_at=BEGAN + timedelta(days=days, seconds=TURN_SECONDS * place),
            )
        )
    asked = Question(
        id=row["id"],
        text=row["asks"],
        category=row["theme"],
        gold=frozenset({"newer"}),
        gold_sessions=frozenset({f"{row['id']}-later"}),
        asked_at=turns[-1].said_at + timedelta(days=2),
    )
    history = History(user=row["id"], turns=tuple(turns), questions=(asked,))
    return Pair(history=history, older=("older",), newer=("newer",), about=row["about"], split=row["split"])


def make_longmemeval_pairs(data: Path) -> list[Pair]:
    """The knowledge updates of LongMemEval with a part of their haystacks; the last evidence is the newer."""
    pairs = []
    for history in load_longmemeval(data):
        (question,) = history.questions
        gold = sorted(
            (turn for turn in history.turns if turn.id in question.gold), key=lambda one: one.said_at
        )
        if question.category != UPDATE_CATEGORY or len({turn.session for turn in gold}) < 2:
            continue
        others = [name for name in history.sessions if name not in question.gold_sessions][:OTHER_SESSIONS]
        kept = question.gold_sessions | set(others)
        last = gold[-1].session
        pairs.append(
            Pair(
                history=replace(
                    history,
                    user=f"lme-{history.user}",
                    turns=tuple(turn for turn in history.turns if turn.session in kept),
                ),
                older=tuple(turn.id for turn in gold if turn.session != last),
                newer=tuple(turn.id for turn in gold if turn.session == last),
                about=UPDATE_CATEGORY,
                split="longmemeval",
            )
        )
    return pairs


def make_talk(rows: Sequence[Mapping[str, Any]], data: Path) -> dict[str, list[History]]:
    """Talk in which nearly nothing is an update, by source."""
    lines: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for row in rows:
        if row["kind"] == "line":
            groups = lines.setdefault(row.get("source", "lines"), {})
            groups.setdefault(row["group"], []).append((row["id"], row["says"]))
    chats: dict[str, list[tuple[str, str]]] = {}
    for number, row in enumerate(read_rows(data / CHAT_FILE)):
        chats.setdefault(row["source"], []).append((f"{row['source']}-{number}", row["text"]))
    return {
        **{
            source: [_make_talk(f"lines-{group}", said) for group, said in groups.items()]
            for source, groups in lines.items()
        },
        **{source: [_make_talk(f"chat-{source}", said)] for source, said in chats.items()},
        "locomo": [replace(one, user=f"talk-{one.user}", questions=()) for one in load_locomo(data)],
    }


def _make_talk(user: str, said: Sequence[tuple[str, str]]) -> History:
    turns = tuple(
        SaidTurn(
            id=key,
            session=f"{user}-{place // 200}",
            role="user",
            text=words,
            said_at=BEGAN + timedelta(minutes=10 * place),
        )
        for place, (key, words) in enumerate(said)
    )
    return History(user=user, turns=turns, questions=())


def measure_updates(service: Service, data: Path, *, with_talk: bool = True) -> dict[str, Any]:
    """Everything remembered on one stack; pairs are asked, talk is only read for marks."""
    rows = read_rows(SET)
    filler = [turn for history in load_locomo(data) for turn in history.turns]
    pairs = [*make_pairs(rows, filler), *make_longmemeval_pairs(data)]
    talk = make_talk(rows, data) if with_talk else {}
    histories = [*(pair.history for pair in pairs), *(one for some in talk.values() for one in some)]
    seconds = service.remember(histories, title="updates")
    marks = _read_marks(service)
    asked = [_measure_pair(service, pair, marks) for pair in pairs]
    verdicts = {(row["older"], row["newer"]): bool(row["right"]) for row in read_rows(LABELS)}
    found = [row for row in asked if row["split"] == "longmemeval"]
    ours = [row for row in asked if row["split"] != "longmemeval"]
    return {
        "target": TARGET,
        "pipeline_seconds": round(seconds, 1),
        "pairs": {
            **{name: _count([row for row in ours if row["about"] == name]) for name in _names(ours, "about")},
            **{name: _count([row for row in ours if row["split"] == name]) for name in _names(ours, "split")},
            "all of ours": _count(ours),
            "longmemeval": _count(found),
        },
        "talk": {source: _measure_talk(some, marks, verdicts) for source, some in talk.items()},
        "missed": [row for row in ours if not (row["newer_in"] and row["older_settled"])],
        "missed_longmemeval": [row for row in found if not (row["newer_in"] and row["older_settled"])],
    }


def _names(rows: Sequence[Mapping[str, Any]], key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def _read_marks(service: Service) -> list[tuple[str, str, str]]:
    """Which turn replaces which, as the service stored it: the user, the older, the newer, by our ids."""
    ours = {key: named for named, key in service.turn_ids.items()}
    with plain_transaction(service.owner) as connection:
        rows = connection.execute(_MARKS).all()
    return [
        (ours[str(row.older_turn_id)][0], ours[str(row.older_turn_id)][1], ours[str(row.newer_turn_id)][1])
        for row in rows
    ]


def _measure_pair(service: Service, pair: Pair, marks: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    (question,) = pair.history.questions
    budget_tokens = LONG_BUDGET_TOKENS if pair.split == "longmemeval" else BUDGET_TOKENS
    answer = service.assemble(pair.history.user, question, budget_tokens)
    said = {turn.id: turn.text for turn in pair.history.turns}
    prompt = flatten(answer["text"])
    olds = [flatten(said[key])[:_SHOWN_CHARS] for key in pair.older]
    is_shown = any(old in prompt for old in olds)
    return {
        "id": question.id,
        "about": pair.about,
        "split": pair.split,
        "newer_in": any(flatten(said[key])[:_SHOWN_CHARS] in prompt for key in pair.newer),
        "older_settled": all(_is_settled(prompt, old) for old in olds),
        "older_in": is_shown,
        "is_stored": any(
            user == pair.history.user and older in pair.older and newer in pair.newer
            for user, older, newer in marks
        ),
        "other_marks": sum(user == pair.history.user for user, *_ in marks),
    }


def _is_settled(prompt: str, old: str) -> bool:
    """Whether every place where the older stands is marked with a day.

    >>> _is_settled("- user (said otherwise on 2026-05-01): I live", "I live"), _is_settled("- I live", "I live")
    (True, False)
    """
    return all(
        _MARK.search(prompt, max(0, place.start() - _MARK_CHARS), place.start()) is not None
        for place in re.finditer(re.escape(old), prompt)
    )


def _count(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "pairs": len(rows),
        "newer_in": _share(rows, "newer_in"),
        "older_marked_or_out": _share(rows, "older_settled"),
        "older_in": _share(rows, "older_in"),
        "marks_stored": _share(rows, "is_stored"),
    }


def _measure_talk(
    histories: Sequence[History],
    marks: Sequence[tuple[str, str, str]],
    verdicts: Mapping[tuple[str, str], bool],
) -> dict[str, Any]:
    users = {history.user for history in histories}
    lines = sum(turn.role == "user" for history in histories for turn in history.turns)
    found = [(f"{user}/{older}", f"{user}/{newer}") for user, older, newer in marks if user in users]
    texts = {f"{one.user}/{turn.id}": turn.text for one in histories for turn in one.turns}
    right = sum(verdicts.get(mark, False) for mark in found)
    return {
        "lines": lines,
        "marks": len(found),
        "judged_right": right,
        "wrong_per_100": round(100 * (len(found) - right) / max(1, lines), 3),
        "found": [
            {
                "older": old,
                "newer": new,
                "right": verdicts.get((old, new)),
                "was": texts[old][:200],
                "is": texts[new][:200],
            }
            for old, new in found
        ],
    }


def _share(rows: Sequence[Mapping[str, Any]], claim: str) -> float:
    return round(sum(bool(row[claim]) for row in rows) / len(rows), 4) if rows else 0.0


def describe_updates(result: Mapping[str, Any]) -> str:
    """The result as Markdown."""
    lines = [
        "## Updates\n",
        f"Target: {result['target']}.\n",
        "| pairs | of | newer in the prompt | older marked or out | older in the prompt | marks stored |",
        "|---|--:|--:|--:|--:|--:|",
        *(
            f"| {name} | {row['pairs']} | {row['newer_in']:.3f} | {row['older_marked_or_out']:.3f} | "
            f"{row['older_in']:.3f} | {row['marks_stored']:.3f} |"
            for name, row in result["pairs"].items()
        ),
        "",
        "| talk | lines | marks | judged right | wrong in 100 lines |",
        "|---|--:|--:|--:|--:|",
        *(
            f"| {source} | {row['lines']} | {row['marks']} | {row['judged_right']} | {row['wrong_per_100']:.2f} |"
            for source, row in result["talk"].items()
        ),
        "",
    ]
    return "\n".join(lines)
