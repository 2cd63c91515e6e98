"""A local encoder-decoder (T5 family) in ONNX files: real loading, beam search, length limits, its own confidence.

The folder holds what `optimum-cli export onnx --task text2text-generation` writes:

    encoder_model.onnx   input_ids, attention_mask → last_hidden_state
    decoder_model.onnx   input_ids, encoder_hidden_states, encoder_attention_mask → logits
    tokenizer.json       Hugging Face tokenizers
    config.json          decoder_start_token_id, eos_token_id, pad_token_id (T5's where it is missing)

Build it in the process that uses it: the threads of ONNX Runtime do not survive a fork.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from models.domain.compaction.extraction import extract_summary
from models.domain.compaction.summaries import Method
from models.summarizers.protocol import Draft, SummarizerUnavailable, SummaryRequest

MAX_SOURCE_TOKENS: Final = 512  # what T5 was trained to read
MAX_NEW_TOKENS: Final = 256
BEAMS: Final = 4  # 1 is greedy
LENGTH_PENALTY: Final = 1.0
NO_REPEAT: Final = 3  # no run of so many tokens twice
PREFIX: Final = "summarize: "
T5_CONTROL: Final = {"decoder_start_token_id": 0, "eos_token_id": 1, "pad_token_id": 0}

Logits = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beam:
    tokens: tuple[int, ...]
    log_probability: float
    is_finished: bool = False

    def score(self) -> float:
        """Log probability per token: a longer text is not worse for being longer."""
        return self.log_probability / float(max(len(self.tokens) - 1, 1) ** LENGTH_PENALTY)


class Seq2SeqSummarizer:
    """Writes with a model of its own; deterministic for the same files and text."""

    method: Final[Method] = "abstractive"
    is_ready: Final = True

    def __init__(self, folder: Path, *, threads: int = 1, beams: int = BEAMS) -> None:
        self.name = f"seq2seq:{folder.name}"
        self._beams = beams
        self._encoder = _open_session(folder / "encoder_model.onnx", threads=threads)
        self._decoder = _open_session(folder / "decoder_model.onnx", threads=threads)
        self._decoder_inputs = {entry.name for entry in self._decoder.get_inputs()}
        self._tokenizer = _load_tokenizer(folder / "tokenizer.json")
        control = _read_config(folder / "config.json")
        self._start, self._end, self._padding = (
            control[key] for key in ("decoder_start_token_id", "eos_token_id", "pad_token_id")
        )
        # One run now: files that do not fit each other fail here and not in use.
        self._generate(self._read("ready"), max_new_tokens=1)

    def summarize(self, request: SummaryRequest) -> Draft:
        """The best beam within the room, and the geometric mean probability of its tokens."""
        source = self._read(self._fit(request))
        limit = max(1, min(request.max_tokens, MAX_NEW_TOKENS))
        best = self._generate(source, max_new_tokens=limit)
        written = [token for token in best.tokens[1:] if token not in (self._end, self._padding)]
        text: str = self._tokenizer.decode(written, skip_special_tokens=True)
        count = max(len(best.tokens) - 1, 1)
        return Draft(text=text.strip(), decoder_confidence=math.exp(best.log_probability / count))

    def _fit(self, request: SummaryRequest) -> str:
        """The passages as one text; too long for the model, its best sentences."""
        text = " ".join(f"{passage.label}: {' '.join(passage.text.split())}" for passage in request.passages)
        if len(self._tokenizer.encode(PREFIX + text).ids) <= MAX_SOURCE_TOKENS:
            return text
        shorter = extract_summary(
            request.passages,
            capacity_tokens=MAX_SOURCE_TOKENS - 16,
            count_tokens=lambda part: len(self._tokenizer.encode(part, add_special_tokens=False).ids),
            prior_text=request.prior_text,
        )
        return " ".join(shorter.split())

    def _read(self, text: str) -> NDArray[np.int64]:
        ids = self._tokenizer.encode(PREFIX + text).ids[:MAX_SOURCE_TOKENS]
        if ids[-1:] != [self._end]:
            ids = [*ids[: MAX_SOURCE_TOKENS - 1], self._end]
        return np.array([ids], dtype=np.int64)

    def _generate(self, source: NDArray[np.int64], *, max_new_tokens: int) -> _Beam:
        """Beam search: the best text by probability per token; one the room cut off may be it."""
        mask = np.ones_like(source)
        hidden = self._run(self._encoder, {"input_ids": source, "attention_mask": mask})
        alive = [_Beam(tokens=(self._start,), log_probability=0.0)]
        finished: list[_Beam] = []
        for _ in range(max_new_tokens):
            logits = self._decode(alive, hidden, mask)
            grown = [
                candidate
                for beam, row in zip(alive, logits, strict=True)
                for candidate in self._grow(beam, row)
            ]
            grown.sort(key=lambda beam: (-beam.score(), beam.tokens))
            finished += [beam for beam in grown[: self._beams] if beam.is_finished]
            alive = [beam for beam in grown if not beam.is_finished][: self._beams]
            best_alive = max((beam.score() for beam in alive), default=-math.inf)
            if not alive or (len(finished) >= self._beams and max(map(_Beam.score, finished)) >= best_alive):
                break
        return max([*finished, *alive], key=lambda beam: (beam.score(), beam.tokens))

    def _decode(self, beams: list[_Beam], hidden: Logits, mask: NDArray[np.int64]) -> Logits:
        """The logits of the next token of every beam, in one run."""
        count = len(beams)
        offered = {
            "input_ids": np.array([beam.tokens for beam in beams], dtype=np.int64),
            "encoder_hidden_states": np.repeat(hidden, count, axis=0),
            "encoder_attention_mask": np.repeat(mask, count, axis=0),
        }
        wanted = {name: value for name, value in offered.items() if name in self._decoder_inputs}
        rows: Logits = self._run(self._decoder, wanted)[:, -1, :]
        return rows

    def _grow(self, beam: _Beam, logits: Logits) -> list[_Beam]:
        """The likeliest continuations of a beam; repeated runs of tokens are left out."""
        shifted = logits.astype(np.float64) - float(logits.max())
        logs = shifted - math.log(float(np.exp(shifted).sum()))
        for token in _list_repeats(beam.tokens):
            logs[token] = -np.inf
        best = np.argsort(-logs, kind="stable")[: self._beams + 1]
        return [
            _Beam(
                tokens=(*beam.tokens, int(token)),
                log_probability=beam.log_probability + float(logs[token]),
                is_finished=int(token) == self._end,
            )
            for token in best
            if np.isfinite(logs[token])
        ]

    def _run(self, session: Any, inputs: dict[str, Any]) -> Logits:
        try:
            (first, *_) = session.run(None, inputs)
        except Exception as error:  # ONNX Runtime's errors share no base but this
            raise SummarizerUnavailable(f"model '{self.name}' cannot run: {error}") from error
        if not np.isfinite(first).all():
            raise SummarizerUnavailable(f"model '{self.name}' gave a value that is not a number")
        return np.asarray(first, dtype=np.float32)


def _list_repeats(tokens: tuple[int, ...]) -> set[int]:
    """Tokens that would end a run of NO_REPEAT tokens that was written before.

    >>> _list_repeats((0, 7, 8, 9, 7, 8))
    {9}
    """
    if len(tokens) < NO_REPEAT:
        return set()
    last = tokens[-(NO_REPEAT - 1) :]
    size = NO_REPEAT - 1
    return {tokens[at + size] for at in range(len(tokens) - size) if tokens[at : at + size] == last}


def _open_session(path: Path, *, threads: int) -> Any:
    import onnxruntime

    if not path.is_file():
        raise SummarizerUnavailable(f"model file {path} is missing; export the model as ONNX into its folder")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's errors share no base but this
        raise SummarizerUnavailable(f"{path} is no ONNX model that runs here: {error}") from error


def _load_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise SummarizerUnavailable(f"tokenizer file {path} cannot be read: {error}") from error


def _read_config(path: Path) -> dict[str, int]:
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        found = {}
    except (OSError, ValueError) as error:
        raise SummarizerUnavailable(f"{path} cannot be read: {error}") from error
    return {key: int(found.get(key, default)) for key, default in T5_CONTROL.items()}
