"""Claims about keeping a folder in step: what is sent, what is not, and what survives failures."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from api.watching.folder import Selection, list_folder
from api.watching.globs import matches_any
from api.watching.ledger import Ledger
from api.watching.sync import Event, FolderSync
from models.errors import InvalidInput, NotFound, TransientError, Unauthorized

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\x00"), min_size=1, max_size=8)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


class Shelf:
    """A server of documents: keeps what it is given, refuses what costs more hard lines than it has room for."""

    def __init__(self, *, room: int = 100) -> None:
        self.kept: dict[str, tuple[bytes, dict[str, str]]] = {}
        self.calls: list[tuple[str, str]] = []
        self.room = room
        self.fails_after: int | None = None
        self.error: Exception = TransientError("nobody answers")

    def _answer(self, verb: str, name: str) -> None:
        if self.fails_after is not None:
            if self.fails_after == 0:
                raise self.error
            self.fails_after -= 1
        self.calls.append((verb, name))

    def put_document(self, name: str, markdown: str | bytes, **parameters: str) -> dict[str, Any]:
        self._answer("put", name)
        body = markdown.encode() if isinstance(markdown, str) else markdown
        others = sum(_lines(kept) for other, kept in self.kept.items() if other != name)
        if others + _lines((body, parameters)) > self.room:
            raise InvalidInput(
                f"{_lines((body, parameters))} lines, {self.room - others} free", code="hard_reserve_exceeded"
            )
        self.kept[name] = (body, parameters)
        return {"hard": _lines((body, parameters))}

    def delete_document(self, name: str, **parameters: str) -> dict[str, Any]:
        self._answer("delete", name)
        if name not in self.kept:
            raise NotFound(name)
        del self.kept[name]
        return {}


def _lines(kept: tuple[bytes, dict[str, str]]) -> int:
    body, parameters = kept
    return body.count(b"- ") if parameters["kind"] == "authored" else 0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    return root


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def make_sync(root: Path, shelf: Shelf, **options: Any) -> FolderSync:
    options.setdefault("selection", Selection())
    ledger = Ledger(root.parent / "home", root=root, destination="here")
    return FolderSync(root, shelf, ledger, **options)


def bring(sync: FolderSync) -> list[Event]:
    return list(sync.carry_out(sync.plan()))


def names(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.event, event.name) for event in events]


def test_files_become_documents_named_by_their_path_in_the_folder(root: Path, shelf: Shelf) -> None:
    write(root, "AGENTS.md", "- never deploy on Friday")
    write(root, "deep/er/day one.md", "- bought milk")
    write(root, "picture.png", "no")
    assert names(bring(make_sync(root, shelf))) == [("loaded", "AGENTS.md"), ("loaded", "deep/er/day one.md")]
    assert shelf.kept["AGENTS.md"][1] == {"kind": "authored", "policy": "refuse"}
    assert shelf.kept["deep/er/day one.md"][1] == {"kind": "note"}


def test_nothing_is_sent_again_that_did_not_change_also_after_a_restart(root: Path, shelf: Shelf) -> None:
    file = write(root, "a.md", "one")
    bring(make_sync(root, shelf))
    os.utime(file)  # touched, not changed
    sync = make_sync(root, shelf)
    plan = sync.plan()
    assert (plan.size, plan.unchanged) == (0, 1)
    assert bring(sync) == []
    assert shelf.calls == [("put", "a.md")]


def test_a_change_of_the_same_length_within_a_moment_is_seen(root: Path, shelf: Shelf) -> None:
    sync = make_sync(root, shelf)
    file = write(root, "a.md", "one")
    bring(sync)
    before = file.stat()
    file.write_text("two")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert names(bring(sync)) == [("loaded", "a.md")]
    assert shelf.kept["a.md"][0] == b"two"


def test_deletions_are_followed_and_a_document_somebody_else_deleted_is_no_error(
    root: Path, shelf: Shelf
) -> None:
    for name in ("a.md", "b.md"):
        write(root, name, name)
    sync = make_sync(root, shelf)
    bring(sync)
    del shelf.kept["b.md"]
    for name in ("a.md", "b.md"):
        (root / name).unlink()
    assert names(bring(sync)) == [("deleted", "a.md"), ("deleted", "b.md")]
    assert shelf.kept == {}
    assert bring(make_sync(root, shelf)) == []


def test_a_renamed_file_frees_its_room_before_it_takes_it_again(root: Path) -> None:
    shelf = Shelf(room=2)
    write(root, "AGENTS.md", "- a\n- b")
    sync = make_sync(root, shelf)
    bring(sync)
    (root / "team").mkdir()
    (root / "AGENTS.md").rename(root / "team" / "AGENTS.md")
    (event,) = bring(sync)
    assert (event.event, event.from_name, event.name) == ("renamed", "AGENTS.md", "team/AGENTS.md")
    assert list(shelf.kept) == ["team/AGENTS.md"]


def test_a_file_emptied_says_as_much_as_one_deleted(root: Path, shelf: Shelf) -> None:
    file = write(root, "a.md", "one")
    sync = make_sync(root, shelf)
    bring(sync)
    file.write_text("  \n")
    assert names(bring(sync)) == [("deleted", "a.md")]
    file.write_text("back")
    assert names(bring(sync)) == [("loaded", "a.md")]


def test_a_refused_file_is_asked_again_when_it_or_the_room_changes_and_not_before(root: Path) -> None:
    shelf = Shelf(room=2)
    write(root, "AGENTS.md", "- a\n- b")
    write(root, "SOUL.md", "- c")
    sync = make_sync(root, shelf)
    refused = bring(sync)[1]
    assert (refused.event, refused.name, refused.code) == ("refused", "SOUL.md", "hard_reserve_exceeded")
    assert refused.detail == "1 lines, 0 free"
    asked = len(shelf.calls)
    assert bring(sync) == []
    assert len(shelf.calls) == asked
    assert sync.refused == ("SOUL.md",)
    write(root, "AGENTS.md", "- a")
    assert names(bring(sync)) == [("loaded", "AGENTS.md"), ("loaded", "SOUL.md")]
    assert sync.refused == ()


def test_while_the_server_is_away_no_change_is_lost(root: Path, shelf: Shelf) -> None:
    for number in range(4):
        write(root, f"{number}.md", f"first {number}")
    sync = make_sync(root, shelf)
    shelf.fails_after = 2
    with pytest.raises(TransientError):
        bring(sync)
    assert sync.is_behind
    write(root, "0.md", "changed while nobody answered")
    (root / "1.md").unlink()
    shelf.fails_after = None
    again = make_sync(root, shelf)  # and the watcher was killed meanwhile
    assert names(bring(again)) == [
        ("deleted", "1.md"),
        ("loaded", "0.md"),
        ("loaded", "2.md"),
        ("loaded", "3.md"),
    ]
    assert not again.is_behind
    assert {name: body for name, (body, _) in shelf.kept.items()} == {
        "0.md": b"changed while nobody answered",
        "2.md": b"first 2",
        "3.md": b"first 3",
    }


def test_a_token_that_may_not_write_blames_no_file(root: Path, shelf: Shelf) -> None:
    write(root, "a.md", "one")
    shelf.fails_after, shelf.error = 0, Unauthorized("who?")
    with pytest.raises(Unauthorized):
        bring(make_sync(root, shelf))


def test_a_folder_that_vanished_deletes_nothing(root: Path, shelf: Shelf) -> None:
    write(root, "a.md", "one")
    sync = make_sync(root, shelf)
    bring(sync)
    root.rename(root.parent / "unmounted")
    assert bring(sync) == []
    assert list(shelf.kept) == ["a.md"]


def test_another_policy_sends_the_rules_again_but_not_the_notes(root: Path, shelf: Shelf) -> None:
    write(root, "AGENTS.md", "- a")
    write(root, "note.md", "- b")
    bring(make_sync(root, shelf))
    assert names(bring(make_sync(root, shelf, policy="demote"))) == [("loaded", "AGENTS.md")]


def test_a_name_that_is_not_utf8_is_named_and_left(root: Path, shelf: Shelf) -> None:
    (root / os.fsdecode(b"caf\xe9.md")).write_text("x")
    plan = make_sync(root, shelf).plan()
    assert [(event.event, event.name) for event in plan.unreadable] == [
        ("unreadable", "caf\N{REPLACEMENT CHARACTER}.md")
    ]
    assert plan.size == 0


def test_hidden_folders_tools_and_links_that_lead_out_are_left_alone(root: Path, tmp_path: Path) -> None:
    outside = write(tmp_path, "outside/secret.md", "secret")
    for name in (".git/a.md", "node_modules/x/README.md", ".hidden.md", "kept.md"):
        write(root, name, "x")
    (root / "link.md").symlink_to(outside)
    (root / "own.md").symlink_to(root / "kept.md")
    (root / "loop").symlink_to(root)
    assert list_folder(root, Selection()).names == {"kept.md", "own.md"}


def test_a_broken_ledger_only_costs_a_second_sending(root: Path, shelf: Shelf) -> None:
    write(root, "a.md", "one")
    bring(make_sync(root, shelf))
    (file,) = (root.parent / "home" / "run" / "watch").iterdir()
    for damage in ("", "[]", '{"format": 1, "documents": {"a.md": {"sha": 1}}}', "\x00"):
        file.write_text(damage)
        assert names(bring(make_sync(root, shelf))) == [("loaded", "a.md")]


def test_looking_again_reads_no_file_that_rests(
    root: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, "a.md", "one")
    sync = make_sync(root, shelf)
    later = time.time() + 60
    monkeypatch.setattr(time, "time", lambda: later)
    bring(sync)
    (root / "a.md").chmod(0o000)
    (root / "a.md").chmod(0o644)  # its status changed, so it is read once more
    sync.plan()
    monkeypatch.setattr(Path, "read_bytes", lambda self: pytest.fail(f"{self} was read"))
    assert sync.plan().unchanged == 1


@pytest.mark.parametrize(
    ("path", "patterns", "fits"),
    [
        ("notes/day.md", ["*.md"], True),
        ("notes/day.md", ["/*.md"], False),
        ("drafts/a.md", ["drafts/"], True),
        ("x/drafts/a.md", ["drafts/"], True),
        ("x/drafts/a.md", ["/drafts/"], False),
        ("docs/a/b/draft-1.md", ["docs/**/draft-?.md"], True),
        ("a.MD", ["*.md"], False),
        ("2026-01-02.md", ["[0-9][0-9][0-9][0-9]-*.md"], True),
        ("a.md", ["[!a].md"], False),
        ("b.md", ["[!a].md"], True),
    ],
)
def test_globs_are_those_of_gitignore(path: str, patterns: list[str], fits: bool) -> None:
    assert matches_any(path, patterns) is fits
