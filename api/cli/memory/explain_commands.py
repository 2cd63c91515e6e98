"""`longtail explain`: a receipt in the terminal, and what would be different if its prompt were made again."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.connection import open_client
from api.cli.wording import shorten

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

TIERS = ("hard", "soft", "tail", "guidance", "recall")
# What a candidate's score is made of, and how the column is called.
SHOWN_TERMS = {
    "score": "score",
    "cosine": "cos",
    "lexical": "words",
    "echo": "echo",
    "context": "around",
    "load": "facts",
    "time_fit": "time",
    "teller": "who",
    "recency": "recent",
    "frequency": "useful",
    "authority": "auth",
    "omega": "ω",
    "quality": "Q",
    "evidence": "proof",
}
TEXT_CHARS = 60
TABLE_COLUMNS = 140  # below this a table with every term leaves no room for the words


def register(app: typer.Typer) -> None:
    """Add this command to the root."""
    app.command()(explain)


def explain(
    assembly: Annotated[str, typer.Argument(help="The id of an assembly: `assembly_id` in its answer.")],
    replay: Annotated[
        bool,
        typer.Option("--replay", help="Make the prompt again from what is stored now; say what changed."),
    ] = False,
    show_all: Annotated[bool, typer.Option("--all", help="Every candidate, not the first 40.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False,
) -> None:
    """Show how a prompt came about: its budget, every candidate with its terms, and why what is missing was left out."""
    from rich.console import Console

    from api.cli.ids import read_id

    wanted = str(
        read_id(assembly, noun="of an assembly", remedy="'longtail assemble' prints the id of each prompt")
    )
    with open_client() as client:
        found = client.replay(wanted) if replay else client.explain(wanted)
    if as_json:
        print(json.dumps(found))
    elif replay:
        show_replay(Console(), found)
    else:
        show_receipt(Console(), found, most=None if show_all else 40)


def show_receipt(console: "Console", receipt: dict[str, Any], *, most: int | None) -> None:
    """Who asked what, a bar for each tier, the candidates, the timings."""
    from rich.text import Text

    request = receipt["request"]
    console.rule(f"assembly {receipt['assembly_id']}")
    made, now = receipt["made_at"][:19], receipt["now"][:19]
    console.print(
        f"session {request['session_id']}, namespace {receipt['namespace']}, made {made}Z"
        f"{'' if made == now else f' as if it were {now}Z'}, "
        f"format {request['format']}, tokenizer {request['tokenizer']}",
        markup=False,
        highlight=False,
    )
    console.print(Text("asked: ", style="bold") + Text(" ".join(request["query"].split())[:400]))
    console.print(_draw_budget(receipt["budget"]))
    for miss in receipt["degraded"]:
        console.print(Text(f"missing: {miss['code']}: {miss['detail']}", style="yellow"))
    for tier in TIERS:
        candidates = [one for one in receipt["candidates"] if one["tier"] == tier]
        if candidates:
            is_narrow = tier == "recall" and console.width < TABLE_COLUMNS
            draw = _list_candidates if is_narrow else _draw_candidates
            console.print(draw(tier, candidates, most=most))
            if most is not None and len(candidates) > most:
                console.print(f"  and {len(candidates) - most} more (--all)")
    took = receipt["timings_ms"]
    console.print("took " + ", ".join(f"{stage} {value:.1f} ms" for stage, value in took.items()))
    fingerprint = receipt["encoder"]["fingerprint"]
    console.print(
        f"encoder {receipt['encoder']['name']} {fingerprint[:12] if fingerprint else '(none)'}, "
        f"settings {receipt['settings_version']}, stable part {receipt['stable']['chars']} characters "
        f"({receipt['stable']['sha256'][:12]})",
        highlight=False,
    )


def _draw_budget(budget: dict[str, Any]) -> "Table":
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    total = budget["total"]
    reserves = {
        "hard": budget["hard"],
        "soft": budget["soft_capacity"],
        "tail": budget["tail_capacity"],
        "guidance": budget["guidance_capacity"],
        "recall": budget["recall_capacity"],
        "used": total,
    }
    notes = {
        "tail": f"base {budget['base']}",
        "used": f"of {total}" if budget["is_feasible"] else f"needs {budget['needed']} of {total}",
    }
    kept = budget.get("guidance_reserved")
    if kept is not None and budget["guidance_capacity"] > kept:
        notes["guidance"] = f"{kept} kept for it, the rest is what recall left"
    if budget["recovery_reserve"] is not None:
        notes["recall"] = (
            f"nothing matched well: {budget['recovery_reserve']} of it for turns under summaries"
        )
    table = Table(box=None, padding=(0, 1))
    for heading, justify in (
        ("tier", "left"),
        ("tokens", "right"),
        ("", "left"),
        ("could have", "right"),
        ("", "left"),
    ):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]  # two of rich's four words
    for tier in (*TIERS, "used"):
        bar = ProgressBar(total=total, completed=min(budget[tier], total), width=40)
        capacity = reserves[tier]
        table.add_row(
            tier, str(budget[tier]), bar, "–" if capacity is None else str(capacity), notes.get(tier, "")
        )
    return table


def _draw_candidates(tier: str, candidates: list[dict[str, Any]], *, most: int | None) -> "Table":
    """Recall with every term of its score; the other tiers with what decided them."""
    from rich.table import Table

    names = SHOWN_TERMS if tier == "recall" else {"cosine": "cos"} if tier == "guidance" else {}
    table = Table(title=_count_chosen(tier, candidates), title_justify="left", box=None, padding=(0, 1))
    table.add_column("")
    table.add_column("tokens", justify="right")
    for heading in names.values():
        table.add_column(heading, justify="right")
    table.add_column("what", overflow="fold")
    for one in candidates[:most]:
        table.add_row(
            _tick(one),
            "" if one["tokens"] is None else str(one["tokens"]),
            *(_number(one["terms"].get(name)) for name in names),
            _tell(one),
            style="" if one["fate"] == "chosen" else "dim",
        )
    return table


def _list_candidates(tier: str, candidates: list[dict[str, Any]], *, most: int | None) -> "Table":
    """The same for a narrow terminal: the terms that are not 0 on a line of their own below the words."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=_count_chosen(tier, candidates), title_justify="left", box=None, padding=(0, 1))
    table.add_column("")
    table.add_column("tokens", justify="right")
    table.add_column("what, and the terms of its score that are not 0", overflow="fold")
    for one in candidates[:most]:
        numbers = {name: _number(one["terms"].get(name)) for name in SHOWN_TERMS}
        terms = "  ".join(
            f"{SHOWN_TERMS[name]} {shown}" for name, shown in numbers.items() if shown.strip("-0.")
        )
        table.add_row(
            _tick(one),
            "" if one["tokens"] is None else str(one["tokens"]),
            _tell(one) + Text(f"\n{terms}" if terms else "", style="dim"),
            style="" if one["fate"] == "chosen" else "dim",
        )
    return table


