"""Memories: of what the gate makes durable, how much a reader would keep; of what is worth keeping, how much it keeps.

`bench/labels/memories.jsonl` holds a reader's verdicts by turn id on user turns of LoCoMo, LongMemEval and real chats
(`chat_turns.jsonl`): `worth` when a turn says something about the user, their people, plans, work, systems or wishes that
a later conversation could build on. Those drawn at random serve the fit and its cross-validation; others were sought for
words of the first person (`sought`) and serve the fit alone. The held-out ones were drawn after the last fit, so many
of what it keeps and of what it leaves, by source; `stands_for` says for how many turns of the data each of them stands.
`bench/sets/short_turns.jsonl` holds made short turns, facts and small talk, and turns of talk with agents (`talk`): set-ups,
roles and habits against findings, tasks and states of the moment; both with a held-out split too.

Every turn of a namespace passes the gate in order of time with real vectors, so novelty falls as memory fills: a speaker of
LoCoMo, a haystack of LongMemEval, a chat channel is one namespace. Short turns pass one by one into an empty memory.
Beside ours stand the seed's gate (G alone at 0.355), as many turns by length, and as many at random.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.gate_chats import Chats, ChatTurn, Namespace, Passage, load_locomo, load_longmemeval, replay_all
from bench.rules.detection import load_user_turns, read_rows
from models.domain.gate.gating import DEFAULT_THRESHOLD, decide_gate, read_text_signals
from models.domain.gate.weights import DEFAULT_WEIGHTS, GateWeights
from models.encoders.protocol import Encoder

LABELS: Final = Path(__file__).parents[1] / "labels" / "memories.jsonl"
EARLIER_LABELS: Final = Path(__file__).parents[1] / "labels" / "gate_junk.jsonl"
SHORT_TURNS: Final = Path(__file__).parents[1] / "sets" / "short_turns.jsonl"
MADE: Final = "short turns"
AGENTS: Final = "agents' turns"
OURS: Final = "longtail"
TARGET: Final = "of the durable memories judged on the held-out half 0.85 are worth keeping"
SEED_WEIGHTS: Final = replace(DEFAULT_WEIGHTS, worth=0.0)
SEED_THRESHOLD: Final = 0.355
ENCODED_AT_ONCE: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTurn:
    """A turn that a reader judged."""

    id: str
    source: str
    text: str
    is_worth: bool
    is_drawn: bool  # by chance: shares over these speak of all turns
    is_held_out: bool
    stands_for: float = 1.0  # turns


def load_judged(data: Path) -> list[JudgedTurn]:
    """Every judged turn of the data sets, and the made short turns; a later verdict does not replace an earlier one."""
    turns = load_user_turns(data)
    rows = {row["id"]: row for row in read_rows(LABELS)}
    for row in read_rows(EARLIER_LABELS):
        sought = {"id": row["id"], "worth": row["useful"], "drawn": "sought", "held_out": False}
        rows.setdefault(row["id"], sought)
    real = [
        JudgedTurn(
            id=key,
            source=turns[key].source,
            text=turns[key].text,
            is_worth=row["worth"],
            is_drawn=row["drawn"] != "sought",
            is_held_out=row["held_out"],
            stands_for=row.get("stands_for", 1.0),
        )
        for key, row in rows.items()
        if key in turns
    ]
    made = [
        JudgedTurn(
            id=f"short:{place}",
            source=AGENTS if row.get("talk") == "agent" else MADE,
            text=row["says"],
            is_worth=row["worth"],
            is_drawn=False,
            is_held_out=row["split"] == "held_out",
        )
        for place, row in enumerate(read_rows(SHORT_TURNS))
    ]
    return [*real, *made]


def load_chats(data: Path, judged: Sequence[JudgedTurn], encoder: Encoder) -> Chats:
    """Namespaces that hold every judged turn of the data sets, with vectors and text signals."""
    wanted = {turn.id for turn in judged}
    namespaces = load_locomo(data / "locomo_dev.json", most_turns=10**9)
    haystacks = load_longmemeval(data / "longmemeval_dev.json", most_turns=10**9, rng=random.Random(7))
    for haystack in haystacks:  # as few as hold all that was judged
        if found := wanted & {turn.id for turn in haystack.turns}:
            namespaces.append(haystack)
            wanted -= found
    channels: dict[str, list[ChatTurn]] = defaultdict(list)
    for place, row in enumerate(read_rows(data / "chat_turns.jsonl")):
        channels[row["source"]].append(ChatTurn(id=f"chat:{place}", text=row["text"], is_evidence=False))
    namespaces += [Namespace(source=name, turns=tuple(turns)) for name, turns in channels.items()]
    texts = {turn.id: turn.text for namespace in namespaces for turn in namespace.turns}
    keys = list(texts)
    rows = [
        row
        for start in range(0, len(keys), ENCODED_AT_ONCE)
        for row in encoder.encode([texts[key] for key in keys[start : start + ENCODED_AT_ONCE]])
    ]
    return Chats(
        namespaces=namespaces,
        vectors=dict(zip(keys, (np.asarray(row) for row in rows), strict=True)),
        signals={key: read_text_signals(text) for key, text in texts.items()},
    )


def measure_memories(
    data: Path,
    encoder: Encoder,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    weights: GateWeights = DEFAULT_WEIGHTS,
    seed: int = 7,
) -> dict[str, Any]:
    """What the gate keeps of the judged turns, by half and source, beside the seed's gate, length and chance."""
    judged = load_judged(data)
    chats = load_chats(data, judged, encoder)
    passages = replay_all(chats, threshold=threshold, weights=weights)
    ours = find_kept(passages)
    gates = {OURS: ours, "seed": find_kept(replay_all(chats, threshold=SEED_THRESHOLD, weights=SEED_WEIGHTS))}
    rng = random.Random(seed)
    result: dict[str, Any] = {
        "target": TARGET,
        "turns": len(passages),
        "kept_share": round(sum(passage.is_promoted for passage in passages) / len(passages), 4),
    }
    for half, is_held_out in (("held_out", True), ("dev", False)):
        drawn = [turn for turn in judged if turn.is_drawn and turn.is_held_out == is_held_out]
        made = [turn for turn in judged if turn.source in (MADE, AGENTS) and turn.is_held_out == is_held_out]
        kept_mass = sum(ours.get(turn.id, 0.0) * turn.stands_for for turn in drawn)
        orders: dict[str, Callable[[JudgedTurn], float]] = {
            "by length": lambda turn: float(len(turn.text)),
            "at random": lambda _: rng.random(),
        }
        kept_by = dict(gates)
        for name, key in orders.items():
            kept_by[name] = _keep_first(sorted(drawn, key=key, reverse=True), kept_mass)
        result[half] = {name: _score_sources(drawn, kept) for name, kept in kept_by.items()}
        for name, (at, by) in {OURS: (threshold, weights), "seed": (SEED_THRESHOLD, SEED_WEIGHTS)}.items():
            kept_alone = _keep_alone(made, threshold=at, weights=by)
            for source in (MADE, AGENTS):
                result[half][name][source] = _score([one for one in made if one.source == source], kept_alone)
    return result


