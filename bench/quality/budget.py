"""Whether a prompt uses its budget: the share of it that is used while something above the floor was left out.

What could have been there is asked apart from the prompt: a search that looks far wider than any assembly, over every page.
A candidate is left out when it scores at least the floor and the prompt holds neither its turn nor a quote of it, for no
other reason than room: what repeats something in the prompt, or carries nothing, is not missed.
"""

import statistics
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from bench.quality.records import History, Question
from bench.quality.service import Service
from models.domain.recall.scoring import RECALL_FLOOR
from models.domain.records import ROLES

BUDGETS_TOKENS: Final = (1000, 2000, 4000, 8000)
TARGET_USE: Final = 0.90
TARGET: Final = f"at least {TARGET_USE} of the budget used whenever a candidate above the floor was left out"
PAGE: Final = 200
MOST_PAGES: Final = 3
NO_LOSS: Final = (
    "nearly the same",
    "already in the prompt",
    "stands for",
    "carries nothing",
    "the host shows it",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How one prompt used its budget."""

    budget_tokens: int
    used: float  # share of the budget
    left_out: (
        int  # candidates above the floor that are not in it, for want of room or because they were not read
    )
    says_exhausted: bool  # whether the answer says that nothing else is worth its room


def find_left_out(
    found: Sequence[Mapping[str, Any]], *, floor: float, in_prompt: frozenset[str], reasons: Mapping[str, str]
) -> list[str]:
    """Ids of what scores the floor or more and is not in the prompt, but for what is no loss.

    >>> hits = [{"id": "a", "score": 0.5, "source_turn_ids": ["a"]}, {"id": "b", "score": 0.4, "source_turn_ids": ["b"]}]
    >>> find_left_out(hits, floor=0.3, in_prompt=frozenset({"a"}), reasons={})
    ['b']
    >>> find_left_out(hits, floor=0.3, in_prompt=frozenset({"a"}), reasons={"b": "nearly the same as a, which ranks higher"})
    []
    """
    return [
        hit["id"]
        for hit in found
        if hit["score"] >= floor
        and in_prompt.isdisjoint({hit["id"], *hit["source_turn_ids"]})
        and not any(words in reasons.get(hit["id"], "") for words in NO_LOSS)
    ]


def measure_budget(
    service: Service, histories: Sequence[History], *, title: str, floor: float = RECALL_FLOOR
) -> dict[str, Any]:
    """Every question at every budget."""
    asked = [(history, question) for history in histories for question in history.questions]
    bar = service.progress.add_task(f"{title}: filling prompts", total=len(asked))

    def ask(pair: tuple[History, Question]) -> list[Use]:
        uses = _measure_question(service, *pair, floor=floor)
        service.progress.advance(bar)
        return uses

    with ThreadPoolExecutor(max_workers=service.clients) as pool:
        uses = [use for found in pool.map(ask, asked) for use in found]
    service.progress.remove_task(bar)
    return {
        "questions": len(asked),
        "budgets": {
            budget: summarize([use for use in uses if use.budget_tokens == budget])
            for budget in BUDGETS_TOKENS
        },
    }


def _measure_question(service: Service, history: History, question: Question, *, floor: float) -> list[Use]:
    found = _search_wide(service, history, question, floor=floor)
    uses = []
    for budget_tokens in BUDGETS_TOKENS:
        answer = service.assemble(history.user, question, budget_tokens, explain=True)
        in_prompt = frozenset(
            key for item in answer["items"] for key in (item["id"], *item["source_turn_ids"])
        )
        reasons = {one["id"]: one["reason"] or "" for one in answer["explain"]["candidates"]}
        uses.append(
            Use(
                budget_tokens=budget_tokens,
                used=answer["budget"]["used"] / answer["budget"]["total"],
                left_out=len(find_left_out(found, floor=floor, in_prompt=in_prompt, reasons=reasons)),
                says_exhausted=bool(answer["budget"].get("exhausted")),
            )
        )
    return uses


def _search_wide(
    service: Service, history: History, question: Question, *, floor: float
) -> list[Mapping[str, Any]]:
    """Everything above the floor that a search ten times as broad as an assembly finds."""
    asked: dict[str, Any] = {
        "query": question.text,
        "user_id": history.user,
        "now": question.asked_at.isoformat(),
        "roles": list(ROLES),  # a filter that lets everything said through: the search looks for more
        "k": PAGE,
    }
    found: list[Mapping[str, Any]] = []
    for _ in range(MOST_PAGES):
        answer = service.client.search(**asked)
        found += answer["results"]
        if not answer["next_cursor"] or found[-1]["score"] < floor:
            break
        asked["cursor"] = answer["next_cursor"]
    return found


def summarize(uses: Sequence[Use]) -> dict[str, Any]:
    """Means over prompts; `used_while_left_out` is the number with a target.

    >>> full = Use(budget_tokens=1000, used=0.99, left_out=3, says_exhausted=False)
    >>> done = Use(budget_tokens=1000, used=0.20, left_out=0, says_exhausted=True)
    >>> summarize([full, done])["used_while_left_out"], summarize([full, done])["exhausted_and_said"]
    (0.99, 1.0)
    """
    short = [use for use in uses if use.left_out]
    exhausted = [use for use in uses if not use.left_out and use.used < TARGET_USE]
    return {
        "prompts": len(uses),
        "used": _mean([use.used for use in uses]),
        "prompts_with_left_out": len(short),
        "used_while_left_out": _mean([use.used for use in short]),
        "least_used_while_left_out": round(min((use.used for use in short), default=1.0), 4),
        "target_met": _mean([float(use.used >= TARGET_USE) for use in short]),
        "prompts_exhausted": len(exhausted),
        "exhausted_and_said": _mean([float(use.says_exhausted) for use in exhausted]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(statistics.fmean(values), 4) if values else None


def describe_budget(result: Mapping[str, Any]) -> str:
    """The result as Markdown."""
    lines = [
        "## Budget use\n",
        f"Floor {result['floor']}. Target: {result['target']}.\n",
        "| data | budget | prompts | used | something left out | used then | least | ≥ 0.90 then | exhausted | said so |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, found in result["data"].items():
        for budget, row in found["budgets"].items():
            cells = [
                name,
                str(budget),
                str(row["prompts"]),
                _show(row["used"]),
                str(row["prompts_with_left_out"]),
                *(
                    _show(row[key])
                    for key in ("used_while_left_out", "least_used_while_left_out", "target_met")
                ),
                str(row["prompts_exhausted"]),
                _show(row["exhausted_and_said"]),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _show(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
