"""What the operator sees: progress while starting and stopping, the status table, the doctor's findings."""

from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn
from rich.table import Table

from api.stack.reports.doctor import Finding
from api.stack.reports.encoders import describe

STYLE = {"starting": "yellow", "ready": "green", "failed": "red", "stopping": "yellow", "stopped": "dim"}
MARK = {"ok": "[green]ok[/]", "warn": "[yellow]warn[/]", "fail": "[red]fail[/]"}


class StackProgress:
    """One line a part, rewritten as it comes up on a terminal, appended elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        if console.is_terminal:
            self._live = Progress(
                SpinnerColumn(finished_text=" "),
                TextColumn("{task.description}"),
                TextColumn("{task.fields[phase]}"),
                console=console,
            )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def report(self, part: str, phase: str, detail: str) -> None:
        """Show that the part entered the phase."""
        text = f"[{STYLE[phase]}]{phase}[/]{' ' + escape(detail) if detail else ''}"
        if self._live is None:
            self._console.print(f"{part:<16} {text}", soft_wrap=True)
            return
        if part not in self._tasks:
            self._tasks[part] = self._live.add_task(f"{part:<16}", total=1, phase=text)
        done = phase in {"ready", "failed", "stopped"}
        self._live.update(self._tasks[part], completed=1 if done else 0, phase=text)


def render_status(report: dict[str, Any]) -> Table:
    """The status report as a table: each part, its state, version and what is worth knowing."""
    apart = f"; the servers' data is in {report['servers']}" if report["servers"] != report["home"] else ""
    table = Table(
        title=f"Longtail {report['version']}",
        title_justify="left",
        caption=escape(f"home {report['home']}{apart}"),
        caption_justify="left",
    )
    for column in ("part", "state", "version", "detail"):
        table.add_column(column, overflow="fold")
    parts: dict[str, dict[str, Any]] = report["parts"]

    def state(name: str, healthy: bool) -> str:
        word = parts.get(name, {}).get("state") or ("answers" if healthy else "no answer")
        return f"[{'green' if healthy else 'red'}]{word}[/]"

    api, database, broker, workers = report["api"], report["postgres"], report["redis"], report["workers"]
    vector = f"pgvector {database['pgvector']}, " if database["pgvector"] else ""
    table.add_row("api", state("api", api["healthy"]), report["version"], escape(api["url"] or ""))
    table.add_row(
        "inspector", state("api", api["healthy"]), report["version"], escape(report["inspector_url"] or "")
    )
    table.add_row(
        "postgres",
        state("postgres", database["healthy"]),
        database["version"] or "",
        vector + escape(database["url"] or ""),
    )
    table.add_row(
        "redis", state("redis", broker["healthy"]), broker["version"] or "", escape(broker["url"] or "")
    )
    well = workers["alive"] >= workers["expected"]
    queues = ", ".join(
        f"{name} {'?' if depth is None else depth}" for name, depth in report["queues"].items()
    )
    word = f"{workers['alive']} of {workers['expected']}"
    table.add_row("workers", f"[{'green' if well else 'red'}]{word}[/]", "", f"queues: {queues}")
    for name in ("beat", "flower"):
        if name in parts:
            running = parts[name]["state"] in {"running", "starting"}
            table.add_row(
                name, state(name, running), "", escape(report["flower_url"] or "") if name == "flower" else ""
            )
    waiting = "unknown" if report["pending"] is None else str(report["pending"])
    lag = "" if report["lag_seconds"] is None else f"lag {report['lag_seconds']:.1f} s, "
    letters = "unknown" if report["dead_letters"] is None else report["dead_letters"]
    table.add_row("memory", f"{waiting} pending", "", f"{lag}dead letters {letters}")
    if report["encoder"]:
        serving, beside = describe(report["encoder"])
        table.add_row("encoder", escape(serving), "", escape(beside))
    spool = report["spool"]
    lost = f", [red]{spool['dropped']} lost[/]" if spool["dropped"] else ""
    aside = f", {spool['aside']} put aside" if spool["aside"] else ""
    table.add_row("spool", f"{spool['waiting']} waiting", "", f"left by hooks{aside}{lost}")
    return table


def render_findings(findings: list[Finding]) -> Table:
    """The doctor's findings, with the remedy under what needs one."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        text = escape(finding.detail)
        if finding.remedy:
            text += f"\n[bold]→ {escape(finding.remedy)}[/]"
        table.add_row(MARK[finding.outcome], finding.check, text)
    return table
