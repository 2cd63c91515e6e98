"""`longtail audit FILE`: how much of another system's export is junk. Nothing is imported, nothing needs to run."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from api.importers.audit import Audit

MEANINGS = {
    "duplicate": "the same words as an earlier one",
    "near-duplicate": "says what an earlier one says",
    "phatic": "greetings, thanks, assent",
    "injected": "context that a host or a memory put in",
    "contradicted": "a newer one says otherwise",
    "secret": "passwords, keys, tokens, cards",
}


def register(app: typer.Typer) -> None:
    """Add the command to the root."""
    app.command()(audit)


def audit(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The export: a file or folder.")],
    kind: Annotated[
        str | None, typer.Option("--kind", help="As for `longtail import`; without it, it is guessed.")
    ] = None,
    words_only: Annotated[
        bool, typer.Option("--words-only", help="Do not load the encoder: no near-duplicates.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Count duplicates, small talk, injected context, contradictions and secrets; import nothing."""
    from api.importers.audit import audit_findings
    from api.importers.guess import guess_kind
    from api.importers.registry import SOURCES
    from models.errors import InvalidInput

    if not path.exists():
        raise InvalidInput(f"there is no {path}", remedy="check the path")
    found = kind or guess_kind(path)
    if found not in SOURCES:
        detail = f"'{kind}' is no kind of import" if kind else f"it does not show what {path} is an export of"
        raise InvalidInput(detail, remedy=f"say --kind with one of: {', '.join(SOURCES)}")
    encode = None
    if not words_only:
        from models.encoders.registry import load_encoder
        from models.settings import get_settings

        settings = get_settings()
        encode = load_encoder(settings.encoder, threads=settings.encoder_threads).encode
    findings = (finding for unit in SOURCES[found].find_units(path) for finding in unit.read())
    result = audit_findings(findings, encode=encode)
    if as_json:
        print(json.dumps({"kind": found, "path": str(path), **result.to_json()}))
    else:
        _show(result, found)


def _show(result: "Audit", kind: str) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(
        f"{result.items} items of {kind}, {result.junk} of them junk ({result.junk_rate:.1%})",
        highlight=False,
    )
    table = Table("kind", "items", "share", "what it is")
    for name, meaning in MEANINGS.items():
        count = result.kinds[name]
        if name == "near-duplicate" and not result.is_near_compared:
            table.add_row(name, "–", "–", "not looked for")
        else:
            table.add_row(name, str(count), f"{count / result.items:.1%}" if result.items else "–", meaning)
    console.print(table)
    for name, examples in result.examples.items():
        for one in examples:
            like = f"  ~ {one['like']}: {one['like_text']}" if "like" in one else ""
            line = f"{name}: {one['id']}: {one['text']}{like}"
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    if result.dropped:
        listed = ", ".join(f"{count} {reason}" for reason, count in result.dropped.most_common())
        console.print(f"an import would leave out: {listed}", markup=False, highlight=False, soft_wrap=True)
    for note in result.notes:
        console.print(f"  {note}", markup=False, highlight=False, soft_wrap=True)
