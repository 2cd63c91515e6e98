"""Whose profiles are read, and how the lines are counted."""

import json
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from bench.quality.profiles import LABELS, SPLITS, describe_profiles, load_users
from bench.rules.detection import read_rows

SESSIONS = 300


@pytest.fixture
def data(tmp_path: Path) -> Path:
    talk: dict[str, Any] = {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"dia_id": "D1:1", "speaker": "Ann", "text": "I moved to Lyon."}],
    }
    (tmp_path / "locomo_dev.json").write_text(
        json.dumps([{"sample_id": f"conv-{number}", "conversation": talk, "qa": []} for number in range(2)])
    )
    turns = [{"role": "user", "content": "I live in Rome."}, {"role": "assistant", "content": "Noted."}]
    sessions = {
        f"answer_{number // 3}_{number % 3}": {
            "date": f"2023/01/{1 + number % 28:02} (Mon) 12:15",
            "turns": turns,
        }
        for number in range(SESSIONS)
    }
    names = list(sessions)
    asked = [
        {
            "question_id": f"q{number}",
            "question": "Where?",
            "question_type": "single",
            "question_date": "2023/03/01 (Wed) 09:00",
            "haystack": [names[(7 * number + place) % SESSIONS] for place in range(20)],
            "answer_session_ids": [],
        }
        for number in range(60)
    ]
    (tmp_path / "longmemeval_dev.json").write_text(json.dumps({"sessions": sessions, "questions": asked}))
    lines = [{"source": "gitter", "licence": "MIT", "text": f"I use tool {number}"} for number in range(2100)]
    (tmp_path / "chat_turns.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    return tmp_path


def test_no_turn_is_in_two_splits(data: Path) -> None:
    turns: dict[str, set[str]] = {split: set() for split in SPLITS}
    for one in load_users(data):
        turns[one.split] |= {turn.id for turn in one.history.turns}
    assert all(turns.values())
    assert all(turns[one].isdisjoint(turns[other]) for one, other in combinations(SPLITS, 2))


def test_a_profile_is_read_the_day_after_the_last_thing_said_and_asks_nothing(data: Path) -> None:
    for one in load_users(data):
        (question,) = one.history.questions
        assert question.text == ""
        last = max(turn.said_at for turn in one.history.turns)
        assert question.asked_at - last == timedelta(days=1)


def test_of_assistants_only_the_last_session_is_sent(data: Path) -> None:
    users = [one for one in load_users(data) if one.source == "longmemeval"]
    assert users
    for one in users:
        sessions = [
            turns for turns in one.history.sessions.values() if {turn.role for turn in turns} != {"user"}
        ]
        assert sessions == [list(one.history.sessions.values())[-1]]


def test_a_subset_has_so_many_users_of_each_kind(data: Path) -> None:
    some = load_users(data, conversations=1, users=1)
    assert [one.history.user for one in some if one.source == "locomo"] == ["conv-0"]
    assert len([one for one in some if (one.source, one.split) == ("gitter", "tuned")]) == 1
    every = {one.history.user: one.history for one in load_users(data)}
    assert all(every[one.history.user] == one.history for one in some)


def test_the_labels_name_each_line_once_and_hold_no_text() -> None:
    rows = read_rows(LABELS)
    assert len({(row["turn"], row["line"]) for row in rows}) == len(rows)
    assert {frozenset(row) for row in rows} == {frozenset({"turn", "line", "source", "worth", "held_out"})}
    assert all(len(row["line"]) == 12 for row in rows)


def test_the_report_says_which_share_of_whom_is_worth_its_place() -> None:
    row = {
        "split": "held_out",
        "source": "gitter",
        "users": 2,
        "lines": 5,
        "unread": 1,
        "worth": 3,
        "share": 0.75,
    }
    assert "| held_out | gitter | 2 | 5 | 1 | 3 | 0.75 |" in describe_profiles(
        {"target": "t", "shares": [row]}
    )
