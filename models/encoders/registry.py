"""Encoders by name: what LONGTAIL_ENCODER may be set to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from models.encoders.protocol import Encoder

ENCODER_NAMES: Final = ("minilm", "toy")


def load_encoder(name: str, *, threads: int) -> Encoder:
    """Builds the named encoder, to be used in this process only; `threads` is what one call may use.

    Raises ValueError for a name nobody registered, EncoderUnavailable where the model cannot be loaded.
    """
    if name == "minilm":
        from models.encoders.onnx import OnnxEncoder

        return OnnxEncoder(threads=threads)
    if name == "toy":
        from models.encoders.toy import ToyEncoder

        return ToyEncoder()
    known = ", ".join(ENCODER_NAMES)
    raise ValueError(f"encoder {name!r} is unknown, known are {known}; set LONGTAIL_ENCODER to one of them")
