"""Commands that read back and compact: history, grep, expand, compact, lineage verify."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.connection import open_client, walk_pages

if TYPE_CHECKING:
    from rich.console import Console

    from api.client import ServiceClient

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
lineage = typer.Typer(help="Prove that compaction lost nothing.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    for command in (history, grep, expand, compact):
        app.command()(command)
    app.add_typer(lineage, name="lineage")


def history(
    session: Annotated[str, typer.Argument(help="The session to read.")],
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="At most so many turns, the newest.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the raw turns of a session, word for word; a dot marks those the summary named above them covers."""
    from rich.console import Console
    from rich.text import Text

    with open_client() as client:
        turns = list(_walk_history(client, session, limit))
        named = dict.fromkeys(turn["summary_id"] for turn in turns if turn["summary_id"])
        texts = {} if as_json else {one: client.read_summary(one)["text"] for one in named}
    if as_json:
        print(json.dumps({"turns": turns}))
        return
    console = Console()
    above: str | None = None
    for turn in turns:
        if turn["summary_id"] != above:
            above = turn["summary_id"]
            if above:  # what 'expand' takes
                console.print(Text(f"summary {above}", style="dim"))
                console.print(Text(f"  {texts[above]}", style="dim"), soft_wrap=True)
        _show_turn(console, turn)


def _walk_history(client: "ServiceClient", session: str, limit: int | None) -> Iterator[dict[str, Any]]:
    """The turns of a session, or its newest, oldest first."""
    first: str | None = None
    if limit is not None and (before := client.read_session(session)["turns"] - limit) > 0:
        first = str(before - 1)  # positions count from 0
    return walk_pages(lambda cursor: client.list_turns(session, cursor=cursor or first), "turns")


def _show_turn(console: "Console", turn: dict[str, Any]) -> None:
    from rich.text import Text

    mark = "·" if turn.get("summary_id") else " "
    head = Text(f"{mark} {turn['ts'][:16]} {turn['name'] or turn['role']}: ", style="bold")
    console.print(head + Text(turn["content"], style=""), soft_wrap=True)


def grep(
    pattern: Annotated[str, typer.Argument(help="What to look for.")],
    regex: Annotated[
        bool, typer.Option("-E", "--regex", help="A regular expression, as PostgreSQL knows them.")
    ] = False,
    ignore_case: Annotated[
        bool, typer.Option("-i", "--ignore-case", help="Capitals and small letters are the same.")
    ] = False,
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="Only this user's turns.")] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, help="At most so many matches, the newest.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """Search every raw turn, covered or not, newest first. Exits 1 when nothing matches."""
    from rich.console import Console
    from rich.text import Text

    asked = {
        "pattern": pattern,
        "regex": regex,
        "ignore_case": ignore_case,
        "session_id": session,
        "user_id": user,
    }
    matches: list[dict[str, Any]] = []
    cursor: str | None = None
    is_complete = False
    with open_client() as client:
        while len(matches) < limit and not is_complete:
            answer = client.grep(**asked, limit=limit - len(matches), cursor=cursor)
            matches += answer["matches"]
            cursor, is_complete = answer["next_cursor"], answer["is_complete"]
    if as_json:
        print(json.dumps({"matches": matches, "is_complete": is_complete, "next_cursor": cursor}))
    else:
        console = Console()
        for match in matches:
            line = Text(match["excerpt"])
            line.stylize("bold red", match["match_start"], match["match_end"])
            where = f"{match['session_id']}:{match['position']} {match['name'] or match['role']}: "
            console.print(Text(where, style="cyan") + line, soft_wrap=True)
    if not matches:
        raise typer.Exit(1)


def expand(
    summary: Annotated[str, typer.Argument(help="The id of a summary.")],
    depth: Annotated[
        int | None, typer.Option("--depth", min=1, help="How many edges down; all by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what a summary covers, down to the raw turns."""
    from rich.console import Console
    from rich.text import Text

    from api.cli.ids import read_id

    named = "'longtail history SESSION' and 'longtail compact --json' name the ids"
    summary = str(read_id(summary, noun="of a summary", remedy=named))
    with open_client() as client:
        answer = client.expand(summary, depth=depth)
        cursor = answer["next_cursor"]
        while cursor is not None:
            page = client.expand(summary, depth=depth, cursor=cursor)
            answer["turns"] += page["turns"]
            cursor = page["next_cursor"]
        answer.pop("next_cursor")
        whole = client.read_summary(summary)
    answer["text"] = whole["text"]
    if as_json:
        print(json.dumps(answer))
        return
    console = Console()
    console.print(Text(answer["text"], style="bold"), soft_wrap=True)
    for below in answer["summaries"]:
        head = f"level {below['level']}, {below['turn_count']} turns, confidence {below['confidence']:.2f}"
        console.print(Text(f"{below['id']} ({head})", style="bold"))
        console.print(Text(below["text"]), soft_wrap=True)
    for turn in answer["turns"]:
        _show_turn(console, turn)


