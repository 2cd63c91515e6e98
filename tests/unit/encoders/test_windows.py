"""Where long texts are cut and how windows share batches: nothing lost, nothing run twice, all bounded."""

from itertools import pairwise
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.encoders.windows import cut_at_spaces, pack_micro_batches, split_into_windows

SIZES = st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


@given(st.integers(0, 2000), SIZES)
def test_every_token_lies_in_a_window_no_larger_than_the_model_takes(
    tokens: int, sizes: tuple[int, int]
) -> None:
    size, overlap = sizes
    windows = split_into_windows(tokens, size=size, overlap=overlap)
    assert all(len(window) <= size for window in windows)
    assert {token for window in windows for token in window} == set(range(tokens))
    assert windows[0].start == 0
    assert windows[-1].stop == tokens


@given(st.integers(0, 2000), SIZES)
def test_there_are_as_few_windows_as_the_overlap_allows(tokens: int, sizes: tuple[int, int]) -> None:
    size, overlap = sizes
    expected = 1 if tokens <= size else ceil((tokens - overlap) / (size - overlap))
    assert len(split_into_windows(tokens, size=size, overlap=overlap)) == expected


@given(st.integers(0, 2000), SIZES)
def test_neighbours_share_exactly_the_overlap_and_differ_by_one_token_at_most(
    tokens: int, sizes: tuple[int, int]
) -> None:
    size, overlap = sizes
    windows = split_into_windows(tokens, size=size, overlap=overlap)
    assert all(left.stop - right.start == overlap for left, right in pairwise(windows))
    assert max(map(len, windows)) - min(map(len, windows)) <= 1


@given(st.integers(0, 2000), SIZES, st.data())
def test_a_passage_no_longer_than_the_overlap_is_whole_in_some_window(
    tokens: int, sizes: tuple[int, int], data: st.DataObject
) -> None:
    size, overlap = sizes
    length = data.draw(st.integers(0, min(tokens, overlap + 1)))
    start = data.draw(st.integers(0, tokens - length))
    windows = split_into_windows(tokens, size=size, overlap=overlap)
    assert any(window.start <= start and start + length <= window.stop for window in windows)


def test_a_text_one_token_too_long_is_halved_not_left_with_a_stub() -> None:
    assert split_into_windows(255, size=254, overlap=32) == [range(143), range(111, 255)]


def test_the_empty_text_has_one_empty_window() -> None:
    assert split_into_windows(0, size=254, overlap=32) == [range(0)]


@pytest.mark.parametrize("overlap", [-1, 254, 300])
def test_an_overlap_that_makes_no_progress_is_refused(overlap: int) -> None:
    with pytest.raises(ValueError, match=f"overlap is {overlap} tokens, expected"):
        split_into_windows(10, size=254, overlap=overlap)


@given(st.lists(st.integers(2, 256), max_size=80), st.integers(1, 600), st.integers(1, 20))
def test_micro_batches_hold_every_sequence_once_within_both_bounds(
    lengths: list[int], max_tokens: int, max_rows: int
) -> None:
    batches = pack_micro_batches(lengths, max_tokens=max_tokens, max_rows=max_rows)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[index] for index in batch)
        assert len(batch) <= max_rows
        assert len(batch) == 1 or len(batch) * longest <= max_tokens


@given(st.lists(st.integers(2, 256), max_size=80))
def test_sequences_run_longest_first_and_batches_are_full(lengths: list[int]) -> None:
    batches = pack_micro_batches(lengths, max_tokens=512, max_rows=64)
    order = [lengths[index] for batch in batches for index in batch]
    assert order == sorted(lengths, reverse=True)
    for batch in batches[:-1]:
        assert len(batch) == 64 or (len(batch) + 1) * lengths[batch[0]] > 512


@pytest.mark.parametrize(("max_tokens", "max_rows"), [(0, 1), (1, 0)])
def test_a_micro_batch_that_holds_nothing_is_refused(max_tokens: int, max_rows: int) -> None:
    with pytest.raises(ValueError, match="expected at least 1 each"):
        pack_micro_batches([1], max_tokens=max_tokens, max_rows=max_rows)


@given(st.text(alphabet="ab \n世", max_size=200), st.integers(1, 30))
def test_pieces_join_to_the_text_and_none_is_too_large(text: str, max_code_points: int) -> None:
    pieces = list(cut_at_spaces(text, max_code_points=max_code_points))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= max_code_points for piece in pieces)


@given(st.lists(st.text(alphabet="ab", min_size=1, max_size=8), max_size=40))
def test_no_word_shorter_than_a_piece_is_cut(words: list[str]) -> None:
    pieces = cut_at_spaces(" ".join(words), max_code_points=10)
    assert [word for piece in pieces for word in piece.split()] == words


def test_a_piece_of_no_size_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at least 1"):
        list(cut_at_spaces("text", max_code_points=0))
