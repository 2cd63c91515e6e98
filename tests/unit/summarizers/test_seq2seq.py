"""The local encoder-decoder writer, with tiny ONNX models made here: one copies its source, one is a Markov chain."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from models.domain.compaction.extraction import Passage
from models.settings import Settings
from models.summarizers.protocol import SummarizerUnavailable, SummaryRequest
from models.summarizers.registry import load_summarizer
from models.summarizers.seq2seq import MAX_NEW_TOKENS, Seq2SeqSummarizer

KNOWN = "summarize : user the port is 5433 moved to lisbon a b x y z"
WORDS = ["<pad>", "</s>", "<unk>", *KNOWN.split()]
ID = {word: number for number, word in enumerate(WORDS)}


def value(name: str, kind: int, *shape: str | int) -> Any:
    return helper.make_tensor_value_info(name, kind, list(shape))


def save(path: Path, nodes: list[Any], inputs: list[Any], outputs: list[Any], constants: list[Any]) -> None:
    graph = helper.make_graph(nodes, path.stem, inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def save_encoder(folder: Path) -> None:
    """Each token as its own unit vector."""
    identity = numpy_helper.from_array(np.eye(len(WORDS), dtype=np.float32), "table")
    save(
        folder / "encoder_model.onnx",
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        [
            value("input_ids", TensorProto.INT64, "b", "s"),
            value("attention_mask", TensorProto.INT64, "b", "s"),
        ],
        [value("last_hidden_state", TensorProto.FLOAT, "b", "s", len(WORDS))],
        [identity],
    )


DECODER_INPUTS = [
    value("input_ids", TensorProto.INT64, "b", "t"),
    value("encoder_hidden_states", TensorProto.FLOAT, "b", "s", len(WORDS)),
    value("encoder_attention_mask", TensorProto.INT64, "b", "s"),
]


def save_tokenizer(folder: Path) -> None:
    tokenizer = Tokenizer(WordLevel(ID, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))


def make_copier(folder: Path) -> Path:
    """A decoder whose token t is the source's token t, with nearly all of the probability."""
    save_encoder(folder)
    save_tokenizer(folder)
    numbers = {"zero": [0], "one": [1], "scale": np.array(20.0, dtype=np.float32)}
    save(
        folder / "decoder_model.onnx",
        [
            helper.make_node("Shape", ["input_ids"], ["shape"]),
            helper.make_node("Gather", ["shape", "one"], ["length"]),
            helper.make_node("Slice", ["encoder_hidden_states", "zero", "length", "one"], ["part"]),
            helper.make_node("Mul", ["part", "scale"], ["logits"]),
        ],
        DECODER_INPUTS,
        [value("logits", TensorProto.FLOAT, "b", "u", len(WORDS))],
        [numpy_helper.from_array(np.asarray(number), name) for name, number in numbers.items()],
    )
    return folder


def make_chain(folder: Path, steps: dict[str, dict[str, float]]) -> Path:
    """A decoder that looks at its last token alone: P(next | last) as given."""
    save_encoder(folder)
    save_tokenizer(folder)
    table = np.full((len(WORDS), len(WORDS)), -30.0, dtype=np.float32)
    for last, nexts in steps.items():
        for word, probability in nexts.items():
            table[ID[last], ID[word]] = math.log(probability)
    save(
        folder / "decoder_model.onnx",
        [helper.make_node("Gather", ["table", "input_ids"], ["logits"])],
        DECODER_INPUTS,
        [value("logits", TensorProto.FLOAT, "b", "t", len(WORDS))],
        [numpy_helper.from_array(table, "table")],
    )
    return folder


def ask(text: str, *, max_tokens: int = 30) -> SummaryRequest:
    return SummaryRequest(passages=[Passage(label="user", text=text)], max_tokens=max_tokens)


@pytest.mark.parametrize("beams", [1, 3])
def test_a_model_is_loaded_and_its_text_decoded_to_the_end_token(tmp_path: Path, beams: int) -> None:
    writer = Seq2SeqSummarizer(make_copier(tmp_path), beams=beams)
    draft = writer.summarize(ask("the port is 5433"))
    assert draft.text == "summarize : user : the port is 5433"
    assert draft.decoder_confidence == pytest.approx(1.0, abs=1e-3)
    assert writer.name == f"seq2seq:{tmp_path.name}"


