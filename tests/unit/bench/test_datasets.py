"""What the benchmark reads from the public files, and the set of standing rules it ships."""

import hashlib
import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
import Stemmer

from bench.quality.datasets import load_locomo, load_longmemeval
from bench.quality.records import SaidTurn
from bench.quality.report import describe, write_report
from bench.quality.rules import UNSEEN, load_cases, make_histories
from bench.rules.detection import DEV_FILE
from models.domain.text.terms import extract_terms, query_keywords


def write_locomo(folder: Path) -> None:
    turn = {"D1:1": ("Ann", "Hi"), "D1:2": ("Bob", "Hello"), "D2:1": ("Ann", "I moved to Lyon")}
    talk = {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [],
        "session_1_date_time": "12:05 am on 7 May, 2023",
        "session_1": [],
    }
    for key, (speaker, text) in turn.items():
        talk[f"session_{key[1]}"].append({"dia_id": key, "speaker": speaker, "text": text})  # type: ignore[attr-defined]
    asked = [
        {"question": "Where?", "evidence": ["D2:01; D1:2"], "category": 1},
        {"question": "Who?", "evidence": ["D1:1"], "category": 4},
        {"question": "Nobody said", "evidence": [], "category": 3},
        {"question": "Lost", "evidence": ["D9:9"], "category": 2},
    ]
    (folder / "locomo_dev.json").write_text(
        json.dumps(
            [{"sample_id": f"conv-{number}", "conversation": talk, "qa": asked} for number in range(2)]
        )
    )


def test_a_conversation_is_read_in_the_order_of_its_sessions_with_its_dates(tmp_path: Path) -> None:
    write_locomo(tmp_path)
    history = load_locomo(tmp_path)[0]
    assert [turn.id for turn in history.turns] == ["D1:1", "D1:2", "D2:1"]
    assert [turn.line for turn in history.turns] == ["Ann: Hi", "Bob: Hello", "Ann: I moved to Lyon"]
    assert history.turns[2].said_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert history.turns[0].said_at < history.turns[1].said_at
    assert list(history.sessions) == ["conv-0-1", "conv-0-2"]


def test_evidence_is_read_from_strings_of_several_padded_ids_and_questions_without_any_are_left_out(
    tmp_path: Path,
) -> None:
    write_locomo(tmp_path)
    first, second = load_locomo(tmp_path)[0].questions
    assert (first.category, first.gold, first.gold_sessions) == (
        "multi-hop",
        {"D2:1", "D1:2"},
        {"conv-0-1", "conv-0-2"},
    )
    assert (second.category, second.gold) == ("single-hop", {"D1:1"})


def test_both_speakers_are_users_unless_the_second_is_to_be_a_machine(tmp_path: Path) -> None:
    write_locomo(tmp_path)
    assert {turn.role for turn in load_locomo(tmp_path)[0].turns} == {"user"}
    roles = [turn.role for turn in load_locomo(tmp_path, second_role="assistant")[0].turns]
    assert roles == ["user", "assistant", "user"]


def test_a_subset_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    write_locomo(tmp_path)
    few = load_locomo(tmp_path, questions=2)
    assert few == load_locomo(tmp_path, questions=2)
    assert sum(len(history.questions) for history in few) == 2
    assert len(load_locomo(tmp_path, conversations=1)) == 1


def test_a_haystack_is_sorted_by_date_and_only_answering_sessions_hold_evidence(tmp_path: Path) -> None:
    sessions = {
        "late": {
            "date": "2023/02/20 (Mon) 12:15",
            "turns": [{"role": "user", "content": "b", "has_answer": True}],
        },
        "early": {
            "date": "2023/01/01 (Sun) 08:00",
            "turns": [
                {"role": "user", "content": "a", "has_answer": True},
                {"role": "assistant", "content": "ok"},
            ],
        },
    }
    asked = {
        "question": "?",
        "question_type": "multi-session",
        "question_date": "2023/03/01 (Wed) 10:00",
        "answer_session_ids": ["late"],
        "haystack": ["late", "early"],
    }
    stored = {
        "sessions": sessions,
        "questions": [{"question_id": name, **asked} for name in ("q1", "q2_abs")],
    }
    (tmp_path / "longmemeval_dev.json").write_text(json.dumps(stored))
    (history,) = load_longmemeval(tmp_path)
    assert [turn.id for turn in history.turns] == ["early:0", "early:1", "late:0"]
    (question,) = history.questions
    assert (question.gold, question.gold_sessions) == ({"late:0"}, {"q1/late"})
    assert question.asked_at == datetime(2023, 3, 1, 10, tzinfo=UTC)


