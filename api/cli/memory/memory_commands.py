"""Commands that put turns in and get prompts out: ingest, assemble, search, demo."""

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.connection import open_client
from api.cli.wording import shorten

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from rich.console import Console

    from api.client import ServiceClient

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
User = Annotated[str | None, typer.Option("--user", help="Whose memory (user_id).")]
Agent = Annotated[str | None, typer.Option("--agent", help="Which agent (agent_id).")]

TEXT_SHOWN = 200
OF_SOMEBODY = ("tail", "guidance", "recall")  # the tiers that hold what a session or a user said


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    app.command()(ingest)
    app.command()(assemble)
    app.command()(search)
    app.command()(demo)


def ingest(
    file: Annotated[
        str,
        typer.Argument(
            help="JSON lines: session_id, role, content, and more; see docs/ingest.md. '-' is standard input."
        ),
    ],
    wait: Annotated[bool, typer.Option("--wait", help="Wait until everything is remembered.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Send from the first line again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Send a file of turns. Interrupt it, run it again: it goes on where it was, and nothing is kept twice.

    Exits 1 when the server keeps other words under an id of the file: those it has stay.
    """
    from rich.console import Console
    from rich.progress import Progress

    from api.cli.memory.turn_files import STANDARD_INPUT, check_turn_file, open_turn_file
    from api.cli.memory.turn_sending import SendRun
    from api.cli.wording import count_of

    console = Console(stderr=as_json)
    with (
        open_turn_file(file) as path,
        open_client() as client,
        Progress(console=Console(stderr=True), disable=as_json) as progress,
    ):
        lines = check_turn_file(path)
        run = SendRun(client, path, is_resumable=file != STANDARD_INPUT)
        done = 0 if restart else run.find_start()
        bar = progress.add_task("sending", total=lines, completed=min(done, lines))
        for sent in run.send(after_line=done):
            progress.advance(bar, sent)
        if wait:
            wait_until_remembered(client, progress)
    skipped = lines - run.lines
    if as_json:
        counts = {"lines": lines, "skipped": skipped, "accepted": run.accepted, "duplicates": run.duplicates}
        print(json.dumps({**counts, "erased": run.erased, "differing": run.differing}))
    else:
        resumed = f", {skipped} sent by an earlier run" if skipped else ""
        if lines:
            accepted = count_of(run.accepted, "turn")
            console.print(f"{accepted} accepted, {run.duplicates} known already{resumed}.")
        else:
            console.print(f"{file if file != STANDARD_INPUT else 'standard input'} holds no turns.")
        if run.ignored:
            console.print(f"{run.ignored} were left out by the server: heartbeats, or sessions it ignores.")
        if run.erased:
            console.print(f"{run.erased} were erased from this memory before, and stay erased.")
        show_differing(run.differing)
    if run.differing:
        raise typer.Exit(1)


def show_differing(differing: list[dict[str, str]]) -> None:
    """Turns whose id the server knows with other words."""
    if not differing:
        return
    have = "turn has" if len(differing) == 1 else "turns have"
    print(f"error: {len(differing)} {have} an id that is known with other words:", file=sys.stderr)
    for one in differing:
        print(f"  session {one['session_id']}, id {one['id']}", file=sys.stderr)
    print(
        "what to do: nothing is changed once it is kept; send what was said anew under an id of its own",
        file=sys.stderr,
    )


def wait_until_remembered(
    client: "ServiceClient",
    progress: Any,
    *,
    stall_seconds: float = 120.0,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Follow the pipeline until nothing waits, however long that takes, unless nothing moves any more."""
    from models.errors import TransientError

    pending = client.status()["pending"]
    bar = progress.add_task("remembering", total=max(pending, 1))
    moved_at = clock()
    most = pending
    while pending:
        if clock() > moved_at + stall_seconds:
            raise TransientError(
                f"{pending} turns wait, and none was remembered for {stall_seconds:.0f} s",
                remedy="nothing is lost; look at 'longtail status' and 'longtail logs'",
            )
        time.sleep(0.1)
        before, pending = pending, client.status()["pending"]
        if pending != before:
            moved_at = clock()
        most = max(most, pending)
        progress.update(bar, total=most, completed=most - pending)
    progress.update(bar, total=max(most, 1), completed=max(most, 1))


def assemble(
    session: Annotated[str, typer.Option("--session", help="The session to assemble for.")],
    query: Annotated[str, typer.Option("--query", help="What the next model call is about.")],
    budget: Annotated[int, typer.Option("--budget", min=1, help="Tokens the prompt may cost.")] = 4000,
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

    with open_client() as client:
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
        return
    console = Console()
    show_assembly(console, answer)
    if user is None and agent is None and not any(answer["budget"][tier] for tier in OF_SOMEBODY):
        console.print(
            f"session '{session}' has said nothing yet; --user NAME asks for what is known of somebody",
            markup=False,
            highlight=False,
        )


def show_assembly(console: "Console", answer: dict[str, Any], *, is_kept: bool = True) -> None:
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
    if is_kept:
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

    with open_client() as client:
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
    table = Table("score", "kind", "when", "session", "who", "text", box=None)
    for hit in answer["results"]:
        table.add_row(
            f"{hit['score']:.3f}",
            hit["kind"],
            hit["ts"][:16],
            Text(hit["session_id"] or ""),
            hit["role"] or "",
            Text(shorten(hit["text"], TEXT_SHOWN)),
        )
    console.print(table if answer["results"] else "nothing found")
    for miss in answer["degraded"]:
        console.print(Text(f"missing: {miss['code']}: {miss['detail']}", style="yellow"))


def demo(
    start: Annotated[
        bool, typer.Option("--start", help="Start the stack first if it is not running.")
    ] = False,
    budget: Annotated[int, typer.Option("--budget", min=1, help="Tokens the prompt may cost.")] = 900,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the sample in memory, to look around.")] = False,
) -> None:
    """Play a short conversation through the real pipeline, show the prompt it leads to, and erase it again."""
    from rich.console import Console

    from api.cli.stack.stack_commands import down, up

    console = Console()
    is_ours = start and not _answers()
    try:
        if is_ours:
            up(detach=True)
        play_sample(console, budget=budget, keep=keep)
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
        with open_client(retry_seconds=0) as client:
            client.call("GET", "/healthz")
    except ServiceError:
        return False
    return True


def play_sample(console: "Console", *, budget: int, keep: bool) -> None:
    """Rules, two conversations, and one question that needs them all; nothing of it stays unless it is kept."""
    from importlib import resources

    from models.errors import NotFound

    run = time.strftime("%Y%m%d-%H%M%S")
    user = f"demo-{run}"
    sample = resources.files("api.cli") / "sample"
    with open_client() as client:
        try:
            answer = _play(console, client, sample, run=run, user=user, budget=budget)
        finally:
            if not keep:
                with contextlib.suppress(NotFound):
                    client.erase(user, confirm=user, reason="the demo is over")
    show_assembly(console, answer, is_kept=keep)
    console.print(
        f"The sample is {user}'s memory; 'longtail erase {user} --yes' removes it."
        if keep
        else "Nothing of the sample is left in memory; 'longtail demo --keep' leaves it to look around.",
        highlight=False,
    )


def _play(
    console: "Console", client: "ServiceClient", sample: "Traversable", *, run: str, user: str, budget: int
) -> dict[str, Any]:
    from rich.progress import Progress

    turns = [json.loads(line) for line in (sample / "conversation.jsonl").read_text().splitlines()]
    loaded = client.put_document("rules.md", (sample / "rules.md").read_text(), user_id=user)
    console.print(f"rules.md: {loaded['hard']} hard, {loaded['soft']} soft, {loaded['lore']} lore")
    with Progress(console=console) as progress:
        bar = progress.add_task("talking", total=len(turns))
        for turn in turns:
            session = f"{turn.pop('session_id')}-{run}"
            client.post_turns(session, [turn], user_id=user)
            progress.advance(bar)
        wait_until_remembered(client, progress)
    question = "Can you refit Brest now? What did we agree about how many days of readings it needs?"
    console.print(f"\nnext question: [bold]{question}[/bold]")
    return client.assemble(session_id=f"today-{run}", query=question, budget_tokens=budget, user_id=user)
