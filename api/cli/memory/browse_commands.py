"""Commands that look at what is kept and put it right: memories, guidance, sessions, namespaces."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Any
from uuid import UUID

import typer

from api.cli.connection import open_client, walk_pages

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
User = Annotated[str | None, typer.Option("--user", help="Only this user's.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="At most so many.")]
Reason = Annotated[str | None, typer.Option("--reason", help="Written down with it.")]
PAGE = 500
TEXT_SHOWN = 160
TABLE_COLUMNS = 100  # below this an id of 36 characters leaves the words no room beside it


def register(app: typer.Typer) -> None:
    """Add these groups to the root."""
    groups: dict[str, tuple[str, dict[str, Callable[..., None]]]] = {
        "memories": (
            "What is remembered for good.",
            {"list": list_memories, "show": show_memory, "correct": correct_memory, "forget": forget_memory},
        ),
        "guidance": (
            "Rules and wishes that users spoke.",
            {"list": list_guidance, "correct": correct_guidance, "forget": forget_guidance},
        ),
        "sessions": ("Conversations.", {"list": list_sessions, "show": show_session}),
        "namespaces": ("Whose memory there is.", {"list": list_namespaces}),
    }
    for name, (words, commands) in groups.items():
        group = typer.Typer(help=words, no_args_is_help=True)
        group.callback()(_group)
        for command, function in commands.items():
            group.command(command)(function)
        app.add_typer(group, name=name, help=words)


def _group() -> None:
    return None


def list_memories(
    user: User = None,
    session: Annotated[str | None, typer.Option("--session", help="Only of this session.")] = None,
    forgotten: Annotated[bool, typer.Option("--forgotten", help="Forgotten ones too.")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Memories, those made last first."""
    asked = {"user_id": user, "session_id": session, "forgotten": "true" if forgotten else None}
    found = _list("/v1/memories", "memories", asked, limit)
    _show_rows(
        found,
        "memories",
        as_json,
        {
            "id": lambda one: one["id"],
            "whose": lambda one: one["namespace"],
            "said": lambda one: one["last_seen_at"][:10],
            "text": lambda one: _shorten(one["text"]) + _standing(one),
        },
    )


def show_memory(
    memory: Annotated[str, typer.Argument(metavar="ID", help="As 'longtail memories list' shows it.")],
    as_json: AsJson = False,
) -> None:
    """One memory: its words, why it was kept, which turns it rests on, what it said before."""
    from api.cli.wording import count_of

    path = f"/v1/memories/{_read_id(memory, 'memories')}"
    with open_client() as client:
        found = client.call("GET", path, params={"explain": "true"})
    if as_json:
        print(json.dumps(found))
        return
    print(found["text"])
    print(
        f"  of {found['namespace']}, said {count_of(found['mention_count'], 'time')}, last {found['last_seen_at'][:16]}"
    )
    if newer := found["superseded"]:
        print(f"  superseded on {newer['at'][:10]} by turn {newer['by_turn_id']}: {_shorten(newer['says'])}")
        print(f"    instead of: {_shorten(newer['instead_of'])} ({newer['reason']}: {newer['about']})")
    why = found["explain"] or {}
    if why.get("decision"):
        print(
            f"  kept at score {found['gate_score']:.2f}: {', '.join(why['decision']['reasons']) or 'no reason'}"
        )
    for source in why.get("sources", []):
        print(f"  session {source['session_id']}, turn {source['position']}: {_shorten(source['text'])}")
    for before in why.get("revisions", []):
        print(f"  until {before['replaced_at'][:16]}: {_shorten(before['text'])}")