def compact(
    session: Annotated[str, typer.Argument(help="The session to compact.")],
    wait: Annotated[bool, typer.Option(help="Wait for the result.")] = True,
    force: Annotated[
        bool,
        typer.Option("--force", help="Cover everything but the base tail, however short the session is."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Cover the older turns of a session with summaries; no turn is changed."""
    from rich.console import Console

    console = Console(stderr=True)
    # interrupted, the command ends and the compaction goes on
    with open_client() as client, console.status("compacting; Ctrl-C stops the waiting, not the work"):
        answer = client.compact(session, wait=wait, force=force)
    if as_json:
        print(json.dumps(answer))
        return
    if answer["did_compact"]:
        typer.echo(
            f"{answer['turns_covered']} turns covered by {answer['clusters_formed']} summaries, "
            f"mean confidence {answer['mean_confidence']:.2f}; {answer['clusters_declined']} clusters declined"
        )
    else:
        typer.echo(answer["reason"] or "nothing to compact")


@lineage.callback()
def _lineage() -> None:
    """Prove that compaction lost nothing."""


@lineage.command()
def verify(
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Drop broken summaries; their turns are compacted again. Turns stay."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check on the live database that every summary leads to raw turns and every turn is reachable.

    Exits 1 when something is wrong (after --repair: when it still is).
    """
    from rich.console import Console

    with open_client() as client, Console(stderr=True).status("checking") as status:
        report = _verify(client, session, repair=repair, tell=status.update)
        if repair and report["violations"]:
            report["repaired"] = report["violations"]
            report["violations"] = _verify(client, session, repair=False, tell=status.update)["violations"]
        held = _count_held(client, session)
    if as_json:
        print(json.dumps(report))
    else:
        found = "clean" if not report["violations"] else f"{len(report['violations'])} violations"
        proved = (
            f"{report['summaries']} summaries in {report['sessions']} of {held['sessions']} sessions, which hold "
            f"{report['turns']} of {held['turns']} turns"
            if report["summaries"]
            else f"no summary in {held['sessions']} sessions, so each of their {held['turns']} turns stands for itself"
        )
        typer.echo(f"{proved}: {found}")
        for one in report.get("repaired", []):
            typer.echo(f"repaired: {one['kind']} in session {one['session_id']}: {one['detail']}")
        for one in report["violations"]:
            typer.echo(f"{one['kind']} in session {one['session_id']}: {one['detail']}")
    if report["violations"]:
        raise typer.Exit(1)


def _count_held(client: "ServiceClient", session: str | None) -> dict[str, int]:
    """How many sessions and turns there are, summaries or not."""
    if session is not None:
        return {"sessions": 1, "turns": int(client.read_session(session)["turns"])}
    held = {"sessions": 0, "turns": 0}
    for one in walk_pages(
        lambda cursor: client.call("GET", "/v1/namespaces", params={"cursor": cursor} if cursor else {}),
        "namespaces",
    ):
        held = {key: count + one[key] for key, count in held.items()}
    return held


def _verify(
    client: "ServiceClient", session: str | None, *, repair: bool, tell: Callable[[str], None]
) -> dict[str, Any]:
    """The whole tenant, a slice of sessions at a time."""
    report: dict[str, Any] = {
        "sessions": 0,
        "summaries": 0,
        "turns": 0,
        "violations": [],
        "summaries_dropped": 0,
    }
    cursor: str | None = None
    while True:
        part = client.verify_lineage(session_id=session, repair=repair, cursor=cursor)
        for key in report:
            report[key] += part[key]
        tell(f"checked {report['sessions']} sessions, {report['turns']} turns")
        cursor = part["next_cursor"]
        if cursor is None:
            return report
