"""A result as Markdown tables and pictures: methods side by side, best of each column in bold."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bench.quality.budget import describe_budget
from bench.quality.memories import describe_memories
from bench.quality.metrics import ALL
from bench.quality.profiles import describe_profiles
from bench.quality.updates import describe_updates
from bench.quality.wishes import describe_wishes

DATASETS: Final = {"locomo": "LoCoMo", "longmemeval": "LongMemEval"}
CATEGORY_BUDGET_TOKENS: Final = 2000
RANKING_METRICS: Final = ("frac@5", "frac@10", "any@5", "any@10", "all@5", "all@10")
USER_METRICS: Final = ("user_frac@5", "user_frac@10", "user_any@10", "user_all@10")
SESSION_METRICS: Final = (
    "grouped_session_any@5",
    "grouped_session_frac@5",
    "session_any@5",
    "session_frac@5",
    "session_user_any@5",
    "session_user_frac@5",
)


def write_report(result: Mapping[str, Any], folder: Path) -> list[Path]:
    """quality.json, quality.md and, where matplotlib is installed, a picture for each data set."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / "quality.json", folder / "quality.md"]
    written[0].write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    pictures = draw_pictures(result, folder)
    written[1].write_text(describe(result, pictures), encoding="utf-8")
    return [*written, *pictures.values()]


def describe(result: Mapping[str, Any], pictures: Mapping[str, Path] | None = None) -> str:
    """The result as Markdown."""
    parts = ["# Quality\n"]
    for key, title in DATASETS.items():
        if key in result:
            parts.append(_describe_dataset(result[key], title))
            if pictures and key in pictures:
                parts.append(f"![{title}]({pictures[key].name})\n")
    if "rules" in result:
        parts.append(_describe_rules(result["rules"]))
    if "budget" in result:
        parts.append(describe_budget(result["budget"]))
    if "wishes" in result:
        parts.append(describe_wishes(result["wishes"]))
    if "memories" in result:
        parts.append(describe_memories(result["memories"]))
    if "updates" in result:
        parts.append(describe_updates(result["updates"]))
    if "profile" in result:
        parts.append(describe_profiles(result["profile"]))
    return "\n".join(parts)


def _describe_dataset(found: Mapping[str, Any], title: str) -> str:
    methods: Mapping[str, Any] = found["methods"]
    everything = {name: scores[ALL] for name, scores in methods.items()}
    evidence = _metrics_of(everything, "evidence")
    by_category = f"evidence@{CATEGORY_BUDGET_TOKENS}"
    categories = list(dict.fromkeys(category for scores in methods.values() for category in scores))
    parts = [
        f"## {title}\n",
        f"{found['histories']} histories, {found['turns']} turns, {found['questions']} questions.\n",
        "Share of evidence turns in the prompt (`evidence@τ`: recall has τ tokens, frames included; `whole`: the whole "
        "prompt has; `plain`: bare lines):\n",
        tabulate(everything, evidence),
        "The ranked list:\n",
        tabulate(everything, RANKING_METRICS),
        "Turns of the user alone, and sessions:\n",
        tabulate(everything, [*USER_METRICS, *SESSION_METRICS]),
    ]
    if by_category in evidence:
        table = {
            name: {
                f"{category} ({scores[category]['n']:.0f})": scores[category].get(by_category)
                for category in categories
                if category in scores
            }
            for name, scores in methods.items()
        }
        columns = list(dict.fromkeys(column for row in table.values() for column in row))
        parts += [f"`{by_category}` by category:\n", tabulate(table, columns)]
    if found.get("compaction") is not None:
        parts.append(f"Compaction: {_describe_compaction(found['compaction'])}\n")
    for peer, reason in found.get("peers_not_run", {}).items():
        parts.append(f"{peer}: not run: {reason}\n")
    if found.get("degraded"):
        parts.append(f"Degraded answers: {json.dumps(found['degraded'])}\n")
    return "\n".join(parts)


def _describe_compaction(found: Mapping[str, Any]) -> str:
    if not found["available"]:
        return f"not available: {found['reason']}"
    return ", ".join(f"{name} {value}" for name, value in found.items() if name != "available")


