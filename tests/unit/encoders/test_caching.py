"""A cache of vectors gives what the encoder gives, encodes a text once, and never mixes two encoders."""

import multiprocessing
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.encoders.caching import KEYS_PER_QUERY, CachingEncoder
from models.encoders.protocol import EncoderUnavailable
from models.encoders.registry import load_encoder
from models.encoders.toy import ToyEncoder
from models.settings import Settings

LONG = " ".join(f"word{number}" for number in range(200))  # several windows of the toy
TEXTS = ["I moved to Lyon", "", "\ud800 alone", LONG, "I moved to Lyon", "a\0b"]


class CountingToy(ToyEncoder):
    """The toy encoder, which remembers what it was asked to read."""

    def __init__(self, model: str = "one") -> None:
        super().__init__()
        self.read: list[str] = []
        self.fingerprint = replace(self.fingerprint, model_sha256=model)

    def encode(self, texts: Sequence[str]) -> Any:
        self.read += texts
        return super().encode(texts)

    def encode_windows(self, texts: Sequence[str]) -> Any:
        self.read += texts
        return super().encode_windows(texts)


def test_vectors_are_those_of_the_encoder_the_first_time_and_the_second(tmp_path: Path) -> None:
    toy = ToyEncoder()
    for _ in range(2):
        cached = CachingEncoder(ToyEncoder(), tmp_path / "vectors")
        np.testing.assert_array_equal(cached.encode(TEXTS), toy.encode(TEXTS))
        np.testing.assert_array_equal(cached.encode_phrasing(TEXTS), toy.encode_phrasing(TEXTS))
        for ours, theirs in zip(cached.encode_windows(TEXTS), toy.encode_windows(TEXTS), strict=True):
            assert ours.dtype == np.float32
            np.testing.assert_array_equal(ours, theirs)


def test_a_text_is_read_once_even_within_one_call_and_by_another_instance(tmp_path: Path) -> None:
    first, second = CountingToy(), CountingToy()
    CachingEncoder(first, tmp_path / "vectors").encode_windows(TEXTS)
    assert first.read == list(dict.fromkeys(TEXTS))
    CachingEncoder(second, tmp_path / "vectors").encode_windows([*TEXTS, "new"])
    assert second.read == ["new"]


def test_windows_and_whole_texts_are_kept_apart(tmp_path: Path) -> None:
    cached = CachingEncoder(ToyEncoder(), tmp_path / "vectors")
    assert cached.encode_windows([LONG])[0].shape[0] > 1
    assert cached.encode([LONG]).shape == (1, cached.dimensions)


def test_how_a_text_is_put_is_kept_apart_from_what_it_is_about(tmp_path: Path) -> None:
    counting = CountingToy()
    cached = CachingEncoder(counting, tmp_path / "vectors")
    cached.encode(["hello"])
    for _ in range(2):
        assert cached.encode_phrasing(["hello"]).shape == (1, cached.dimensions)
    assert counting.read == ["hello", "hello"]  # each way once; the toy's way of phrasing is its encode
    assert cached.encode_phrasing([]).shape == (0, cached.dimensions)


def test_another_fingerprint_finds_nothing(tmp_path: Path) -> None:
    CachingEncoder(CountingToy("one"), tmp_path / "vectors").encode(["hello"])
    other = CountingToy("two")
    CachingEncoder(other, tmp_path / "vectors").encode(["hello"])
    assert other.read == ["hello"]


def test_no_texts_are_no_rows(tmp_path: Path) -> None:
    cached = CachingEncoder(ToyEncoder(), tmp_path / "vectors")
    assert cached.encode([]).shape == (0, cached.dimensions)
    assert cached.encode_windows([]) == []


def test_more_texts_than_one_statement_takes(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(2 * KEYS_PER_QUERY + 1)]
    CachingEncoder(ToyEncoder(), tmp_path / "vectors").encode(texts)
    counting = CountingToy(ToyEncoder().fingerprint.model_sha256)
    np.testing.assert_array_equal(
        CachingEncoder(counting, tmp_path / "vectors").encode(texts), ToyEncoder().encode(texts)
    )
    assert counting.read == []


def test_the_identity_is_the_encoders(tmp_path: Path) -> None:
    toy = ToyEncoder()
    cached = CachingEncoder(toy, tmp_path / "vectors")
    assert (cached.name, cached.dimensions, cached.fingerprint) == (toy.name, toy.dimensions, toy.fingerprint)


def test_nobody_else_may_read_the_file(tmp_path: Path) -> None:
    CachingEncoder(ToyEncoder(), tmp_path / "vectors")
    assert stat.S_IMODE((tmp_path / "vectors").stat().st_mode) == 0o600


def test_a_file_that_is_no_cache_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("not a database, but long enough to be read as one" * 100)
    with pytest.raises(EncoderUnavailable, match=r"vectors cannot be used.*unset LONGTAIL_ENCODER_CACHE"):
        CachingEncoder(ToyEncoder(), tmp_path / "vectors")


def _encode_many(path: Path, first: int) -> None:
    cached = CachingEncoder(ToyEncoder(), path)
    for number in range(first, first + 100):
        cached.encode([f"text {number}"])


def test_processes_write_to_one_file_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_encode_many, args=(tmp_path / "vectors", first)) for first in (0, 50, 100)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    counting = CountingToy(ToyEncoder().fingerprint.model_sha256)
    CachingEncoder(counting, tmp_path / "vectors").encode([f"text {number}" for number in range(200)])
    assert counting.read == []


def test_the_cache_is_off_unless_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LONGTAIL_ENCODER_CACHE", raising=False)
    assert Settings().encoder_cache is None
    assert isinstance(load_encoder("toy", threads=1), ToyEncoder)
    monkeypatch.setenv("LONGTAIL_ENCODER_CACHE", str(tmp_path / "vectors"))
    named = load_encoder("toy", threads=1, cache=Settings().encoder_cache)
    assert isinstance(named, CachingEncoder)
