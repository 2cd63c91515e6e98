"""How a prompt or a ranking is scored against the turns that answer a question. Pure arithmetic.

frac@k is the mean share of a question's evidence turns among the first k; any@k and all@k say whether at least one,
or every one, is there.
"""

import re
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC
from typing import Final

from bench.quality.records import SaidTurn, Scores
from models.domain.prompt.assembly import assemble
from models.domain.prompt.budget import Reserves
from models.domain.prompt.rendering import render_item
from models.domain.prompt.supply import Block, Supply
from models.domain.prompt.tokens import CharsCounter

DEPTHS: Final = (5, 10)
SESSION_DEPTH: Final = 5
ALL: Final = "all"
_SPACE: Final = re.compile(r"\s+")


def flatten(text: str) -> str:
    """The text without what rendering does to it: white space is one blank, our escaped `<` is one again.

    >>> flatten("two\\n  lines &lt;turn>")
    'two lines <turn>'
    """
    return _SPACE.sub(" ", text.replace("&lt;", "<")).strip()


def share_in_text(prompt: str, gold: Collection[str]) -> float:
    """The share of the gold texts that stand in the prompt, word for word.

    >>> share_in_text("- Ann: I moved\\n  to Lyon\\n- Bob: Nice", ["I moved to Lyon", "I moved to Paris"])
    0.5
    """
    flat = flatten(prompt)
    return sum(flatten(text) in flat for text in gold) / len(gold)


def score_ranking(ranked: Sequence[str], gold: Collection[str], *, prefix: str = "") -> dict[str, float]:
    """frac@k, any@k and all@k of a list of turn ids, best first; nothing without gold.

    >>> score_ranking(["a", "x", "y", "z", "w", "b"], {"a", "b"})["frac@5"]
    0.5
    """
    values: dict[str, float] = {}
    for depth in DEPTHS if gold else ():
        found = len(set(ranked[:depth]) & set(gold)) / len(gold)
        values |= {
            f"{prefix}frac@{depth}": found,
            f"{prefix}any@{depth}": float(found > 0),
            f"{prefix}all@{depth}": float(found == 1),
        }
    return values


def score_sessions(
    sessions: Iterable[str | None], gold: Collection[str], *, name: str = "session"
) -> dict[str, float]:
    """Whether one of the first five different sessions of a ranking is a gold one, and which share of those is there.

    >>> score_sessions(["s1", "s1", "s2"], {"s2", "s9"})
    {'session_any@5': 1.0, 'session_frac@5': 0.5}
    """
    first = list(dict.fromkeys(one for one in sessions if one is not None))[:SESSION_DEPTH]
    found = len(set(first) & set(gold)) / len(gold)
    return {f"{name}_any@{SESSION_DEPTH}": float(found > 0), f"{name}_frac@{SESSION_DEPTH}": found}


def pack_plain(ranked: Sequence[SaidTurn], *, budget_tokens: int) -> list[SaidTurn]:
    """The turns that fit as bare lines "who: words", ⌈characters/4⌉ each: rank order, what does not fit is skipped."""
    chosen, left = [], budget_tokens
    for turn in ranked:
        cost = -(-len(turn.line) // 4)
        if cost <= left:
            chosen.append(turn)
            left -= cost
    return chosen


def render_ranking(ranked: Sequence[SaidTurn], *, budget_tokens: int) -> str:
    """The prompt our own assembly makes of somebody else's ranking: the same frames, headings and packing."""
    blocks = [
        Block(
            id=str(place),
            rendered=render_item(turn.text, speaker=turn.speaker or turn.role),
            heading=turn.said_at.astimezone(UTC).date().isoformat(),
            said_at=turn.said_at.timestamp(),
        )
        for place, turn in enumerate(ranked)
    ]
    made = assemble(
        Supply(recall=blocks), total=budget_tokens, counter=CharsCounter(), reserves=Reserves(), min_turns=1
    )
    return made.text


def mean_by_category(scores: Iterable[Scores]) -> dict[str, dict[str, float]]:
    """Category → metric → mean over its questions, with n; `all` is the mean over all questions, not over categories.

    A metric that a question does not have (no evidence turn marked) is left out of its mean.
    """
    grouped: dict[str, list[Mapping[str, float]]] = {ALL: []}
    for one in scores:
        grouped[ALL].append(one.values)
        grouped.setdefault(one.category, []).append(one.values)
    return {
        category: {"n": float(len(rows)), **_means(rows)}
        for category, rows in sorted(grouped.items(), key=lambda pair: (pair[0] != ALL, pair[0]))
    }


def _means(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    metrics = dict.fromkeys(metric for row in rows for metric in row)
    return {
        metric: round(statistics.fmean(row[metric] for row in rows if metric in row), 4) for metric in metrics
    }