def _count_chosen(tier: str, candidates: list[dict[str, Any]]) -> str:
    return f"{tier}: {sum(one['fate'] == 'chosen' for one in candidates)} of {len(candidates)}"


def _tick(one: dict[str, Any]) -> "Text":
    from rich.text import Text

    return Text("✓", style="green") if one["fate"] == "chosen" else Text("·", style="dim")


def _tell(one: dict[str, Any]) -> "Text":
    """What a candidate says, and what is to be known of it."""
    from rich.text import Text

    what = Text(f"{one['kind']} ", style="dim") + Text(shorten(one["text"] or one["id"], TEXT_CHARS))
    if one["hop_from"]:
        what += Text(
            " (by a link)" if one["kind"] in {"rule", "lore"} else " (says how it is now)", style="dim"
        )
    if one.get("superseded_by"):
        when = (one.get("superseded_at") or "")[:10]
        what += Text(f" (superseded by {one['superseded_by']} on {when})", style="magenta")
    if one["temporal"]:
        what += Text(" (dated: leads)", style="cyan")
    if one["reason"]:
        what += Text(f" – {one['reason']}", style="yellow")
    return what


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def show_replay(console: "Console", found: dict[str, Any]) -> None:
    """What is different now, or that nothing is."""
    from rich.text import Text

    console.rule(f"replay of assembly {found['assembly_id']}")
    if found["is_same"]:
        console.print("the same prompt would come about, candidate by candidate")
    for name in ("settings", "encoder", "budget", "stable"):
        for key, change in found[name].items():
            console.print(Text(f"{name}: {key} was {change['was']}, is {change['now']}"))
    for name in ("appeared", "vanished"):
        for one in found[name]:
            score = "" if one["score"] is None else f", score {one['score']:.3f}"
            console.print(Text(f"{name}: {one['tier']} {one['kind']} {one['id']} ({one['fate']}{score})"))
    for one in found["changed"]:
        changes = "; ".join(
            f"{key} {_show(change['was'])} → {_show(change['now'])}" for key, change in one["changes"].items()
        )
        console.print(Text(f"changed: {one['tier']} {one['kind']} {one['id']}: {changes}"))
    if found["left_out"]:
        console.print(f"{found['left_out']} candidates were said later and are left out")
    for miss in found["degraded"]:
        console.print(Text(f"missing: {miss['code']}: {miss['detail']}", style="yellow"))


def _show(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
