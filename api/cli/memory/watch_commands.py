"""`longtail watch`: a folder of Markdown, kept as documents while it changes."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from api.watching.reporting import Reporter
    from api.watching.sync import FolderSync

TICK_MS = 500  # how often a server that was away is asked again, at the earliest
RESCAN_SECONDS = 30.0  # a kernel that dropped events is caught up with by then
ONCE_PATIENCE_SECONDS = 30.0
LONGEST_PAUSE_SECONDS = 15.0


def register(app: typer.Typer) -> None:
    """Add this command to the root."""
    app.command()(watch)


def watch(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder; documents are named by their path in it.")
    ],
    include: Annotated[
        list[str] | None, typer.Option(help="Globs of files to send; default *.md and *.markdown.")
    ] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Globs of files to leave out.")] = None,
    authored: Annotated[
        list[str] | None,
        typer.Option(
            help="Globs of rule files (default AGENTS.md, CLAUDE.md, GEMINI.md, SOUL.md, RULES.md, *.rules.md); "
            "all others are notes: found by recall, in no prompt by right."
        ),
    ] = None,
    dreams: Annotated[
        list[str] | None,
        typer.Option(
            help="Globs of dream diaries: their proved entries become memories of --user or --agent."
        ),
    ] = None,
    user: Annotated[str | None, typer.Option("--user", help="Bind the documents to a user.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Bind the documents to an agent.")] = None,
    policy: Annotated[
        Literal["refuse", "demote"],
        typer.Option(help="For rules that exceed the hard reserve: refuse the file, or demote plain items."),
    ] = "refuse",
    debounce_ms: Annotated[
        int, typer.Option(min=0, max=60_000, help="Quiet time before a change is sent.")
    ] = 400,
    once: Annotated[bool, typer.Option("--once", help="Bring the server in step, then end.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON line for each thing that happens.")
    ] = False,
) -> None:
    """Keep a folder of Markdown as documents: changes, renames and deletions follow. Exit 1 if a file was refused."""
    from rich.console import Console

    from api.client import ServiceClient
    from api.stack.interruption import StopSignals
    from api.watching.folder import DEFAULT_AUTHORED, DEFAULT_INCLUDE, Selection
    from api.watching.ledger import Ledger
    from api.watching.reporting import Reporter
    from api.watching.sync import FolderSync
    from models.errors import InvalidInput
    from models.settings import get_settings
    from models.store.tenancy.tokens import token_digest

    settings = get_settings()
    root = folder.resolve()
    if not root.is_dir():
        if root.exists():
            raise InvalidInput(f"{folder} is a file", remedy="name the folder it is in")
        raise InvalidInput(f"there is no folder {folder}", remedy="check the path")
    if user and agent:
        raise InvalidInput(
            "documents are bound to a user or to an agent, not to both", remedy="name one of them"
        )
    if dreams and not (user or agent):
        raise InvalidInput(
            "a diary is somebody's", remedy="name the user with --user, or the agent with --agent"
        )
    binding = {name: value for name, value in (("user_id", user), ("agent_id", agent)) if value}
    reporter = Reporter(Console(stderr=as_json), as_json=as_json)
    selection = Selection(
        include=include or DEFAULT_INCLUDE,
        exclude=exclude or (),
        authored=authored or DEFAULT_AUTHORED,
        dreams=dreams or (),
    )
    # The client itself never waits: while the server is away, the folder is still being looked at.
    with StopSignals(), ServiceClient.from_settings(settings, retry_seconds=0) as client:
        whose = token_digest(settings.client_token() or "").hex()
        destination = json.dumps([client.url, whose, sorted(binding.items())])
        ledger = Ledger(settings.home, root=root, destination=destination)
        sync = FolderSync(root, client, ledger, selection=selection, policy=policy, binding=binding)
        try:
            run(sync, reporter, once=once, debounce_ms=debounce_ms)
        except KeyboardInterrupt:
            reporter.say_stopped(sync)
            return
    if sync.refused:
        raise typer.Exit(1)


def run(sync: "FolderSync", reporter: "Reporter", *, once: bool, debounce_ms: int) -> None:
    """Look, send, and look again whenever something changes; with `once`, until everything was sent."""
    from models.errors import TransientError

    started = time.monotonic()
    failures, retry_at = 0, 0.0
    for _ in looks(sync, once=once, debounce_ms=debounce_ms):
        if time.monotonic() < retry_at:
            continue
        try:
            step(sync, reporter)
        except TransientError as error:
            failures += 1
            pause = min(0.5 * 2**failures, LONGEST_PAUSE_SECONDS)
            if once and time.monotonic() - started > ONCE_PATIENCE_SECONDS:
                raise
            retry_at = time.monotonic() + pause
            reporter.say_waiting(error)
        else:
            failures, retry_at = 0, 0.0
            reporter.say_in_step(sync)
            if once:
                return


def looks(sync: "FolderSync", *, once: bool, debounce_ms: int) -> Iterator[None]:
    """The moments to look at the folder: at first, after each change, and now and then in any case."""
    from watchfiles import watch as watch_folder

    if once:
        while True:
            yield
            time.sleep(TICK_MS / 1000)
    # The first look comes once the watching has begun: what changes in between is seen by one or the other.
    last = 0.0
    for changes in watch_folder(
        sync.root,
        watch_filter=None,
        step=max(debounce_ms, 1),
        debounce=max(debounce_ms * 4, 1600),
        rust_timeout=TICK_MS,
        yield_on_timeout=True,
        ignore_permission_denied=True,
    ):
        if changes or sync.is_behind or time.monotonic() - last > RESCAN_SECONDS:
            last = time.monotonic()
            yield


def step(sync: "FolderSync", reporter: "Reporter") -> None:
    """One look at the folder, and everything that has to be sent."""
    plan = sync.plan()
    with reporter.progress(plan) as advance:
        reporter.tell_unreadable(plan)
        for event in sync.carry_out(plan, on_step=advance):
            reporter.tell(event)
