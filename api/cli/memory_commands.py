"""Commands that put turns in and get prompts out: ingest, assemble, search, demo."""

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from api.client import ServiceClient

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
User = Annotated[str | None, typer.Option("--user", help="Whose memory (user_id).")]
Agent = Annotated[str | None, typer.Option("--agent", help="Which agent (agent_id).")]


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    app.command()(ingest)
    app.command()(assemble)
    app.command()(search)
    app.command()(demo)


def _client(*, retry_seconds: float = 30.0) -> "ServiceClient":
    from api.client import ServiceClient
    from models.settings import get_settings

    return ServiceClient.from_settings(get_settings(), retry_seconds=retry_seconds)


def ingest(
    file: Annotated[
        Path, typer.Argument(help="JSON lines: session_id, role, content, and more; see docs/ingest.md.")
    ],
    wait: Annotated[bool, typer.Option("--wait", help="Wait until everything is remembered.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Send from the first line again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Send a file of turns. Interrupt it, run it again: it goes on where it was, and nothing is kept twice."""
    from rich.console import Console
    from rich.progress import Progress

    from api.cli.progress import IngestMark
    from api.cli.turn_files import check_turn_file, read_batches
    from models.settings import get_settings

    console = Console(stderr=as_json)
    lines = check_turn_file(file)
    mark = IngestMark(get_settings().home, file)
    done = 0 if restart else mark.read()
    accepted = duplicates = 0
    with _client() as client, Progress(console=console, disable=as_json) as progress:
        bar = progress.add_task("sending", total=lines, completed=min(done, lines))
        for batch in read_batches(file, after_line=done):
            answer = client.post_turns(batch.session_id, batch.turns, **batch.identity)
            accepted += len(answer["accepted"])
            duplicates += len(answer["duplicates"])
            mark.write(batch.end_line)
            progress.advance(bar, batch.lines)
        if wait:
            wait_until_remembered(client, progress)
    result = {"lines": lines, "skipped": min(done, lines), "accepted": accepted, "duplicates": duplicates}
    if as_json:
        print(json.dumps(result))
    else:
        resumed = f", {result['skipped']} sent by an earlier run" if result["skipped"] else ""
        console.print(f"{accepted} turns accepted, {duplicates} known already{resumed}.")


def wait_until_remembered(client: "ServiceClient", progress: Any, *, timeout_seconds: float = 600.0) -> None:
    """Follow the pipeline until nothing waits."""
    from models.errors import TransientError

    pending = client.status()["pending"]
    bar = progress.add_task("remembering", total=max(pending, 1))
    deadline = time.monotonic() + timeout_seconds
    most = pending
    while pending:
        if time.monotonic() > deadline:
            raise TransientError(
                f"{pending} turns still wait after {timeout_seconds:.0f} s",
                remedy="nothing is lost; look at 'longtail status' and 'longtail logs'",
            )
        time.sleep(0.1)
        pending = client.status()["pending"]
        most = max(most, pending)
        progress.update(bar, total=most, completed=most - pending)
    progress.update(bar, total=max(most, 1), completed=max(most, 1))


def assemble(
    session: Annotated[str, typer.Option("--session", help="The session to assemble for.")],
    query: Annotated[str, typer.Option("--query", help="What the next model call is about.")],
    budget: Annotated[int, typer.Option("--budget", help="Tokens the prompt may cost.")] = 4000,
    user: User = None,
    agent: Agent = None,
    tokenizer: Annotated[str, typer.Option(help="'chars' or the name of a tokenizer file.")] = "chars",
    explain: Annotated[
        bool, typer.Option("--explain", help="With --json: every candidate and its score.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the prompt for a model call, and how its budget was spent."""
    from rich.console import Console

    with _client() as client:
        answer = client.assemble(
            session_id=session,
            query=query,
            budget_tokens=budget,
            user_id=user,
            agent_id=agent,
            tokenizer=tokenizer,
            explain=explain,
        )
    if as_json:
        print(json.dumps(answer))
    else:
        show_assembly(Console(), answer)


def show_assembly(console: "Console", answer: dict[str, Any]) -> None:
    """The prompt, a bar per tier, and whatever is missing."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    console.rule("prompt")
    console.print(Text(answer["text"].rstrip() or "(empty)"), soft_wrap=True)
    console.rule()
    budget = answer["budget"]
    table = Table(box=None, padding=(0, 1))
    for heading in ("tier", "tokens", "", "of the budget"):
        table.add_column(heading, justify="right" if heading == "tokens" else "left")
    for tier in ("hard", "soft", "tail", "guidance", "recall", "used"):
        bar = ProgressBar(total=budget["total"], completed=min(budget[tier], budget["total"]), width=40)
        share = f"{budget[tier] / budget['total']:.0%}"
        table.add_row(
            tier, str(budget[tier]), bar, f"{share} of {budget['total']}" if tier == "used" else share
        )
    console.print(table)
    for miss in answer["degraded"]:
        console.print(Text(f"missing: {miss['code']}: {miss['detail']}", style="yellow"))
    if answer["pending"]:
        console.print(
            f"{answer['pending']} items are not remembered yet ({answer['lag_seconds']:.1f} s behind)"
        )
    console.print(f"how it came about: longtail explain {answer['assembly_id']}", highlight=False)


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    user: User = None,
    agent: Agent = None,
    session: Annotated[
        str | None, typer.Option("--session", help="The session whose memory to search.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="How many results.")] = 10,
    by_session: Annotated[
        bool, typer.Option("--by-session", help="One result a session, the best sessions first.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search memory by meaning, words and names."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    with _client() as client:
        answer = client.search(
            query=query,
            user_id=user,
            agent_id=agent,
            session_id=session,
            k=k,
            group_by="session" if by_session else None,
        )
    if as_json:
        print(json.dumps(answer))
        return
    console = Console()
    table = Table("score", "kind", "when", "text", box=None)
    for hit in answer["results"]:
        table.add_row(
            f"{hit['score']:.3f}", hit["kind"], hit["ts"][:16], Text(" ".join(hit["text"].split())[:200])
        )
    console.print(table if answer["results"] else "nothing found")
    for miss in answer["degraded"]:
        console.print(Text(f"missing: {miss['code']}: {miss['detail']}", style="yellow"))


def demo(
    start: Annotated[
        bool, typer.Option("--start", help="Start the stack first if it is not running.")
    ] = False,
    budget: Annotated[int, typer.Option("--budget", help="Tokens the prompt may cost.")] = 900,
) -> None:
    """Play a short conversation through the real pipeline and show the prompt it leads to."""
    from rich.console import Console

    from api.cli.stack_commands import down, up

    console = Console()
    is_ours = start and not _answers()
    try:
        if is_ours:
            up(detach=True)
        play_sample(console, budget=budget)
        if is_ours and sys.stdout.isatty() and not os.environ.get("CI"):
            console.print("Longtail is running; Ctrl-C stops it.")
            while True:
                time.sleep(3600)
    except KeyboardInterrupt:
        console.print("stopping")
    finally:
        if is_ours:
            down()


def _answers() -> bool:
    """Whether a Longtail answers at the address this machine's settings point to."""
    from models.errors import ServiceError

    try:
        with _client(retry_seconds=0) as client:
            client.call("GET", "/healthz")
    except ServiceError:
        return False
    return True


def play_sample(console: "Console", *, budget: int) -> None:
    """Rules, two conversations, and one question that needs them all."""
    from importlib import resources

    from rich.progress import Progress

    run = time.strftime("%Y%m%d-%H%M%S")
    user = f"demo-{run}"
    sample = resources.files("api.cli") / "sample"
    turns = [json.loads(line) for line in (sample / "conversation.jsonl").read_text().splitlines()]
    with _client() as client:
        loaded = client.put_document("rules.md", (sample / "rules.md").read_text(), user_id=user)
        console.print(
            f"rules.md: {loaded['hard']} hard rules, {loaded['soft']} soft ones, {loaded['lore']} passages of lore"
        )
        with Progress(console=console) as progress:
            bar = progress.add_task("talking", total=len(turns))
            for turn in turns:
                session = f"{turn.pop('session_id')}-{run}"
                client.post_turns(session, [turn], user_id=user)
                progress.advance(bar)
            wait_until_remembered(client, progress)
        question = "Can you refit Brest now? What did we agree about how many days of readings it needs?"
        console.print(f"\nnext question: [bold]{question}[/bold]")
        answer = client.assemble(
            session_id=f"today-{run}", query=question, budget_tokens=budget, user_id=user
        )
    show_assembly(console, answer)
