"""`longtail docs`: what a rules file would become before it is loaded, and what is loaded."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.connection import open_client, walk_pages

if TYPE_CHECKING:
    from models.domain.rules.tiers import Partition

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Name = Annotated[str, typer.Argument(help="As 'longtail docs list' shows it.")]
OfUser = Annotated[str | None, typer.Option("--user", help="Bound to this user.")]
OfAgent = Annotated[str | None, typer.Option("--agent", help="Bound to this agent.")]
docs = typer.Typer(help="Authored documents.", no_args_is_help=True)
TIER_NAMES = {0: "lore", 1: "hard", 2: "soft"}


def register(app: typer.Typer) -> None:
    """Add these commands to the root."""
    app.add_typer(docs, name="docs")


@docs.callback()
def _docs() -> None:
    """Authored documents."""


@docs.command()
def check(
    file: Annotated[Path, typer.Argument(help="A Markdown file of rules: AGENTS.md, CLAUDE.md, SOUL.md, …")],
    budget: Annotated[int | None, typer.Option(help="Tokens of the prompt; default: as configured.")] = None,
    demote: Annotated[
        bool, typer.Option("--demote", help="Demote list items without a rule if need be.")
    ] = False,
    tokenizer: Annotated[str, typer.Option(help="'chars' or the name of a tokenizer file.")] = "chars",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Show every node with its tier and tokens, the rules found, and conflicts. Exits 1 if it would be refused."""
    from api.cli.files import read_text
    from models.documents.markdown import partition_document
    from models.domain.rules.tiers import HardReserveExceeded, enforce_hard_reserve
    from models.encoders.token_files import load_token_counter
    from models.settings import get_settings

    settings = get_settings()
    text = read_text(file)
    counter = load_token_counter(tokenizer, folder=settings.tokenizer_folder)
    partition = partition_document(text, count_tokens=counter.count, tokenizer_id=counter.id)
    total = budget or settings.budget_tokens_configured
    cap = int(settings.hard_reserve * total)
    refusal = None
    try:
        partition = enforce_hard_reserve(
            partition, hard_cap_tokens=cap, policy="demote" if demote else "refuse"
        )
    except HardReserveExceeded as error:
        refusal = str(error)
    report = describe(partition, cap=cap, refusal=refusal)
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
    else:
        _show(report)
    if refusal:
        raise typer.Exit(1)


@docs.command("list")
def list_documents(user: OfUser = None, agent: OfAgent = None, as_json: AsJson = False) -> None:
    """Loaded documents, with how many rules each has."""
    whose = _whose(user, agent)
    with open_client() as client:
        pages = walk_pages(
            lambda cursor: client.list_documents(**whose, **({"cursor": cursor} if cursor else {})),
            "documents",
        )
        found = list(pages)
    if as_json:
        print(json.dumps({"documents": found}))
        return
    for one in found:
        print(f"{one['name']} ({one['binding']}): {one['hard']} hard, {one['soft']} soft, {one['lore']} lore")
    if not found:
        print("There are no documents.")


@docs.command("show")
def show_document(name: Name, user: OfUser = None, agent: OfAgent = None, as_json: AsJson = False) -> None:
    """Print a document, word for word."""
    with open_client() as client:
        found = client.read_document(name, **_whose(user, agent))
    print(json.dumps(found) if as_json else found["text"], end="\n" if as_json else "")


@docs.command("load")
def load_document(
    file: Annotated[Path, typer.Argument(help="A Markdown file of rules.")],
    name: Annotated[str | None, typer.Option("--name", help="What it is called; else as the file.")] = None,
    user: OfUser = None,
    agent: OfAgent = None,
    demote: Annotated[
        bool, typer.Option("--demote", help="Demote list items without a rule if need be.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Load a file of rules, in the place of what was loaded under its name."""
    from api.cli.files import read_text

    parameters = _whose(user, agent) | ({"policy": "demote"} if demote else {})
    text = read_text(file)
    with open_client() as client:
        found = client.put_document(name or file.name, text, **parameters)
    words = f"{found['name']}: {found['hard']} hard, {found['soft']} soft, {found['lore']} lore"
    print(json.dumps(found) if as_json else words)


@docs.command("remove")
def remove_document(name: Name, user: OfUser = None, agent: OfAgent = None, as_json: AsJson = False) -> None:
    """Take a document out of every prompt and out of recall."""
    with open_client() as client:
        client.delete_document(name, **_whose(user, agent))
    print(json.dumps({"name": name, "removed": True}) if as_json else f"{name} is removed")


def _whose(user: str | None, agent: str | None) -> dict[str, str]:
    return {key: value for key, value in (("user_id", user), ("agent_id", agent)) if value is not None}


def describe(partition: "Partition", *, cap: int, refusal: str | None) -> dict[str, Any]:
    """The partition as a report."""
    return {
        "nodes": [
            {
                "kind": node.kind,
                "tier": int(node.tier),
                "start": node.start,
                "end": node.end,
                "tokens": node.tokens,
                "text": node.text,
                "heading_path": list(node.heading_path),
                "modality": sorted(node.reading.modalities),
                "rules": [
                    {"modality": str(span.modality), "start": span.start, "end": span.end, "cue": span.cue}
                    for span in node.reading.spans
                ],
            }
            for node in partition.nodes
        ],
        "conflicts": [
            {"action": one.action, "obligation": one.obligation.cue, "prohibition": one.prohibition.cue}
            for one in partition.conflicts
        ],
        "demotions": [
            {"start": one.start, "tokens": one.tokens, "reason": one.reason} for one in partition.demotions
        ],
        "hard_tokens": partition.hard_tokens,
        "soft_tokens": partition.soft_tokens,
        "lore_tokens": partition.lore_tokens,
        "hard_cap_tokens": cap,
        "refused": refusal,
    }


def _show(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table("tier", "kind", "tokens", "rules", "text", box=None)
    styles = {"hard": "bold red", "soft": "yellow", "lore": "dim"}
    for node in report["nodes"]:
        tier = TIER_NAMES[node["tier"]]
        text = " ".join(node["text"].split())
        table.add_row(
            Text(tier, style=styles[tier]),
            node["kind"],
            str(node["tokens"]),
            ", ".join(node["modality"]),
            Text(text[:100] + ("…" if len(text) > 100 else "")),
        )
    console.print(table)
    console.print(
        f"hard {report['hard_tokens']} of {report['hard_cap_tokens']} tokens, soft {report['soft_tokens']}, "
        f"lore {report['lore_tokens']}"
    )
    for one in report["demotions"]:
        console.print(Text(f"demoted at byte {one['start']}: {one['reason']}", style="yellow"))
    for one in report["conflicts"]:
        console.print(
            Text(
                f"conflict: '{one['obligation']}' and '{one['prohibition']}' about {one['action']}",
                style="red",
            )
        )
    if report["refused"]:
        console.print(Text(f"would be refused: {report['refused']}", style="bold red"), soft_wrap=True)