def correct_memory(
    memory: Annotated[str, typer.Argument(metavar="ID", help="As 'longtail memories list' shows it.")],
    text: Annotated[str, typer.Argument(help="What it says from now on.")],
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Give a memory other words. What was said stays in the raw record, and the old words in its history."""
    path = f"/v1/memories/{_read_id(memory, 'memories')}"
    with open_client() as client:
        found = client.call("PATCH", path, json={"text": text} | ({"reason": reason} if reason else {}))
    print(json.dumps(found) if as_json else f"{found['id']} says now: {found['text']}")


def forget_memory(
    memory: Annotated[str, typer.Argument(metavar="ID", help="As 'longtail memories list' shows it.")],
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Take a memory out of recall for good, with the turns that said it. The raw record keeps them."""
    _forget("memories", memory, reason, as_json)


def list_guidance(
    user: User = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Superseded, ended and forgotten ones too.")
    ] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Spoken rules and wishes, those noted last first."""
    found = _list("/v1/guidance", "guidance", {"user_id": user, "standing": str(not show_all).lower()}, limit)
    _show_rows(
        found,
        "guidance",
        as_json,
        {
            "id": lambda one: one["id"],
            "whose": lambda one: one["namespace"],
            "said": lambda one: one["stated_at"][:10],
            "until": lambda one: (one["expires_at"] or "")[:10],
            "text": lambda one: _name(one) + _shorten(one["text"]) + _standing(one),
        },
    )


def _name(one: dict[str, Any]) -> str:
    """Before the words of a wish: who said it, where the turn has a name."""
    return f"{one['speaker']}: " if one.get("speaker") else ""


def _standing(one: dict[str, Any]) -> str:
    """Behind the words of a memory or a wish: why it stands no more."""
    if one["forgotten_at"]:
        return " (forgotten: stands no more)"
    if one["superseded"]:
        return f" (superseded on {one['superseded']['at'][:10]} by: {_shorten(one['superseded']['says'])})"
    ends_at = one.get("expires_at")
    has_ended = ends_at is not None and datetime.fromisoformat(ends_at) <= datetime.now(UTC)
    return " (stands no more)" if one.get("superseded_by") or has_ended else ""


def correct_guidance(
    guidance: Annotated[str, typer.Argument(metavar="ID", help="As 'longtail guidance list' shows it.")],
    text: Annotated[str, typer.Argument(help="What it says from now on.")],
    as_json: AsJson = False,
) -> None:
    """Give a spoken rule other words. What was said stays in the raw record."""
    path = f"/v1/guidance/{_read_id(guidance, 'guidance')}"
    with open_client() as client:
        found = client.call("PATCH", path, json={"text": text})
    print(json.dumps(found) if as_json else f"{found['id']} says now: {found['text']}")


def forget_guidance(
    guidance: Annotated[str, typer.Argument(metavar="ID", help="As 'longtail guidance list' shows it.")],
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Let a spoken rule stand no more."""
    _forget("guidance", guidance, reason, as_json)


def list_sessions(user: User = None, limit: Limit = 50, as_json: AsJson = False) -> None:
    """Sessions by name, with what each holds."""
    _show_rows(
        _list("/v1/sessions", "sessions", {"user_id": user}, limit),
        "sessions",
        as_json,
        {
            "session": lambda one: one["session_id"],
            "whose": lambda one: one["namespace"],
            "turns": lambda one: str(one["turns"]),
            "in summaries": lambda one: str(one["covered_turns"]),
            "last turn": lambda one: one["last_turn_at"][:16],
        },
    )


def show_session(
    session: Annotated[str, typer.Argument(help="The session.")], as_json: AsJson = False
) -> None:
    """One session: whose it is, how long, how far its compaction came. 'longtail history' prints its turns."""
    with open_client() as client:
        found = client.read_session(session)
    if as_json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name.replace('_', ' '):<24} {'' if value is None else value}".rstrip())


def list_namespaces(limit: Limit = 50, as_json: AsJson = False) -> None:
    """Namespaces by name, with what each holds."""
    _show_rows(
        _list("/v1/namespaces", "namespaces", {}, limit),
        "namespaces",
        as_json,
        {
            "namespace": lambda one: one["namespace"],
            **{name: _count(name) for name in ("sessions", "turns", "memories", "guidance")},
            "last turn": lambda one: (one["last_turn_at"] or "")[:16],
        },
    )


def _count(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda one: str(one[name])


def _list(path: str, key: str, asked: dict[str, str | None], limit: int) -> list[dict[str, Any]]:
    """The first rows of a list that comes in pages."""

    def ask(cursor: str | None) -> dict[str, Any]:
        wanted = {**asked, "cursor": cursor, "limit": str(min(limit, PAGE))}
        given = {name: value for name, value in wanted.items() if value is not None}
        return client.call("GET", path, params=given)

    with open_client() as client:
        return list(islice(walk_pages(ask, key), limit))


def _show_rows(
    found: Sequence[dict[str, Any]],
    key: str,
    as_json: bool,
    columns: dict[str, Callable[[dict[str, Any]], str]],
) -> None:
    """A table for a person, in a narrow terminal the words below their id; or the answer for a script."""
    if as_json:
        print(json.dumps({key: found}))
        return
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not found:
        console.print("There is no guidance." if key == "guidance" else f"There are no {key}.")
        return
    if "text" in columns and console.width < TABLE_COLUMNS:
        for one in found:
            shown = {name: show(one) for name, show in columns.items()}
            words = shown.pop("text")
            console.print(Text("  ".join(filter(None, shown.values()))))
            console.print(Padding(Text(words), (0, 0, 0, 2), expand=False))
        return
    table = Table(box=None)
    for name in columns:
        table.add_column(name, no_wrap=name == "id", overflow="fold")
    for one in found:
        table.add_row(*(Text(show(one)) for show in columns.values()))
    console.print(table)


def _forget(noun: str, given: str, reason: str | None, as_json: bool) -> None:
    path = f"/v1/{noun}/{_read_id(given, noun)}"
    with open_client() as client:
        answer = client.call("DELETE", path, params={"reason": reason} if reason else {})
    print(json.dumps(answer) if as_json else f"{answer['id']} is forgotten")


def _read_id(given: str, noun: str) -> UUID:
    from api.cli.ids import read_id

    return read_id(given, remedy=f"'longtail {noun} list' shows the ids")


def _shorten(text: str) -> str:
    from api.cli.wording import shorten

    return shorten(text, TEXT_SHOWN)
