"""Commands that erase for good, with progress, and tell what was erased."""

import json
import sys
import time
from typing import Annotated, Any, Literal
from uuid import UUID

import typer

from api.cli.connection import open_client

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
POLL_SECONDS = 0.2
# Tables whose name does not say what a row is.
PLAIN_NAMES = {"work": "queue entries", "forgotten": "forgotten turns"}
erasures = typer.Typer(help="What was erased, and what is being erased.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    app.command()(erase)
    erasures.command("list")(list_erasures)
    erasures.command("show")(show_erasure)
    app.add_typer(erasures, name="erasures")


def erase(
    name: Annotated[
        str, typer.Argument(help="The namespace, as a user's id; or the session, memory or document.")
    ],
    kind: Annotated[
        Literal["namespace", "session", "memory", "document"], typer.Option("--kind", help="What it is.")
    ] = "namespace",
    user: Annotated[str | None, typer.Option("--user", help="Whose document it is.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Which agent's document it is.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without this, say what would go.")] = False,
    reason: Annotated[str | None, typer.Option("--reason", help="Written down with the erasure.")] = None,
    as_json: AsJson = False,
) -> None:
    """Erase a user, session, memory or document for good, and all that was made from it. The erasure is written down.

    Ctrl-C ends the waiting, not the work: 'longtail erasures show ID' tells how far it is.
    """
    from models.errors import InvalidInput

    wanted: dict[str, Any] = {
        "kind": kind,
        "name": name,
        "user_id": user,
        "agent_id": agent,
        "dry_run": dry_run or not yes,
        "confirm": name if yes else None,
        "reason": reason,
        "wait": False,
    }
    answer = _follow({key: value for key, value in wanted.items() if value is not None})
    gone = _say_rows(answer["counts"])
    if not (yes or dry_run):
        raise InvalidInput(
            f"erasing {kind} '{name}' would remove {gone or 'nothing'}, for good",
            remedy="repeat it with --yes if that is what you want; export it first",
        )
    answer["spooled"] = 0 if dry_run else _forget_spooled(kind, name)
    if as_json:
        print(json.dumps(answer))
        return
    print(f"'{name}' {'would lose' if dry_run else 'is erased'}: {gone or 'nothing was left of it'}.")
    if answer["spooled"]:
        print(f"{answer['spooled']} calls about it waited in this machine's spool; they are gone too.")


def _say_rows(counts: dict[str, int]) -> str:
    """How many rows of which tables, the most first.

    >>> _say_rows({"work": 9, "forgotten": 1})
    '9 queue entries, 1 forgotten turn'
    >>> _say_rows({"sessions": 1, "turns": 6000, "gate_decisions": 2, "memories": 1, "journal": 0})
    '6,000 turns, 2 gate decisions, 1 session, 1 memory'
    """
    from api.cli.wording import count_of

    rows = []
    for table, count in sorted(counts.items(), key=lambda row: -row[1]):
        many = PLAIN_NAMES.get(table) or table.replace("_", " ")
        one = many[:-3] + "y" if many.endswith("ies") else many.removesuffix("s")
        rows += [count_of(count, one, many)] if count else []
    return ", ".join(rows)


def _forget_spooled(kind: str, name: str) -> int:
    """What hooks of this machine left for the API, and is about the namespace or session that was erased."""
    from urllib.parse import unquote

    from api.host.spool import Spool
    from models.domain.records import Identity, durable_namespace
    from models.settings import get_settings

    settings = get_settings()
    if kind not in ("namespace", "session") or not (settings.home / "spool").is_dir():
        return 0

    def is_about(call: dict[str, Any]) -> bool:
        parts = str(call.get("path", "")).split("/")
        session = unquote(parts[3]) if parts[:3] == ["", "v1", "sessions"] and len(parts) > 3 else ""
        body = call["body"] if isinstance(call.get("body"), dict) else {}
        session = session or str(body.get("session_id", ""))
        if kind == "session":
            return session == name
        said = {part: body.get(part) for part in ("user_id", "session_key", "agent_id")}
        identity = Identity(**{part: value for part, value in said.items() if isinstance(value, str)})
        return durable_namespace(identity, session) == name

    return Spool(str(settings.home), max_bytes=settings.spool_max_bytes).forget(is_about)


def _follow(body: dict[str, Any]) -> dict[str, Any]:
    """Ask for it, and show how far it is until it is done."""
    from rich.console import Console
    from rich.progress import Progress

    doing = "counting" if body["dry_run"] else "erasing"
    with open_client() as client, Progress(console=Console(stderr=True), transient=True) as progress:
        answer = client.call("POST", "/v1/erasures", json=body)
        bar = progress.add_task(doing, total=None)
        try:
            while not answer["is_done"]:
                time.sleep(POLL_SECONDS)
                answer = client.call("GET", f"/v1/erasures/{answer['id']}")
                progress.update(bar, completed=answer["step"], total=answer["steps"] or None)
        except KeyboardInterrupt:
            if not body["dry_run"]:
                print(
                    f"It goes on; 'longtail erasures show {answer['id']}' tells how far it is.",
                    file=sys.stderr,
                )
            raise
    return answer


def list_erasures(
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="At most so many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """What was erased, newest first: when, by which token, why, how much. Of what it was, nothing is left."""
    with open_client() as client:
        found = client.call("GET", "/v1/erasures", params={"limit": str(limit)})
    if as_json:
        print(json.dumps(found))
        return
    for one in found["erasures"]:
        why = f" ({one['reason']})" if one["reason"] else ""
        rows = sum(one["counts"].values())
        print(
            f"{one['erased_at'][:16]}  {one['id']}  {one['kind']} '{one['target'] or one['namespace']}'{why}: {rows} rows"
        )
    if not found["erasures"]:
        print("Nothing was erased.")


def show_erasure(
    erasure: Annotated[str, typer.Argument(metavar="ID", help="As 'longtail erase' named it.")],
    as_json: AsJson = False,
) -> None:
    """How far an erasure is, or what went."""
    from models.errors import InvalidInput

    try:
        wanted = UUID(erasure)
    except ValueError as error:
        raise InvalidInput(
            f"'{erasure[:64]}' is no id", remedy="'longtail erasures list' shows the ids"
        ) from error
    with open_client() as client:
        found = client.call("GET", f"/v1/erasures/{wanted}")
    if as_json:
        print(json.dumps(found))
        return
    gone = _say_rows(found["counts"])
    state = (
        gone or "nothing was left of it"
        if found["is_done"]
        else f"step {found['step']} of {found['steps'] or '?'}"
    )
    print(f"{found['kind']} '{found['name']}': {state}")
