"""LoCoMo and LongMemEval as histories; the files are never part of the project, `--data` names their folder."""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from bench.quality.records import History, Question, SaidTurn

Role = Literal["user", "assistant"]
LOCOMO_FILE: Final = "locomo_dev.json"
LONGMEMEVAL_FILE: Final = "longmemeval_dev.json"
LOCOMO_CATEGORIES: Final = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
TURN_SECONDS: Final = 30  # between two turns of a session: the files date sessions only
_EVIDENCE: Final = re.compile(r"D(\d+):0*(\d+)")
_SESSION_KEY: Final = re.compile(r"session_(\d+)")


def load_locomo(
    folder: Path,
    *,
    conversations: int | None = None,
    questions: int | None = None,
    second_role: Role = "user",
    seed: int = 7,
) -> list[History]:
    """One history per conversation. Questions without a known evidence turn are left out.

    Both speakers are people whose memories are asked for, so both are `user` by default, told apart by their
    names; `second_role="assistant"` makes the second one a machine, whose turns never pass the gate.
    """
    stored = json.loads((folder / LOCOMO_FILE).read_text(encoding="utf-8"))
    histories = [_read_locomo(entry, second_role) for entry in stored]
    return _thin_out(histories[:conversations], questions, seed)


def _read_locomo(entry: dict[str, Any], second_role: Role) -> History:
    talk = entry["conversation"]
    turns: list[SaidTurn] = []
    numbers = sorted(int(found[1]) for key in talk if (found := _SESSION_KEY.fullmatch(key)) and talk[key])
    for number in numbers:
        began = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(
            tzinfo=UTC
        )
        for place, turn in enumerate(talk[f"session_{number}"]):
            turns.append(
                SaidTurn(
                    id=turn["dia_id"],
                    session=f"{entry['sample_id']}-{number}",
                    role=second_role if turn["speaker"] == talk["speaker_b"] else "user",
                    text=turn["text"],
                    said_at=began + timedelta(seconds=TURN_SECONDS * place),
                    speaker=turn["speaker"],
                )
            )
    sessions = {turn.id: turn.session for turn in turns}
    asked_at = max(turn.said_at for turn in turns) + timedelta(days=1)  # the file does not date its questions
    questions = []
    for place, pair in enumerate(entry["qa"]):
        named = {f"D{day}:{line}" for text in pair["evidence"] for day, line in _EVIDENCE.findall(text)}
        if gold := frozenset(named & sessions.keys()):
            questions.append(
                Question(
                    id=f"{entry['sample_id']}-q{place}",
                    text=pair["question"],
                    category=LOCOMO_CATEGORIES[pair["category"]],
                    gold=gold,
                    gold_sessions=frozenset(sessions[turn] for turn in gold),
                    asked_at=asked_at,
                )
            )
    return History(user=entry["sample_id"], turns=tuple(turns), questions=tuple(questions))


def load_longmemeval(folder: Path, *, questions: int | None = None, seed: int = 7) -> list[History]:
    """One history per question: its haystack of sessions by date. Questions about nothing said (`_abs`) are left out."""
    stored = json.loads((folder / LONGMEMEVAL_FILE).read_text(encoding="utf-8"))
    asked = [one for one in stored["questions"] if not one["question_id"].endswith("_abs")]
    if questions is not None and questions < len(asked):
        asked = random.Random(seed).sample(asked, questions)
    return [_read_longmemeval(one, stored["sessions"]) for one in asked]


def _read_longmemeval(asked: dict[str, Any], sessions: dict[str, Any]) -> History:
    key = asked["question_id"]
    turns: list[SaidTurn] = []
    gold = set()
    for name in sorted(asked["haystack"], key=lambda name: (sessions[name]["date"], name)):
        began = _read_moment(sessions[name]["date"])
        for place, turn in enumerate(sessions[name]["turns"]):
            said = SaidTurn(
                id=f"{name}:{place}",
                session=f"{key}/{name}",
                role=turn["role"],
                text=turn["content"],
                said_at=began + timedelta(seconds=TURN_SECONDS * place),
            )
            turns.append(said)
            if turn.get("has_answer") and name in asked["answer_session_ids"]:
                gold.add(said.id)
    question = Question(
        id=key,
        text=asked["question"],
        category=asked["question_type"],
        gold=frozenset(gold),
        gold_sessions=frozenset(f"{key}/{name}" for name in asked["answer_session_ids"]),
        asked_at=_read_moment(asked["question_date"]),
    )
    return History(user=key, turns=tuple(turns), questions=(question,))


def _read_moment(text: str) -> datetime:
    """A date of LongMemEval.

    >>> _read_moment("2023/02/20 (Mon) 12:15").isoformat()
    '2023-02-20T12:15:00+00:00'
    """
    day, _, clock = text.split()
    return datetime.strptime(f"{day} {clock}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def _thin_out(histories: Sequence[History], questions: int | None, seed: int) -> list[History]:
    """The same histories with at most so many questions in all, the same ones for the same seed."""
    everything = [question.id for history in histories for question in history.questions]
    if questions is None or questions >= len(everything):
        return list(histories)
    kept = set(random.Random(seed).sample(everything, questions))
    return [
        replace(history, questions=tuple(one for one in history.questions if one.id in kept))
        for history in histories
    ]