def test_the_length_is_limited(tmp_path: Path) -> None:
    writer = Seq2SeqSummarizer(make_copier(tmp_path))
    assert writer.summarize(ask("the port is 5433", max_tokens=4)).text == "summarize : user :"
    endless = make_chain(
        tmp_path,
        {"<pad>": {"a": 1.0}, "a": {"b": 1.0}, "b": {"x": 0.5, "y": 0.5}, "x": {"a": 1.0}, "y": {"b": 1.0}},
    )
    words = Seq2SeqSummarizer(endless).summarize(ask("x", max_tokens=10_000)).text.split()
    assert 0 < len(words) <= MAX_NEW_TOKENS


def test_beams_find_the_likelier_text_that_greedy_choice_misses(tmp_path: Path) -> None:
    chain = make_chain(
        tmp_path,
        {
            "<pad>": {"a": 0.6, "b": 0.4},
            "a": {"x": 0.34, "y": 0.33, "z": 0.33},
            "b": {"</s>": 1.0},
            **{last: {"</s>": 1.0} for last in "xyz"},
        },
    )
    greedy = Seq2SeqSummarizer(chain, beams=1).summarize(ask("port"))
    beam = Seq2SeqSummarizer(chain, beams=4).summarize(ask("port"))
    assert greedy.text == "a x"
    assert beam.text == "b"
    assert greedy.decoder_confidence == pytest.approx((0.6 * 0.34) ** (1 / 3), abs=1e-3)
    assert beam.decoder_confidence == pytest.approx(0.4 ** (1 / 2), abs=1e-3)


def test_a_loop_is_not_written_twice(tmp_path: Path) -> None:
    chain = make_chain(
        tmp_path, {"<pad>": {"a": 1.0}, "a": {"b": 1.0}, "b": {"x": 1.0}, "x": {"a": 0.9, "</s>": 0.1}}
    )
    words = Seq2SeqSummarizer(chain, beams=1).summarize(ask("port", max_tokens=20)).text.split()
    triples = list(zip(words, words[1:], words[2:], strict=False))
    assert len(triples) == len(set(triples))


def test_a_source_longer_than_the_model_reads_is_shortened_first(tmp_path: Path) -> None:
    writer = Seq2SeqSummarizer(make_copier(tmp_path))
    long = " ".join(["The port is 5433."] + [f"moved to lisbon number {n}." for n in range(400)])
    assert "5433" in writer.summarize(ask(long, max_tokens=256)).text


def test_the_same_text_gives_the_same_draft(tmp_path: Path) -> None:
    writer = Seq2SeqSummarizer(make_copier(tmp_path))
    assert writer.summarize(ask("the port")) == writer.summarize(ask("the port"))


def test_the_configuration_names_the_control_tokens(tmp_path: Path) -> None:
    chain = make_chain(tmp_path, {"z": {"a": 1.0}, "a": {"y": 1.0}})
    (tmp_path / "config.json").write_text(
        json.dumps({"decoder_start_token_id": ID["z"], "eos_token_id": ID["y"]})
    )
    assert Seq2SeqSummarizer(chain).summarize(ask("port")).text == "a"


@pytest.mark.parametrize("name", ["encoder_model.onnx", "decoder_model.onnx", "tokenizer.json"])
def test_a_file_that_is_missing_or_broken_is_named(tmp_path: Path, name: str) -> None:
    folder = make_copier(tmp_path)
    (folder / name).write_bytes(b"not a model")
    with pytest.raises(SummarizerUnavailable, match=name):
        Seq2SeqSummarizer(folder)
    (folder / name).unlink()
    with pytest.raises(SummarizerUnavailable, match=name):
        Seq2SeqSummarizer(folder)


def test_models_that_do_not_fit_each_other_fail_at_the_start(tmp_path: Path) -> None:
    folder = make_copier(tmp_path)
    (folder / "decoder_model.onnx").write_bytes((folder / "encoder_model.onnx").read_bytes())
    with pytest.raises(SummarizerUnavailable):
        Seq2SeqSummarizer(folder)


def test_the_setting_leads_to_the_model(tmp_path: Path) -> None:
    loaded = load_summarizer(Settings(summarizer="seq2seq", summarizer_folder=make_copier(tmp_path)))
    assert loaded is not None
    assert (loaded.method, loaded.is_ready) == ("abstractive", True)
