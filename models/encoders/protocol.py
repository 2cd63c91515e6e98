"""What an encoder is: texts in, unit vectors out, and an identity that says which vectors may be compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:  # numpy stays out of processes that only name an encoder
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]


class EncoderUnavailable(Exception):
    """The model cannot be loaded or run. The message names the file and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderFingerprint:
    """Everything that moves a vector. Equal digests: vectors of both may be compared; else re-encode.

    The overlap of windows is left out on purpose: it decides where a text is cut, not what a vector means.
    """

    name: str
    model_sha256: str
    dimensions: int
    pooling: str
    normalisation: str
    max_tokens: int
    tokenizer_sha256: str
    query_prefix: str = ""
    passage_prefix: str = ""

    def as_dict(self) -> dict[str, str | int]:
        """Returns the fields by name, ready for a JSON column; prefixes only where there are any."""
        found = asdict(self)
        for name in (
            "query_prefix",
            "passage_prefix",
        ):  # digests of encoders without them stay what they were
            if not found[name]:
                del found[name]
        return found

    def digest(self) -> str:
        """Returns the SHA-256, in hexadecimal, of the fields as canonical JSON (sorted keys, no spaces)."""
        canonical = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


class Encoder(Protocol):
    """Turns texts into unit vectors of one space, so that their dot product is their cosine."""

    @property
    def name(self) -> str:
        """Name in the registry, and of the table that holds the vectors."""

    @property
    def dimensions(self) -> int:
        """Length of every vector."""

    @property
    def fingerprint(self) -> EncoderFingerprint:
        """Which model, tokenizer and pooling made the vectors."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit row per text, shape (n, d), float32; what exceeds one window is not read.

        For queries, which some models want marked as such. Any str is accepted: empty, with NULs or lone surrogates.
        """

    def encode_windows(self, texts: Sequence[str]) -> list[Vectors]:
        """Returns for each text an array of shape (w, d), w ≥ 1: one unit row per window, in text order.

        For what is kept and searched. Every token of a text lies in at least one of its windows.
        """

    def encode_phrasing(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit row per text, shape (n, d), float32, of how it is put: the mean of an early layer's tokens.

        Comparable only with rows of the same method and fingerprint. What exceeds one window is not read. An encoder
        of which no early layer is known gives the rows of its last.
        """
