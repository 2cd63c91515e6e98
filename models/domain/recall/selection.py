"""Which ranked items go into a budget: best first, nothing twice, never over (memory-model.md section 7)."""

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Policy = Literal["skip", "stop"]
DropReason = Literal["duplicate", "no_room", "stopped"]

# Two texts this close say the same thing; the same bound merges durable memories (section 5).
DUPLICATE_COSINE = 0.95

_SPACE = re.compile(r"\s+")
_MARK = re.compile(
    r"\d[\d.,:/-]*(?<=\d)|\b(?:no|not|never|none|nobody|nothing|without|cannot|[a-z]{2,8}n't)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackItem:
    """One candidate for the budget. An empty text key and a missing vector mean: compared with nothing."""

    id: str
    tokens: int
    score: float
    vector: NDArray[np.floating[Any]] | None = field(default=None, compare=False)
    text_key: str = ""

    def __post_init__(self) -> None:
        if self.tokens < 0:
            raise ValueError(f"item '{self.id}' costs {self.tokens} tokens; a cost is 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """What was chosen, in score order, and why each other item was not."""

    chosen: tuple[str, ...]
    dropped: tuple[tuple[str, DropReason], ...]
    duplicate_of: tuple[tuple[str, str], ...]  # (dropped id, the chosen id that says it already)
    used_tokens: int


def make_text_key(text: str) -> str:
    """The identity of a text up to case and white space; empty for an empty text.

    >>> make_text_key("Use  tabs.") == make_text_key(" use tabs.\\n")
    True
    """
    plain = _SPACE.sub(" ", text).strip().casefold()
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest() if plain else ""


def find_marks(text: str) -> frozenset[str]:
    """The numbers and the negations of a text: two texts that differ in these do not say the same.

    An encoder hardly sees the difference between 900 and 950, or between "do" and "do not".

    >>> find_marks("Rent is 950 now") == find_marks("Rent is 900 now")
    False
    >>> sorted(find_marks("I don't eat 2.5 eggs, and NOT 3"))
    ['2.5', '3', "don't", 'not']
    """
    return frozenset(_MARK.findall(text.replace("’", "'").lower()))


def unit_vector(vector: NDArray[np.floating[Any]] | None) -> NDArray[np.float64] | None:
    """The direction of a vector, of length 1; None when it has none (missing, zero, not finite).

    >>> unit_vector(np.array([0.0, -5.0])), unit_vector(np.zeros(2))
    (array([ 0., -1.]), None)
    """
    if vector is None:
        return None
    flat = np.asarray(vector, dtype=np.float64).ravel()
    if not flat.size or not np.isfinite(flat).all():
        return None
    largest = float(np.abs(flat).max())
    if largest == 0.0:
        return None
    scaled = flat / largest  # first, so that squaring can neither overflow nor vanish
    return scaled / float(np.linalg.norm(scaled))


def pack(
    items: Iterable[PackItem],
    *,
    capacity_tokens: int,
    duplicate_cosine: float = DUPLICATE_COSINE,
    policy: Policy = "skip",
) -> Packing:
    """Take items by score (ties by id) while they fit; Σ tokens ≤ capacity always.

    A near-duplicate of a chosen item (cosine, the same text or the same id) is left out before its cost is
    looked at. An item that does not fit is skipped and the next tried (`skip`), or ends the packing (`stop`).

    >>> a, b = (PackItem(id=name, tokens=cost, score=s) for name, cost, s in (("a", 60, 0.9), ("b", 50, 0.8)))
    >>> pack([a, b, PackItem(id="c", tokens=40, score=0.7)], capacity_tokens=100).chosen
    ('a', 'c')
    """
    if policy not in get_args(Policy):
        raise ValueError(f"packing policy is '{policy}'; choose one of {', '.join(get_args(Policy))}")
    chosen: list[str] = []
    dropped: list[tuple[str, DropReason]] = []
    duplicate_of: list[tuple[str, str]] = []
    said = _Said(duplicate_cosine)
    used, is_stopped = 0, False
    for item in sorted(items, key=_pack_order):
        original = said.find(item)
        if is_stopped:
            dropped.append((item.id, "stopped"))
        elif original is not None:
            dropped.append((item.id, "duplicate"))
            duplicate_of.append((item.id, original))
        elif used + item.tokens > capacity_tokens:
            dropped.append((item.id, "no_room"))
            is_stopped = policy == "stop"
        else:
            chosen.append(item.id)
            used += item.tokens
            said.add(item)
    return Packing(
        chosen=tuple(chosen), dropped=tuple(dropped), duplicate_of=tuple(duplicate_of), used_tokens=used
    )


def find_repeats(
    texts: Sequence[str],
    vectors: NDArray[np.floating[Any]] | None = None,
    *,
    duplicate_cosine: float = DUPLICATE_COSINE,
) -> dict[int, int]:
    """Which texts, best first, only repeat a better one: {its place: the place of the one that says it already}.

    `vectors` holds a unit row for each text; a row of zeros is like nothing.

    >>> find_repeats(["Tea.", "Milk.", " tea. "])
    {2: 0}
    >>> find_repeats(["Rent is 900", "The rent is 900", "Rent is 950"], np.array([[1.0, 0], [1, 0], [1, 0]]))
    {1: 0}
    """
    close: dict[int, list[int]] = {}
    if vectors is not None and len(vectors):
        for later, earlier in np.argwhere(np.tril(vectors @ vectors.T >= duplicate_cosine, k=-1)).tolist():
            close.setdefault(later, []).append(earlier)
    by_text: dict[str, int] = {}
    repeats: dict[int, int] = {}
    for place, text in enumerate(texts):
        original = by_text.setdefault(" ".join(text.split()).casefold(), place)
        if original == place and place in close:
            marks = find_marks(text)
            same = (
                other for other in close[place] if other not in repeats and find_marks(texts[other]) == marks
            )
            original = next(same, place)
        if original != place:
            repeats[place] = repeats.get(original, original)
    return repeats


def _pack_order(item: PackItem) -> tuple[float, str, int, str]:
    score = item.score if math.isfinite(item.score) else 0.0
    return (-score, item.id, item.tokens, item.text_key)


class _Said:
    """What the chosen items say already, by id, by text and by direction in each vector space."""

    def __init__(self, duplicate_cosine: float) -> None:
        self._bound = duplicate_cosine
        self._by_id: set[str] = set()
        self._by_text: dict[str, str] = {}
        self._ids: dict[int, list[str]] = {}
        self._units: dict[int, NDArray[np.float64]] = {}

    def find(self, item: PackItem) -> str | None:
        """The chosen id that the item repeats, if any."""
        if item.id in self._by_id:
            return item.id
        if item.text_key and item.text_key in self._by_text:
            return self._by_text[item.text_key]
        unit = unit_vector(item.vector)
        # Vectors of different length come from different encoders: their angle means nothing.
        if unit is None or unit.size not in self._units:
            return None
        similarity = self._units[unit.size] @ unit
        nearest = int(np.argmax(similarity))
        return self._ids[unit.size][nearest] if similarity[nearest] >= self._bound else None

    def add(self, item: PackItem) -> None:
        self._by_id.add(item.id)
        if item.text_key:
            self._by_text[item.text_key] = item.id
        unit = unit_vector(item.vector)
        if unit is None:
            return
        key = unit.size
        self._ids.setdefault(key, []).append(item.id)
        rows = self._units.get(key)
        self._units[key] = unit[np.newaxis] if rows is None else np.vstack((rows, unit))
