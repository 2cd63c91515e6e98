"""What a person, or a script, is told while a folder is watched."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from api.watching.sync import Event, FolderSync, Plan
from models.errors import ServiceError

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {
    "loaded": "green",
    "renamed": "cyan",
    "deleted": "yellow",
    "refused": "bold red",
    "unreadable": "red",
}


class Reporter:
    """Lines for people on a console, or one JSON object a line on standard output."""

    def __init__(self, console: "Console", *, as_json: bool) -> None:
        self._console = console
        self._as_json = as_json
        self._is_first = True
        self._is_waiting = False
        self._told: set[tuple[str, str | None]] = set()  # unreadable files are named once, not at every look

    def tell(self, event: Event) -> None:
        """Say what happened to a file."""
        if self._as_json:
            found = {key: value for key, value in asdict(event).items() if value is not None}
            self._print(found)
            return
        from rich.text import Text

        line = Text(f"{event.event:>10}  ", style=STYLES[event.event])
        line.append(f"{event.from_name} → {event.name}" if event.from_name else event.name, style="bold")
        if event.answer is not None:
            line.append(f"  {_count(event.answer)}", style="dim")
        self._console.print(line, soft_wrap=True)
        for conflict in (event.answer or {}).get("conflicts", []):
            self._indent(f"conflict: '{conflict['obligation']}' and '{conflict['prohibition']}'", "yellow")
        for demotion in (event.answer or {}).get("demotions", []):
            self._indent(f"demoted: {demotion}", "yellow")
        for words in (event.detail, event.remedy and f"what to do: {event.remedy}"):
            if words:
                self._indent(words, "red")

    def tell_unreadable(self, plan: Plan) -> None:
        """Name files that could not be read; their documents stay as they were."""
        seen = {(event.name, event.detail) for event in plan.unreadable}
        for event in plan.unreadable:
            if (event.name, event.detail) not in self._told:
                self.tell(event)
        self._told = seen

    @contextmanager
    def progress(self, plan: Plan) -> "Iterator[Callable[[], None]]":
        """A bar for the first look, if there is much to do; later changes are few."""
        from rich.progress import Progress

        is_shown = self._is_first and not self._as_json and self._console.is_terminal and plan.size > 1
        with Progress(console=self._console, disable=not is_shown, transient=True) as bar:
            task = bar.add_task("sending", total=plan.size)
            yield lambda: bar.advance(task)

    def say_waiting(self, error: ServiceError) -> None:
        """Say once that the server is away; what changes meanwhile waits on the disk."""
        if self._is_waiting:
            return
        self._is_waiting = True
        self._say({"event": "waiting", "detail": error.detail, "remedy": error.remedy, "code": error.code})

    def say_in_step(self, sync: FolderSync) -> None:
        """Say that the server has everything it takes: after the first look, and after it was away."""
        if not (self._is_first or self._is_waiting):
            return
        self._is_first = self._is_waiting = False
        self._say({"event": "in_step", "documents": sync.documents, "refused": list(sync.refused)})

    def say_stopped(self, sync: FolderSync) -> None:
        """Say that nobody looks any more."""
        self._say({"event": "stopped", "documents": sync.documents, "refused": list(sync.refused)})

    def _say(self, found: dict[str, Any]) -> None:
        if self._as_json:
            self._print(found)
            return
        words = {
            "waiting": "{detail}; changes wait until it answers",
            "in_step": "in step: {documents} documents",
            "stopped": "stopped: {documents} documents stay as they are",
        }[found["event"]].format(**found)
        refused = f", {len(found['refused'])} refused" if found.get("refused") else ""
        self._console.print(words + refused, markup=False, highlight=False, soft_wrap=True)

    def _indent(self, words: str, style: str) -> None:
        from rich.text import Text

        self._console.print(Text(" " * 12 + words, style=style), soft_wrap=True)

    def _print(self, found: dict[str, Any]) -> None:
        print(json.dumps(found, ensure_ascii=False), flush=True)


def _count(answer: dict[str, Any]) -> str:
    """How a document was partitioned, in few words."""
    counts = [(answer.get(tier, 0), tier) for tier in ("hard", "soft", "lore")]
    return ", ".join(f"{count} {tier}" for count, tier in counts if count)
