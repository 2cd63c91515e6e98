"""The toy encoder: deterministic, unit length, and similar where words are shared."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.encoders.protocol import Encoder
from models.encoders.toy import ToyEncoder

TOY: Encoder = ToyEncoder()


def similarity(a: str, b: str) -> float:
    rows = TOY.encode([a, b])
    return float(rows[0] @ rows[1])


@given(st.lists(st.text(alphabet=st.characters(), max_size=60), max_size=5))
def test_every_text_has_a_unit_row(texts: list[str]) -> None:
    rows = TOY.encode(texts)
    assert rows.shape == (len(texts), 64)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 300), min_size=1, max_size=4))
def test_long_texts_have_a_unit_row_per_window(word_counts: list[int]) -> None:
    texts = [" ".join(f"word{number}" for number in range(count)) for count in word_counts]
    for count, rows in zip(word_counts, TOY.encode_windows(texts), strict=True):
        assert rows.shape == (1 if count <= 64 else -(-(count - 8) // 56), 64)
        assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


def test_the_same_text_has_the_same_vector_in_another_process() -> None:
    script = (
        "from models.encoders.toy import ToyEncoder;"
        "print(ToyEncoder().encode(['the quick brown fox'])[0].tobytes().hex())"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == TOY.encode(["the quick brown fox"])[0].tobytes().hex()


def test_texts_that_share_words_are_closer_than_texts_that_share_none() -> None:
    question = "which database does the billing service use"
    answer = "the billing service uses the postgres database"
    other = "my sister paints watercolours near the harbour"
    assert similarity(question, answer) > 0.5
    assert similarity(question, answer) > similarity(question, other) + 0.3


def test_inflected_words_are_similar_through_their_letters() -> None:
    assert similarity("deployment", "deployments") > 0.5
    assert similarity("deployment", "deployments") < 0.99


def test_case_and_punctuation_do_not_matter() -> None:
    assert similarity("Hello, World!", "hello world") == pytest.approx(1.0)


def test_order_and_neighbours_in_the_call_do_not_matter() -> None:
    alone = TOY.encode(["alpha beta"])[0]
    among = TOY.encode(["gamma", "alpha beta", "delta"])[1]
    assert np.array_equal(alone, among)


def test_encode_reads_the_first_window_only() -> None:
    words = [f"word{number}" for number in range(64)]
    head = TOY.encode([" ".join(words)])
    assert np.array_equal(TOY.encode([" ".join([*words, "tail"])]), head)
    assert not np.array_equal(TOY.encode([" ".join(["tail", *words])]), head)


def test_texts_without_words_share_one_vector() -> None:
    rows = TOY.encode(["", "  \n", "!?", "😀"])
    assert np.array_equal(rows, np.tile(rows[0], (4, 1)))


def test_no_texts_give_no_rows() -> None:
    assert TOY.encode([]).shape == (0, 64)
    assert TOY.encode_windows([]) == []


@pytest.mark.parametrize("text", ["a" * 1_000_000, "a " * 500_000, "." * 1_000_000, "\ud800" * 1_000_000])
def test_a_megabyte_is_encoded_in_linear_time(text: str) -> None:
    (rows,) = TOY.encode_windows([text])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


def test_the_toy_says_what_it_is() -> None:
    assert (TOY.name, TOY.dimensions) == ("toy", 64)
    assert TOY.fingerprint.as_dict() == {
        "name": "toy",
        "model_sha256": TOY.fingerprint.model_sha256,
        "dimensions": 64,
        "pooling": "sum",
        "normalisation": "l2",
        "max_tokens": 64,
        "tokenizer_sha256": TOY.fingerprint.tokenizer_sha256,
    }
