"""Claims about the audit: each kind of junk is counted once, shown with ids, and a secret is never shown."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.app import app, register_commands
from api.importers.audit import audit_findings
from api.importers.guess import guess_kind
from api.importers.junk import find_secrets, is_injected, is_phatic
from api.importers.records import Dropped, ImportedTurn
from models.encoders.registry import load_encoder


def said(*texts: str, role: str = "user") -> list[ImportedTurn]:
    return [
        ImportedTurn(
            session_id="s1", role=role, content=text, id=f"t{day}", ts=f"2026-08-{day:02}T10:00:00+00:00"
        )
        for day, text in enumerate(texts, start=1)
    ]


JUNK = (
    "My rent for the flat is 900 euros.",
    "my rent for  the flat is 900 Euros.",
    "My rent for the flat is 950 euros.",
    "Ok, thanks!",
    "<system-reminder>Today is Monday.</system-reminder>",
    "The password is hunter2!x",
    "The ferry to Gozo leaves at noon.",
)


def test_each_kind_is_counted_and_the_first_of_two_alike_is_no_junk() -> None:
    audit = audit_findings(said(*JUNK))
    assert dict(audit.kinds) == {"duplicate": 1, "phatic": 1, "injected": 1, "secret": 1, "contradicted": 2}
    assert (audit.items, audit.junk) == (7, 5)
    assert audit.junk_rate == pytest.approx(5 / 7)
    assert audit.examples["duplicate"] == [
        {
            "id": "s1 t2",
            "text": "my rent for the flat is 900 Euros.",
            "like": "s1 t1",
            "like_text": "My rent for the flat is 900 euros.",
        }
    ]
    assert {one["like"] for one in audit.examples["contradicted"]} == {"s1 t3"}


def test_a_secret_is_counted_and_never_shown() -> None:
    audit = audit_findings(said(*JUNK, "The password is hunter2!x"))
    assert audit.kinds["secret"] == 2
    assert "hunter2" not in json.dumps(audit.to_json())


def test_near_duplicates_are_found_by_meaning_and_others_are_left_alone() -> None:
    texts = (
        "Tom moved to Lisbon in March.",
        "The user prefers green tea over coffee.",
        "User prefers green tea over coffee",
        "The user has two cats called Miso and Udon.",
    )
    audit = audit_findings(said(*texts), encode=load_encoder("minilm", threads=1).encode)
    assert [(one["id"], one["like"]) for one in audit.examples["near-duplicate"]] == [("s1 t3", "s1 t2")]
    assert audit.junk == 1


def test_many_items_are_compared_with_all_that_stand_before_them() -> None:
    import numpy as np

    def encode(texts: Sequence[str]) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
        return np.eye(700, dtype=np.float32)[
            [0 if text in {"fact 3", "fact 650"} else number for number, text in enumerate(texts)]
        ]

    found = audit_findings(said_many(651), encode=encode)
    assert [(one["id"], one["like"]) for one in found.examples["near-duplicate"]] == [
        ("s1 t3", "s1 t0"),
        ("s1 t650", "s1 t0"),
    ]


def said_many(count: int) -> list[ImportedTurn]:
    return [
        ImportedTurn(session_id="s1", role="user", content=f"fact {place}", id=f"t{place}")
        for place in range(count)
    ]


def test_without_an_encoder_near_duplicates_are_unknown_not_none() -> None:
    assert audit_findings(said("a b c"), encode=None).to_json()["kinds"]["near-duplicate"] is None


def test_what_an_import_would_leave_out_is_told() -> None:
    audit = audit_findings([Dropped("no JSON", "a.jsonl, line 3"), Dropped("heartbeat")])
    assert audit.to_json()["dropped"] == {"no JSON": 1, "heartbeat": 1}
    assert audit.notes == ["a.jsonl, line 3: no JSON"]
    assert audit.junk_rate == 0


@pytest.mark.parametrize(
    "text", ["Hi!", "ok", "Thank you very much 🙏", "Sounds good, thanks", "👍", "No problem"]
)
def test_small_talk_is_phatic(text: str) -> None:
    assert is_phatic(text)


@pytest.mark.parametrize(
    "text",
    [
        "My name is Ann.",
        "Yes, delete the table.",
        "No, 7741",
        "Thanks, Ilse",
        "not today",
        "",
        "Great Yarmouth",
    ],
)
def test_what_says_something_is_not_phatic(text: str) -> None:
    assert not is_phatic(text)


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "use sk-" + "a1b2c3d4e5f6g7h8i9j0k1",
        "ghp_" + "a" * 36,
        "api_key=abc123def",
        "postgres://ann:s3cret@db.example/app",
        "4111 1111 1111 1111",
    ],
)
def test_secrets_are_found(text: str) -> None:
    assert list(find_secrets(text))


@pytest.mark.parametrize(
    "text",
    [
        "The password is wrong.",
        "Reset the password: see the manual",
        "Order 4111 1111 1111 1112",
        "https://example.org/a:b@c",
        "a task-oriented-approach-for-everyone-here",
        "0000 0000 0000 0000",
    ],
)
def test_what_only_looks_like_a_secret_is_left_alone(text: str) -> None:
    assert not list(find_secrets(text))


def test_injected_context_is_known_by_its_marks(block: str) -> None:
    assert is_injected(block + "Hello")
    assert is_injected("Relevant memories from before:\n- likes tea")
    assert not is_injected("My memories of Gozo are relevant here.")


@pytest.mark.parametrize(
    ("name", "words", "kind"),
    [
        ("conversations.json", '[{"title": "x", "mapping": {}}]', "chatgpt"),
        ("a.json", '{"results": [{"id": "m1", "memory": "x"}]}', "mem0"),
        ("a.json", '{"items": [{"id": "h1", "text": "x", "fact_type": "world"}]}', "hindsight"),
        ("s1.jsonl", '{"type": "session", "id": "s1"}\n', "openclaw"),
        ("s1.jsonl", '{"type": "user", "sessionId": "s1", "parentUuid": null}\n', "claude-code"),
        ("a.jsonl", '{"session_id": "s1", "role": "user", "content": "x"}\n', "jsonl"),
        ("MEMORY.md", "# Home", "openclaw"),
        ("a.json", "7", None),
    ],
)
def test_the_kind_of_a_file_is_guessed(tmp_path: Path, name: str, words: str, kind: str | None) -> None:
    (tmp_path / name).write_text(words)
    assert guess_kind(tmp_path / name) == kind


def test_the_command_needs_nothing_running(tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text(
        json.dumps({"results": [{"id": str(place), "memory": text} for place, text in enumerate(JUNK)]})
    )
    register_commands()
    answer = CliRunner().invoke(app, ["audit", str(file), "--words-only", "--json"])
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert found["kind"] == "mem0"
    assert found["kinds"]["duplicate"] == 1
    assert found["junk_rate"] > 0
    shown = CliRunner().invoke(app, ["audit", str(file), "--words-only"])
    assert "7 items of mem0" in shown.output
    assert "mem0/all mem0:1" in shown.output
