"""Claims about the exports of Mem0 and Hindsight: each fact is kept once, under its own id, for whom it belongs to."""

import json
from pathlib import Path
from typing import Any

import pytest

from api.importers.sources import hindsight, mem0
from models.errors import InvalidInput


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(value: Any, name: str = "export.json") -> Path:
        file = tmp_path / name
        file.write_text(value if isinstance(value, str) else json.dumps(value))
        return file

    return write


def test_memories_of_mem0_become_those_of_the_user_they_name(write: Any, read: Any) -> None:
    file = write(
        {
            "results": [
                {
                    "id": "m1",
                    "memory": "Likes tea",
                    "user_id": "dev",
                    "created_at": "2026-08-01T10:00:00-07:00",
                },
                {
                    "id": "m2",
                    "memory": "Runs nightly",
                    "agent_id": "bot",
                    "run_id": "r1",
                    "metadata": {"a": 1},
                },
                {"id": "m3", "memory": "Old", "state": "deleted"},
                {"id": "m4", "memory": ""},
                "text",
            ],
            "relations": [{"source": "dev", "relationship": "likes", "target": "tea"}],
        }
    )
    found = read(mem0.find_units(file))
    assert [(turn.session_id, turn.id, turn.content, turn.identity) for turn in found.turns] == [
        ("mem0/dev", "mem0:m1", "Likes tea", {"user_id": "dev"}),
        ("mem0/bot/r1", "mem0:m2", "Runs nightly", {"agent_id": "bot"}),
    ]
    assert {turn.role for turn in found.turns} == {"assistant"}
    assert found.turns[0].ts == "2026-08-01T10:00:00-07:00"
    assert found.turns[1].metadata["mem0"] == {"a": 1}
    assert found.reasons == {
        "deleted there": 1,
        "memory without words": 1,
        "no JSON object": 1,
        "relation of the graph": 1,
    }
    assert found.places == ["export.json, results item 4", "export.json, results item 5"]


def test_every_shape_that_mem0_gives_is_read(write: Any, read: Any) -> None:
    fact = {"id": "m1", "memory": "Likes tea"}
    shapes = {
        "list.json": [fact],
        "pages.json": [{"results": [fact]}, {"results": [{"id": "m2", "memory": "Likes cake"}]}],
        "lines.jsonl": json.dumps(fact) + "\n",
        "store.json": {"points": [{"id": "m1", "payload": {"data": "Likes tea", "user_id": "dev"}}]},
    }
    for name, shape in shapes.items():
        found = read(mem0.find_units(write(shape, name)))
        assert found.turns[0].id == "mem0:m1", name
        assert found.turns[0].content == "Likes tea", name
        assert len(found.turns) == (2 if name == "pages.json" else 1), name


def test_a_fact_without_an_id_is_named_by_its_words(write: Any, read: Any) -> None:
    file = write([{"memory": "Likes tea"}, {"memory": "Likes cake"}])
    first, second = (turn.id for turn in read(mem0.find_units(file)).turns)
    assert first != second
    assert [turn.id for turn in read(mem0.find_units(file)).turns] == [first, second]


def test_facts_of_hindsight_are_kept_and_what_is_derived_or_invalid_is_not(
    write: Any, read: Any, block: str
) -> None:
    file = write(
        {
            "items": [
                {
                    "id": "h1",
                    "text": "Alice works at Acme",
                    "fact_type": "world",
                    "date": "2026-08-01T10:00:00Z",
                },
                {
                    "id": "h2",
                    "text": "Alice was promoted",
                    "type": "experience",
                    "occurred_start": "2026-03-01",
                },
                {"id": "h3", "text": "Alice does well", "fact_type": "observation"},
                {"id": "h4", "text": "Alice is at Initech", "fact_type": "world", "state": "invalidated"},
                {"id": "h5", "text": block, "fact_type": "world"},
            ],
            "total": 5,
        }
    )
    found = read(hindsight.find_units(file))
    assert [(turn.id, turn.content, turn.ts) for turn in found.turns] == [
        ("hindsight:h1", "Alice works at Acme", "2026-08-01T10:00:00+00:00"),
        ("hindsight:h2", "Alice was promoted", "2026-03-01T00:00:00+00:00"),
    ]
    assert found.reasons == {
        "observation: derived from other facts": 1,
        "invalidated there": 1,
        "injected by us": 1,
    }


def test_pages_that_were_not_exported_are_told(write: Any, read: Any) -> None:
    file = write({"items": [{"id": "h1", "text": "Alice works at Acme"}], "total": 150, "offset": 0})
    found = read(hindsight.find_units(file))
    assert len(found.turns) == 1
    assert found.places == ["export.json: 1 of 150"]
    both = [{"items": [{"id": f"h{number}", "text": f"Fact {number}"}], "total": 2} for number in (1, 2)]
    assert read(hindsight.find_units(write(both))).places == []


def test_a_file_that_is_no_json_is_refused_with_its_line(write: Any, read: Any) -> None:
    with pytest.raises(InvalidInput, match=r"export\.json, line 2, column 1 is no JSON"):
        read(mem0.find_units(write('{"results":\n')))
    found = read(mem0.find_units(write({"answer": 42})))
    assert found.places == ["export.json"]
    lines = read(mem0.find_units(write('{"memory": "a"}\n{"memory"\n', "a.jsonl")))
    assert lines.places == ["a.jsonl, line 2"]
    assert lines.said == [("assistant", "a")]
