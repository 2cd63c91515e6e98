"""Commands about durable memory as a whole: remember, profile, journal, flush."""

import json
from typing import Annotated

import typer

from api.cli.connection import open_client

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    app.command()(remember)
    app.command()(profile)
    app.command()(journal)
    app.command()(flush)


def remember(
    text: Annotated[str, typer.Argument(help="What to keep, in whole sentences.")],
    user: Annotated[str | None, typer.Option("--user", help="Whose memory (user_id).")] = None,
    everybody: Annotated[
        bool, typer.Option("--global", help="For every user of the tenant, instead of one.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Put a memory in without a conversation: a user's, or everybody's. Rules belong into documents instead."""
    from models.errors import InvalidInput

    if (user is None) is not everybody:
        raise InvalidInput("whose memory is it?", remedy="give --user NAME or --global, one of them")
    body = {"text": text, **({"scope": "global"} if everybody else {"user_id": user})}
    with open_client() as client:
        answer = client.call("POST", "/v1/memories", json=body)
    print(json.dumps(answer) if as_json else f"remembered as {answer['id']} in {answer['namespace']}")


def profile(
    user: Annotated[str, typer.Argument(help="Whose profile (user_id).")], as_json: AsJson = False
) -> None:
    """Print what is known of a user before anything is asked: the last session's end, open matters, facts."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    with open_client() as client:
        found = client.call("GET", "/v1/profile", params={"user_id": user})
    if as_json:
        print(json.dumps(found))
        return
    console = Console()
    if not found["lines"]:
        console.print(Text(f"Nothing is known of {user} yet."))
    for line in found["lines"]:
        speaker = f"{line['speaker']}: " if line["speaker"] else ""
        about = (line["kind"], f"{line['value']:.2f}", line["said_at"][:10], f"turn {line['turn_id']}")
        console.print(Text("  ".join(about), style="dim"))
        console.print(Padding(Text(speaker + line["text"]), (0, 0, 0, 2), expand=False))


def journal(
    session: Annotated[str | None, typer.Option("--session", help="Only this session.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="How many, the newest.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Print what hosts said about their sessions' lives: resets, ends, compactions; newest first."""
    from rich.console import Console
    from rich.table import Table

    parameters = {"limit": str(limit)} | ({"session_id": session} if session else {})
    with open_client() as client:
        entries = client.call("GET", "/v1/journal", params=parameters)["entries"]
    if as_json:
        print(json.dumps({"entries": entries}))
        return
    table = Table("when", "event", "session", "reason", box=None)
    for entry in entries:
        table.add_row(entry["recorded_at"], entry["event"], entry["session_id"], entry["reason"] or "")
    Console().print(table if entries else "No host has said anything yet.")


def flush(
    user: Annotated[str, typer.Option("--user", "--namespace", help="Whose durable memory goes.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a user's durable memories and dreams. What was said stays in the raw record; `erase` takes that too."""
    from api.cli.wording import count_of
    from models.errors import ServiceError

    if not yes:
        typer.confirm(f"Forget every memory of '{user}'?", abort=True)
    message = {"jsonrpc": "2.0", "id": 1, "method": "flush_namespace", "params": {"userId": user}}
    with open_client() as client:
        answer = client.call("POST", "/rpc", json=message)
    if "error" in answer:
        raise ServiceError(answer["error"]["message"], remedy=answer["error"].get("data", {}).get("remedy"))
    found = {key: answer["result"][key] for key in ("forgotten", "dreams")}
    print(
        json.dumps(found)
        if as_json
        else f"{count_of(found['forgotten'], 'memory', 'memories')} and {count_of(found['dreams'], 'dream')} forgotten."
    )
