"""Candidates of one question as a table: how each was found, and how like it is to any vector."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
import numpy.typing as npt

from models.store.index.embeddings import Vector, decode_windows
from models.store.recall.candidates import ITEM_ID, LEXICAL_WEIGHT, WINDOWS, Candidate, CandidateRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The records in the order they were read, and unit rows of all their windows."""

    records: list[Candidate]
    rows: Vector
    owners: npt.NDArray[np.intp]  # for each row, the place of its record

    def measure_likeness(self, vectors: Vector) -> npt.NDArray[np.float32]:
        """For each record the cosine of its likest window to each vector; NaN for a record without a window."""
        return _measure_likeness(self.rows, self.owners, vectors, count=len(self.records))

    def single_rows(self) -> Vector:
        """A row for each record: its only window, or zeros for one that has several or none."""
        windows = np.bincount(self.owners, minlength=len(self.records))
        single = np.zeros((len(self.records), self.rows.shape[1]), dtype=np.float32)
        is_single = windows[self.owners] == 1
        single[self.owners[is_single]] = self.rows[is_single]
        return single


def complete_candidates(
    rows: Sequence[CandidateRow],
    *,
    vector: Vector | None,
    count: int,
    similarity_floor: float,
) -> Candidates:
    """The rows with their place in each leg: the `count` likest over the floor, and what holds the query's words."""
    windows, owners = decode_windows([row[WINDOWS] for row in rows])
    similarity: list[float] = []
    vector_ranks: dict[int, int] = {}
    if vector is not None:
        likeness = _measure_likeness(windows, owners, vector[np.newaxis], count=len(rows))[:, 0]
        similarity = likeness.tolist()
        order = np.argsort(-likeness, kind="stable")[:count].tolist()  # NaN comes last
        vector_ranks = {
            place: rank for rank, place in enumerate(order, 1) if similarity[place] >= similarity_floor
        }
    holding = [place for place, row in enumerate(rows) if row[LEXICAL_WEIGHT] is not None]
    holding.sort(key=lambda place: (-rows[place][LEXICAL_WEIGHT], rows[place][ITEM_ID]))
    lexical_ranks = {place: rank for rank, place in enumerate(holding, 1)}
    records = [
        Candidate._make(
            (
                *row,
                vector_ranks.get(place),
                lexical_ranks.get(place),
                similarity[place] if similarity and not isnan(similarity[place]) else None,
            )
        )
        for place, row in enumerate(rows)
    ]
    return Candidates(records=records, rows=windows, owners=owners)


def _measure_likeness(
    rows: Vector, owners: npt.NDArray[np.intp], vectors: Vector, *, count: int
) -> npt.NDArray[np.float32]:
    likeness = np.full((count, len(vectors)), np.nan, dtype=np.float32)
    if len(rows):
        is_first = np.append(True, owners[1:] != owners[:-1])
        likeness[owners[is_first]] = np.maximum.reduceat(rows @ vectors.T, np.flatnonzero(is_first))
    return likeness