CASES = load_cases()


def test_there_are_enough_standing_rules_of_many_kinds_and_as_many_decoys() -> None:
    assert len(CASES) >= 60
    assert len({case.rule for case in CASES}) == len({case.decoy for case in CASES}) == len(CASES)
    assert len(Counter(case.theme for case in CASES)) >= 8
    assert len(Counter(case.decoy_theme for case in CASES)) >= 6


def test_three_sets_are_kept_whole_and_the_first_is_split_in_two_by_its_numbers() -> None:
    splits = Counter(case.split for case in CASES)
    assert splits.keys() == {"tuned", "held back", "fresh", "unseen", "unseen2"}
    assert min(splits["fresh"], splits["unseen"], splits["unseen2"]) >= 60
    for case in CASES:
        if case.split in {"tuned", "held back"}:
            digest = hashlib.sha256(case.id.removeprefix("rule-").encode()).digest()
            assert case.split == ("held back" if digest[-1] % 2 else "tuned")


def test_the_report_counts_each_split_apart() -> None:
    found = {
        "cases": 2,
        "fillers": 0,
        "budget_tokens": 2000,
        "target": "all",
        "rules_kept": 0.5,
        "rules_in_guidance": 0.5,
        "rules_in_prompt": 0.5,
        "decoys_admitted": 0.0,
        "talk_admitted": 0.0,
        "by_split": {
            "held back": {
                "cases": 2,
                "rules_in_guidance": 0.5,
                "rules_in_prompt": 1.0,
                "decoys_admitted": 0.0,
            }
        },
        "missed": [],
        "decoys": [],
    }
    assert "| held back | 2 | 0.500 | 1.000 | 0.000 |" in describe({"rules": found})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_question_shares_no_word_with_the_rule_that_governs_it(case: object) -> None:
    assert isinstance(case, type(CASES[0]))
    stem = Stemmer.Stemmer("english").stemWord
    asked = {stem(word) for word in query_keywords(case.question)}
    assert not asked & {stem(word) for word in extract_terms(case.rule)}


def test_every_case_is_a_user_of_its_own_with_other_talk_in_between() -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    talk = [SaidTurn(id=str(n), session="s", role="user", text=f"talk {n}", said_at=began) for n in range(5)]
    first, second = make_histories(CASES[:2], talk, fillers=4)
    assert (first.user, second.user) == ("rule-01", "rule-02")
    assert [turn.text for turn in first.turns[3:]] == ["talk 0", "talk 1", "talk 2", "talk 3"]
    assert [turn.text for turn in second.turns[3:]] == ["talk 4", "talk 0", "talk 1", "talk 2"]
    assert first.turns[0].text == CASES[0].rule
    assert {turn.role for turn in first.turns} == {"user", "assistant"}
    assert first.questions[0].asked_at > first.turns[-1].said_at


def test_a_report_names_what_was_not_run(tmp_path: Path) -> None:
    values = {"n": 2.0, "evidence@1000": 0.5, "evidence@2000": 0.75, "frac@10": 0.5}
    found = {
        "histories": 1,
        "turns": 10,
        "questions": 2,
        "compaction": {"available": False, "reason": "no endpoint"},
        "peers_not_run": {"Other": "it needs a model"},
        "degraded": {},
        "methods": {
            "longtail": {"all": values, "temporal": values},
            "BM25": {"all": {**values, "frac@10": 0.6}},
        },
    }
    text = describe({"locomo": found})
    assert "Compaction: not available: no endpoint" in text
    assert "Other: not run: it needs a model" in text
    assert "| longtail | – | 0.500 |" in text
    assert "| BM25 | – | **0.600** |" in text
    written = write_report({"locomo": found}, tmp_path / "out")
    assert [path.name for path in written] == ["quality.json", "quality.md", "locomo.png"]
    assert (tmp_path / "out" / "locomo.png").read_bytes().startswith(b"\x89PNG")


def test_no_sentence_of_the_development_set_stands_in_an_unseen_set() -> None:
    def read(text: str) -> str:
        return " ".join(re.findall(r"[a-z0-9']+", text.lower()))

    rows = [json.loads(line) for line in DEV_FILE.read_text(encoding="utf-8").splitlines()]
    fitted = {read(row["says"]) for row in rows}
    unseen = [read(text) for case in CASES if case.split in UNSEEN for text in (case.rule, case.decoy)]
    assert len(unseen) >= 380
    assert fitted.isdisjoint(unseen)
