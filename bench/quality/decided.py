"""Updates decided without a stack: what the workers would mark, in a minute.

    python -m bench.quality.decided --data DIR --cache FILE

Each claim of a speaker is compared with its nearest others, as the workers do; vectors come from the cache once they are
there. Besides what `longtail bench quality --part updates` measures, it counts marks in haystacks of LongMemEval.
"""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

from bench.quality.datasets import load_locomo, load_longmemeval
from bench.quality.records import History, SaidTurn
from bench.quality.updates import (
    SET,
    UPDATE_CATEGORY,
    Pair,
    make_longmemeval_pairs,
    make_pairs,
    make_talk,
    read_rows,
)
from models.domain.updates.claims import read_claims, read_statement
from models.domain.updates.decision import LEAST_COSINE, decide
from models.encoders.protocol import Encoder
from models.encoders.registry import load_encoder
from models.store.memory.updates import NEAREST_STATEMENTS

SEED: Final = 11
Marks = dict[tuple[str, str], tuple[str, str, str]]  # older and newer turn → reason, both sentences


def find_marks(history: History, encoder: Encoder) -> Marks:
    """Which turns of a history a newer one replaces."""
    said = [
        (turn, claim.text)
        for turn in history.turns
        if turn.role == "user"
        for claim in read_claims(turn.text)
    ]
    if not said:
        return {}
    vectors = np.array([windows[0] for windows in encoder.encode_windows([text for _, text in said])])
    cosines = vectors @ vectors.T
    marks: Marks = {}
    for place, (turn, text) in enumerate(said):
        near = [
            other
            for other in np.argsort(-cosines[place], kind="stable")
            if _are_comparable(turn, said[other][0])
        ]
        for other in near[:NEAREST_STATEMENTS]:
            cosine = float(cosines[place, other])
            if cosine < LEAST_COSINE:
                break
            (older, was), (newer, now) = sorted(
                ((turn, text), said[other]), key=lambda one: (one[0].said_at, one[0].id)
            )
            verdict = decide(read_statement(was), read_statement(now), cosine)
            if verdict is not None:
                marks.setdefault((older.id, newer.id), (verdict.reason, was, now))
    return marks


def _are_comparable(one: SaidTurn, other: SaidTurn) -> bool:
    return one.id != other.id and one.said_at != other.said_at and one.speaker == other.speaker


def load_haystacks(data: Path, *, most: int) -> list[History]:
    """Haystacks of questions that ask for no update; their sessions are of many people, so some marks are right."""
    asked = [one for one in load_longmemeval(data) if one.questions[0].category != UPDATE_CATEGORY]
    return random.Random(SEED).sample(asked, min(most, len(asked)))


def measure_pairs(pairs: Sequence[Pair], encoder: Encoder) -> dict[str, tuple[int, int]]:
    """Of how many pairs of each split and kind every older turn is marked: {name: (marked, pairs)}."""
    counts: dict[str, tuple[int, int]] = {}
    for pair in pairs:
        replaced = {older for older, _ in find_marks(pair.history, encoder)}
        names = {pair.split, pair.about if pair.split == "longmemeval" else f"{pair.split}: {pair.about}"}
        for name in sorted(names):
            marked, seen = counts.get(name, (0, 0))
            counts[name] = (marked + set(pair.older).issubset(replaced), seen + 1)
    return counts


def measure_talk(talk: Mapping[str, Sequence[History]], encoder: Encoder) -> dict[str, dict[str, Any]]:
    """Marks in talk in which nearly nothing is an update; all of them, whether right or not."""
    found = {}
    for source, histories in talk.items():
        marks = [mark for history in histories for mark in find_marks(history, encoder).values()]
        lines = sum(turn.role == "user" for history in histories for turn in history.turns)
        found[source] = {"lines": lines, "marks": len(marks), "found": sorted(set(marks))}
    return found


def main(
    data: Annotated[Path, typer.Option(help="Folder with the data sets.")],
    cache: Annotated[Path, typer.Option(help="File that keeps vectors from run to run.")],
    haystacks: Annotated[int, typer.Option(help="Of LongMemEval, to count marks in.")] = 60,
    *,
    shows: Annotated[bool, typer.Option("--show", help="Print every mark in talk.")] = False,
) -> None:
    """Print what would be marked, of pairs and in talk."""
    encoder = load_encoder("minilm", threads=1, cache=cache)
    rows = read_rows(SET)
    filler = [turn for history in load_locomo(data) for turn in history.turns]
    pairs = [*make_pairs(rows, filler), *make_longmemeval_pairs(data)]
    for name, (marked, seen) in sorted(measure_pairs(pairs, encoder).items()):
        typer.echo(f"{name:40} {marked:4} of {seen:4}  {marked / seen:.3f}")
    talk = {**make_talk(rows, data), "longmemeval": load_haystacks(data, most=haystacks)}
    for source, one in measure_talk(talk, encoder).items():
        typer.echo(
            f"{source:40} {one['marks']:4} in {one['lines']:6}  {100 * one['marks'] / one['lines']:.2f} in 100"
        )
        for reason, was, now in one["found"] if shows else ():
            typer.echo(f"    {reason}: {was} → {now}")


if __name__ == "__main__":
    typer.run(main)
