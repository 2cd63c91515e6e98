"""`longtail bench stability`: how much of the stable part a prompt cache finds again, over one long session.

A session is replayed turn by turn, and before every turn the prompt is assembled, with a query that changes each time.
Two shares: `kept`, of the bytes of one stable part (but for its closing tags), those that the next one begins with; and
`cached`, of the bytes of the next one, those that a cache need not read again: what was added since is not among them.
Both once for a prompt before every turn, and once for one before every second: user turns alone.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from os.path import commonprefix  # of any sequence, bytes too
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.progress import Progress

from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack
from bench.texts import load_texts
from models.domain.prompt.budget import Reserves

SESSION: Final = "stability"
USER: Final = "bench"
RULES: Final = """# How we work

- Never delete data without asking.
- Always answer in metric units.

> Prefer short answers.

You should name the file you changed.
"""
TARGET: Final = 0.95
TARGET_BUDGET: Final = 8000  # what a prompt is configured for
TAIL_SHARE: Final = Reserves().tail
BUDGETS: Final = (4000, TARGET_BUDGET, 16_000, 32_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """What stayed between consecutive stable parts."""

    prompts: int
    cuts: int  # times the tail gave up its beginning
    other_breaks: int  # times something before the tail changed
    kept: float
    cached: float
    mean_bytes: int
    tail_use: float | None  # of its room, on average, once the session is longer than that
    least_tail_use: float | None


class StablePart(NamedTuple):
    """A stable part, how many of its characters stand before the closing tags, and which share of its room the tail uses."""

    text: str
    prefix_chars: int
    tail_use: float | None = None  # None: the whole session is in it


def measure_stability(parts: Sequence[StablePart]) -> Stability:
    """Shares over all pairs of neighbours, weighed by their bytes.

    >>> said = ["rules<recent_turns>a ", "rules<recent_turns>a b ", "rules<recent_turns>b c "]
    >>> measure_stability([StablePart(one + "</>", len(one)) for one in said]).kept
    0.9091
    """
    pairs = [(one.text[: one.prefix_chars].encode(), two.text.encode()) for one, two in pairwise(parts)]
    common = [len(commonprefix(pair)) for pair in pairs]  # noqa: RUF071 - bytes, no paths
    breaks = [one[:same] for (one, _), same in zip(pairs, common, strict=True) if same < len(one)]
    cuts = sum(b"<recent_turns>" in kept for kept in breaks)
    uses = [part.tail_use for part in parts if part.tail_use is not None]
    return Stability(
        prompts=len(parts),
        cuts=cuts,
        other_breaks=len(breaks) - cuts,
        kept=round(sum(common) / max(sum(len(one) for one, _ in pairs), 1), 4),
        cached=round(sum(common) / max(sum(len(two) for _, two in pairs), 1), 4),
        mean_bytes=round(sum(len(part.text.encode()) for part in parts) / max(len(parts), 1)),
        tail_use=round(sum(uses) / len(uses), 4) if uses else None,
        least_tail_use=round(min(uses), 4) if uses else None,
    )


def replay_session(
    client: ServiceClient,
    texts: Iterable[str],
    *,
    budgets: Sequence[int],
    session: str = SESSION,
    advance: Callable[[], None] = lambda: None,
) -> dict[int, list[StablePart]]:
    """Stable parts by budget: a prompt before each turn, then the turn is sent."""
    found: dict[int, list[StablePart]] = {budget: [] for budget in budgets}
    for number, said in enumerate(texts):
        for budget in budgets:
            answer = client.assemble(session_id=session, query=said, budget_tokens=budget, user_id=USER)
            in_tail = sum(item["tier"] == "tail" for item in answer["items"])
            use = answer["budget"]["tail"] / (TAIL_SHARE * budget) if in_tail < number else None
            found[budget].append(StablePart(answer["stable"]["text"], answer["stable_prefix_chars"], use))
        role = "user" if number % 2 == 0 else "assistant"
        turn = {"role": role, "content": said, "id": f"{session}-{number}"}
        client.post_turns(session, [turn], user_id=USER)
        advance()
    return found


def run(
    *, turns: int, data: Path | None, output: Path | None, console: Console, encoder: str
) -> dict[str, Any]:
    """The whole benchmark on a stack of its own."""
    texts = load_texts(turns, data=data)
    start = time.perf_counter()
    with (
        ThrowawayStack({"LONGTAIL_ENCODER": encoder}) as stack,
        ServiceClient.from_settings(stack.settings) as client,
        Progress(console=console) as progress,
    ):
        client.put_document("rules.md", RULES)
        bar = progress.add_task("talking", total=len(texts))
        stable = replay_session(client, texts, budgets=BUDGETS, advance=lambda: progress.advance(bar))
    result: dict[str, Any] = {
        "turns": len(texts),
        "seconds": round(time.perf_counter() - start, 1),
        "target": f"at {TARGET_BUDGET} tokens, kept ≥ {TARGET} of the stable bytes between consecutive turns",
        "every_turn": {budget: asdict(measure_stability(parts)) for budget, parts in stable.items()},
        "user_turns": {budget: asdict(measure_stability(parts[::2])) for budget, parts in stable.items()},
    }
    result["is_reached"] = result["every_turn"][TARGET_BUDGET]["kept"] >= TARGET
    if output is not None:
        output.write_text(json.dumps(result, indent=2))
    return result
