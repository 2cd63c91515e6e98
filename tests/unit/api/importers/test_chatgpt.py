"""Claims about ChatGPT's export: the branch shown last is kept, and everything else is counted by reason."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from api.importers.sources.chatgpt import find_units
from models.errors import InvalidInput


def node(id: str, parent: str | None, role: str, *parts: Any, **fields: Any) -> tuple[str, dict[str, Any]]:
    kind = fields.pop("content_type", "text")
    content = {"content_type": kind, "parts": list(parts)}
    message = {
        "id": f"m-{id}",
        "author": {"role": role},
        "content": content,
        "create_time": 1785578400.5,
        **fields,
    }
    return id, {"id": id, "parent": parent, "message": message}


MAPPING = dict(
    [
        ("root", {"id": "root", "parent": None, "message": None}),
        node("sys", "root", "system", "You are helpful."),
        node("u1", "sys", "user", "Where is Gozo?"),
        node("a1", "u1", "assistant", "In the sea."),
        node("a2", "u1", "assistant", "Near Malta."),
        node("hid", "a2", "user", "profile", metadata={"is_visually_hidden_from_conversation": True}),
        node("th", "hid", "assistant", "hm", content_type="thoughts"),
        node("call", "th", "assistant", "search()", recipient="web", content_type="code"),
        node("tool", "call", "tool", "result"),
        node(
            "u2",
            "tool",
            "user",
            {"content_type": "image_asset_pointer"},
            "And this?",
            content_type="multimodal_text",
        ),
        node("a3", "u2", "assistant", ""),
        node("web", "a3", "assistant", "x", content_type="tether_quote"),
    ]
)
TALK = {
    "conversation_id": "c1",
    "title": "Islands",
    "create_time": 1785578000,
    "mapping": MAPPING,
    "current_node": "web",
}


def write(folder: Path, value: Any) -> Path:
    file = folder / "conversations.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return file


def test_the_branch_that_was_shown_last_is_kept(tmp_path: Path, read: Any) -> None:
    found = read(find_units(write(tmp_path, [TALK])))
    assert [(turn.session_id, turn.role, turn.content, turn.id) for turn in found.turns] == [
        ("chatgpt/c1", "user", "Where is Gozo?", "chatgpt:m-u1"),
        ("chatgpt/c1", "assistant", "Near Malta.", "chatgpt:m-a2"),
        ("chatgpt/c1", "user", "And this?", "chatgpt:m-u2"),
    ]
    assert found.turns[0].ts == "2026-08-01T10:00:00.500000+00:00"
    assert found.turns[0].metadata["title"] == "Islands"
    assert found.reasons == {
        "system message": 1,
        "branch that was not taken": 1,
        "hidden message": 1,
        "thinking": 1,
        "call of a tool": 1,
        "answer of a tool": 1,
        "image": 1,
        "empty": 1,
        "content of no known type": 1,
    }


def test_the_archive_and_the_folder_give_the_same(tmp_path: Path, read: Any) -> None:
    file = write(tmp_path, [TALK])
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(file, "conversations.json")
        packed.writestr("user.json", "{}")
    expected = read(find_units(file)).turns
    assert read(find_units(archive)).turns == expected
    assert read(find_units(tmp_path)).turns == expected


def test_a_tree_in_a_circle_or_without_an_end_is_told_and_stops(tmp_path: Path, read: Any) -> None:
    circle = dict([node("a", "b", "user", "One."), node("b", "a", "assistant", "Two.")])
    lost = {"id": "c3", "mapping": dict([node("x", None, "user", "Lost.")]), "current_node": None}
    found = read(
        find_units(
            write(tmp_path, [{"id": "c2", "mapping": circle, "current_node": "a"}, lost, {"id": "c4"}, 7])
        )
    )
    assert sorted(found.said) == [("assistant", "Two."), ("user", "One.")]
    assert found.reasons == {
        "conversation without a current node": 1,
        "message outside of any branch": 1,
        "conversation without a mapping": 2,
    }
    assert "conversations.json, conversation 3" in found.places


def test_only_a_conversation_that_changed_is_another_unit(tmp_path: Path) -> None:
    other = {**TALK, "conversation_id": "c2"}
    before = {unit.name: unit.changed for unit in find_units(write(tmp_path, [TALK, other]))}
    after = {
        unit.name: unit.changed for unit in find_units(write(tmp_path, [TALK, {**other, "title": "New"}]))
    }
    assert [name for name in after if after[name] != before[name]] == ["conversations.json:c2"]


def test_a_broken_file_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"conversations\.json, line 2"):
        find_units(write(tmp_path, "[\n{]"))
    with pytest.raises(InvalidInput, match="no list of conversations"):
        find_units(write(tmp_path, "7"))