def find_kept(passages: Sequence[Passage]) -> dict[str, float]:
    """By turn id, in which share of its namespaces it became durable."""
    seen: dict[str, list[bool]] = defaultdict(list)
    for passage in passages:
        seen[passage.turn.id].append(passage.is_promoted)
    return {key: sum(values) / len(values) for key, values in seen.items()}


def _keep_first(ordered: Sequence[JudgedTurn], mass: float) -> dict[str, float]:
    """The first that stand for so many turns together, the last of them in part."""
    kept: dict[str, float] = {}
    for turn in ordered:
        kept[turn.id] = min(max(mass / turn.stands_for, 0.0), 1.0)
        mass -= turn.stands_for
    return kept


def _keep_alone(turns: Sequence[JudgedTurn], *, threshold: float, weights: GateWeights) -> dict[str, float]:
    return {
        turn.id: float(
            decide_gate(
                read_text_signals(turn.text),
                turn_similarities=[],
                memory_similarities=[],
                threshold=threshold,
                weights=weights,
            ).keep
        )
        for turn in turns
    }


def _score_sources(turns: Sequence[JudgedTurn], kept: Mapping[str, float]) -> dict[str, Any]:
    sources = sorted({turn.source for turn in turns})
    by_source = {name: _score([turn for turn in turns if turn.source == name], kept) for name in sources}
    return {"all": _score(turns, kept), **by_source}


def _score(turns: Sequence[JudgedTurn], kept: Mapping[str, float]) -> dict[str, Any]:
    """Precision among what is kept, recall of what is worth keeping; turns count as many as they stand for."""
    mass = {turn.id: kept.get(turn.id, 0.0) * turn.stands_for for turn in turns}
    held = sum(mass.values())
    right = sum(mass[turn.id] for turn in turns if turn.is_worth)
    worth = sum(turn.stands_for for turn in turns if turn.is_worth)
    return {
        "judged": len(turns),
        "worth_keeping": sum(turn.is_worth for turn in turns),
        "kept": round(sum(kept.get(turn.id, 0.0) for turn in turns), 2),
        "precision": round(right / held, 4) if held else None,
        "recall": round(right / worth, 4) if worth else None,
    }


def describe_memories(result: Mapping[str, Any]) -> str:
    """The held-out half as a table; sources apart for ours alone."""
    lines = [
        "## Memories\n",
        f"Target: {result['target']}. Of {result['turns']} turns {result['kept_share']} become durable.\n",
        "| held-out half | kept | worth keeping among them | of what is worth keeping, kept |",
        "|---|--:|--:|--:|",
    ]
    for name, scores in result["held_out"].items():
        for source, one in scores.items():
            if source in ("all", MADE, AGENTS) or name == OURS:
                kept = f"{one['kept']:g} of {one['judged']}"
                lines.append(
                    f"| {name}, {source} | {kept} | {_show(one['precision'])} | {_show(one['recall'])} |"
                )
    return "\n".join(lines) + "\n"


def _show(share: float | None) -> str:
    return "" if share is None else f"{share:.2f}"
