"""Wishes: how many turns of real talk are taken for standing wishes, how many of those rightly, how many rules are missed.

Real talk is what people wrote to each other (`chat_turns.jsonl`, LoCoMo) and to an assistant (LongMemEval). Nearly
none of it states a wish that is to last, so the rate says how much noise a prompt gets.
`bench/labels/conversation_rules.jsonl` holds a reader's verdicts by turn id on what a detector found there, so far. What
is found and nobody has read yet counts as wrong in `wrong_per_1000` and is left out of `precision`; `judged` says how
many were read.

The detector is fitted on this talk as well, so its own rate here flatters it. `held_out` gives the honest one: what
models found that had never seen the source (`bench/labels/wishes_held_out.json`, written
by `bench.rules.training` beside the model).

The bar is lower where an assistant takes part, so each source is read as what it is, and the sets both ways: as said to an
assistant, and as said among people. They are measured by split; sentences of the unseen ones are counted and never listed.
No stack is needed: the same function reads here and in the workers.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.rules.detection import DEV_FILE, LABELS, load_user_turns, read_rows
from bench.rules.training import HELD_OUT
from models.domain.vectors import mean_direction
from models.domain.wishes.conversation import list_candidates
from models.encoders.protocol import Encoder
from workers.wishes import read_wishes

FindWishes = Callable[[Sequence[str], bool], list[bool]]  # turns, and whether they were said between people

BETWEEN_PEOPLE: Final = "between people"
WITH_AN_ASSISTANT: Final = "with an assistant"
SOURCES: Final = {
    "ubuntu-irc": BETWEEN_PEOPLE,
    "gitter": BETWEEN_PEOPLE,
    "locomo": BETWEEN_PEOPLE,
    "coding-agent": WITH_AN_ASSISTANT,
    "longmemeval": WITH_AN_ASSISTANT,
}
TARGETS: Final = (
    "between people at most 4 in 1,000 turns; with an assistant a precision of 0.8; of the unseen rules 0.80 found, "
    "of their decoys at most 0.05"
)
_LISTED: Final = 200
_BATCH: Final = 256
_NO_VECTOR: Final = np.zeros(0, np.float32)


def make_finder(encoder: Encoder) -> FindWishes:
    """What the workers do with a batch of turns, as a function of their words."""

    def find(texts: Sequence[str], between_people: bool) -> list[bool]:
        found: list[bool] = []
        for start in range(0, len(texts), _BATCH):
            some = texts[start : start + _BATCH]
            # The vector of a turn in which nothing can be a wish is never looked at: no time is spent on it.
            asked = [text for text in some if list_candidates(text)]
            known = {
                text: mean_direction(np.asarray(rows))
                for text, rows in zip(asked, encoder.encode_windows(asked), strict=True)
            }
            vectors = [known.get(text, _NO_VECTOR) for text in some]
            readings = read_wishes(encoder, some, vectors, between_people=[between_people] * len(some))
            found += [reading.is_rule for reading in readings]
        return found

    return find


def measure_wishes(data: Path, find: FindWishes, *, sets: Sequence[Path]) -> dict[str, Any]:
    """The rate and the precision on each source of real talk, and the shares found of each set."""
    verdicts = {row["id"]: bool(row["rule"]) for row in read_rows(LABELS)}
    turns = load_user_turns(data)
    began = time.process_time()
    found = set()
    for kind in (BETWEEN_PEOPLE, WITH_AN_ASSISTANT):
        keys = [key for key, turn in turns.items() if SOURCES[turn.source] == kind]
        outcomes = find([turns[key].text for key in keys], kind == BETWEEN_PEOPLE)
        found |= {key for key, is_wish in zip(keys, outcomes, strict=True) if is_wish}
    seconds = time.process_time() - began
    held_out = set(json.loads(HELD_OUT.read_text(encoding="utf-8"))["found"])
    places = {source: {key for key, turn in turns.items() if turn.source == source} for source in SOURCES}
    for kind in (BETWEEN_PEOPLE, WITH_AN_ASSISTANT):
        places[kind] = {key for key, turn in turns.items() if SOURCES[turn.source] == kind}
    return {
        "targets": TARGETS,
        "milliseconds_a_turn": round(1000 * seconds / max(1, len(turns)), 3),
        "talk": {place: _count(keys, found, verdicts) for place, keys in places.items()},
        "held_out": {place: _count(keys, held_out, verdicts) for place, keys in places.items()},
        "sets": {
            f"{split}, {kind}": row
            for kind in (WITH_AN_ASSISTANT, BETWEEN_PEOPLE)
            for split, row in _measure_sets([DEV_FILE, *sets], find, kind == BETWEEN_PEOPLE).items()
        },
        "found": [
            {"id": key, "wish": verdicts.get(key), "text": turns[key].text[:_LISTED]} for key in sorted(found)
        ],
    }


def _count(turns: set[str], found: set[str], verdicts: Mapping[str, bool]) -> dict[str, Any]:
    """What was found of these turns. Recall is over the turns that a reader calls wishes."""
    ours = turns & found
    judged = [verdicts[key] for key in ours if key in verdicts]
    wished = {key for key in turns if verdicts.get(key)}
    return {
        "turns": len(turns),
        "found": len(ours),
        "per_1000": round(1000 * len(ours) / len(turns), 2) if turns else 0.0,
        "judged": len(judged),
        "right": sum(judged),
        "precision": round(sum(judged) / len(judged), 3) if judged else None,
        "wrong_per_1000": round(1000 * (len(ours) - sum(judged)) / len(turns), 2) if turns else 0.0,
        "labelled": sum(key in verdicts for key in turns),
        "wishes_known": len(wished),
        "wishes_found": len(wished & found),
    }


def _measure_sets(paths: Sequence[Path], find: FindWishes, between_people: bool) -> dict[str, dict[str, Any]]:
    read: dict[str, dict[str, list[bool]]] = {}
    rows = [row for path in paths for row in read_rows(path)]
    outcomes = find([row["says"] for row in rows], between_people)
    for row, is_wish in zip(rows, outcomes, strict=True):
        read.setdefault(row["split"], {}).setdefault(row["kind"], []).append(is_wish)
    return {
        split: {
            f"{kind}s": {"of": len(outcomes), "found": round(sum(outcomes) / len(outcomes), 4)}
            for kind, outcomes in kinds.items()
        }
        for split, kinds in read.items()
    }


def describe_wishes(result: Mapping[str, Any]) -> str:
    """The result as Markdown."""
    lines = [
        "## Wishes\n",
        f"Real talk, {result['milliseconds_a_turn']} ms a turn. Target: {result['targets']}.\n",
        "| source | turns | found | in 1,000 | judged | right | precision | known wishes found |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        *(
            f"| {source}{note} | {row['turns']} | {row['found']} | {row['per_1000']:.1f} | {row['judged']} | "
            f"{row['right']} | {'–' if row['precision'] is None else format(row['precision'], '.2f')} | "
            f"{row['wishes_found']} of {row['wishes_known']} |"
            for name, note in (("held_out", ", held out"), ("talk", ", fitted"))
            for source, row in result[name].items()
        ),
        "",
        "| set | rules | found | decoys | found |",
        "|---|--:|--:|--:|--:|",
        *(
            f"| {split} | {row['rules']['of']} | {row['rules']['found']:.3f} | "
            f"{row['decoys']['of']} | {row['decoys']['found']:.3f} |"
            for split, row in result["sets"].items()
            if {"rules", "decoys"} <= row.keys()
        ),
        "",
    ]
    return "\n".join(lines)
