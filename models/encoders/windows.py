"""Where a long text is cut, and which windows are run together (docs/decisions/0004)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise


def split_into_windows(tokens: int, *, size: int, overlap: int) -> list[range]:
    """Returns the fewest windows of at most `size` tokens that cover [0, tokens) and share `overlap`.

    One window where the text fits (an empty one for the empty text), else
    ⌈(tokens − overlap) / (size − overlap)⌉. Starts are spread evenly rather than packed from the
    left: a packed last window can hold three words, and a vector of three words matches anything.

    >>> split_into_windows(10, size=6, overlap=2)
    [range(0, 6), range(4, 10)]
    >>> split_into_windows(11, size=6, overlap=2)
    [range(0, 5), range(3, 8), range(6, 11)]
    """
    if not 0 <= overlap < size:
        raise ValueError(f"overlap is {overlap} tokens, expected at least 0 and less than the window, {size}")
    if tokens <= size:
        return [range(tokens)]
    step = size - overlap
    count = -(-(tokens - overlap) // step)
    # Cut what is left after the shared part into `count` steps that differ by at most one token.
    starts = [(tokens - overlap) * index // count for index in range(count + 1)]
    return [range(start, following + overlap) for start, following in pairwise(starts)]


def pack_micro_batches(lengths: Sequence[int], *, max_tokens: int, max_rows: int) -> list[list[int]]:
    """Returns the indices of all sequences in runs, longest first, each run padded to its first member.

    rows × longest ≤ max_tokens and rows ≤ max_rows, except that a run has at least one row. Sorting
    makes neighbours of one length, so that little of a batch is padding.

    >>> pack_micro_batches([3, 9, 2, 8], max_tokens=18, max_rows=3)
    [[1, 3], [0, 2]]
    """
    if max_tokens < 1 or max_rows < 1:
        raise ValueError(
            f"a micro-batch holds {max_tokens} tokens and {max_rows} rows, expected at least 1 each"
        )
    batches: list[list[int]] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        current = batches[-1] if batches else []
        if current and len(current) < max_rows and (len(current) + 1) * longest <= max_tokens:
            current.append(index)
        else:
            batches.append([index])
            longest = lengths[index]
    return batches


def cut_at_spaces(text: str, *, max_code_points: int) -> Iterator[str]:
    """Yields consecutive pieces that join to the text, each cut after a space or line end where it has one.

    A tokenizer that splits words at white space reads the pieces as it reads the whole, one bounded
    piece at a time. A piece without white space is cut at max_code_points.

    >>> list(cut_at_spaces("aa bb ccccccc", max_code_points=4))
    ['aa ', 'bb ', 'cccc', 'ccc']
    """
    if max_code_points < 1:
        raise ValueError(f"a piece holds {max_code_points} code points, expected at least 1")
    start = 0
    while len(text) - start > max_code_points:
        end = start + max_code_points
        space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
        end = space + 1 if space >= 0 else end
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]