def _describe_rules(found: Mapping[str, Any]) -> str:
    lines = [
        "## Standing rules\n",
        f"{found['cases']} rules and as many decoys, {found['fillers']} turns later, prompts of "
        f"{found['budget_tokens']} tokens. Target: {found['target']}.\n",
        "| what | share |",
        "|---|---|",
        f"| rules in the prompt as guidance | {found['rules_in_guidance']:.3f} |",
        f"| rules in the prompt at all | {found['rules_in_prompt']:.3f} |",
        f"| rules kept as guidance | {found['rules_kept']:.3f} |",
        f"| decoys admitted as guidance | {found['decoys_admitted']:.3f} |",
        f"| other user turns admitted as guidance | {found['talk_admitted']:.4f} |",
        "",
        "| split | cases | rules in guidance | rules in the prompt | decoys admitted |",
        "|---|---|---|---|---|",
        *(
            f"| {split} | {row['cases']} | {row['rules_in_guidance']:.3f} | {row['rules_in_prompt']:.3f} "
            f"| {row['decoys_admitted']:.3f} |"
            for split, row in found["by_split"].items()
        ),
        "",
    ]
    for title, key in (("Rules missed, of the tuned", "missed"), ("Decoys admitted, of the tuned", "decoys")):
        if found[key]:
            lines += [f"{title}:\n", *(f"- {text}" for text in found[key]), ""]
    return "\n".join(lines)


def _metrics_of(rows: Mapping[str, Mapping[str, float]], prefix: str) -> list[str]:
    """The metrics of that family that any method has, by budget."""
    found = dict.fromkeys(metric for row in rows.values() for metric in row if metric.startswith(prefix))
    kinds = list(dict.fromkeys(metric.partition("@")[0] for metric in found))
    return sorted(
        found, key=lambda metric: (kinds.index(metric.partition("@")[0]), int(metric.partition("@")[2]))
    )


def tabulate(rows: Mapping[str, Mapping[str, float | None]], columns: Sequence[str]) -> str:
    """A Markdown table; the best of each column in bold, – where a method has no such number.

    >>> print(tabulate({"a": {"x": 0.5}, "b": {"x": 0.25}}, ["x"]))
    | method | x |
    |---|---|
    | a | **0.500** |
    | b | 0.250 |
    <BLANKLINE>
    """
    best = {column: max((row.get(column) or 0.0 for row in rows.values()), default=0.0) for column in columns}
    lines = ["| method | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name, row in rows.items():
        cells = []
        for column in columns:
            value = row.get(column)
            shown = "–" if value is None else f"{value:.3f}"
            cells.append(f"**{shown}**" if value is not None and value == best[column] else shown)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw_pictures(result: Mapping[str, Any], folder: Path) -> dict[str, Path]:
    """Evidence by budget, a line for each method; nothing where matplotlib (extra `report`) is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return {}
    drawn: dict[str, Path] = {}
    for key, title in DATASETS.items():
        if key not in result:
            continue
        rows = {name: scores[ALL] for name, scores in result[key]["methods"].items()}
        budgets = sorted(
            {
                int(name.partition("@")[2])
                for row in rows.values()
                for name in row
                if name.startswith("evidence@")
            }
        )
        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.add_subplot()
        for name, row in rows.items():
            shares = [row.get(f"evidence@{budget}") for budget in budgets]
            is_ours = name.startswith("longtail")
            axes.plot(
                budgets,
                shares,
                marker="o",
                label=name,
                linewidth=2.5 if is_ours else 1.2,
                zorder=3 if is_ours else 2,
            )
        axes.set(
            title=f"{title}: evidence in the prompt ({result[key]['questions']} questions)",
            xlabel="tokens of the prompt",
            ylabel="share of evidence turns",
            xticks=budgets,
            ylim=(0, 1),
        )
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right", fontsize="small")
        drawn[key] = folder / f"{key}.png"
        figure.savefig(drawn[key], dpi=120)
    return drawn
