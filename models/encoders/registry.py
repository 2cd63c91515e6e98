"""Encoders by name: what LONGTAIL_ENCODER may be set to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from models.encoders.folder import BUILT_IN, SCHEME, find_folder, load_folder, read_folder

if TYPE_CHECKING:
    from models.encoders.protocol import Encoder

ENCODER_NAMES: Final = (*BUILT_IN, f"{SCHEME}/folder")


def load_encoder(name: str, *, threads: int, cache: Path | None = None) -> Encoder:
    """Builds the named encoder, to be used in this process only; `threads` is what one call may use.

    With `cache`, vectors are kept in that file and looked up there first. Raises ValueError for a name nobody
    registered, EncoderUnavailable where the model cannot be loaded or the file cannot be used.
    """
    if cache is not None:
        from models.encoders.caching import CachingEncoder

        return CachingEncoder(load_encoder(name, threads=threads), cache)
    if name == "minilm":
        from models.encoders.onnx import OnnxEncoder

        return OnnxEncoder(threads=threads)
    if name == "toy":
        from models.encoders.toy import ToyEncoder

        return ToyEncoder()
    folder = find_folder(name)
    if folder is not None:
        return load_folder(folder, threads=threads)
    raise _unknown(name)


def name_encoder(source: str) -> str:
    """The name of the encoder that LONGTAIL_ENCODER means, without loading its model; raises as loading it does."""
    folder = find_folder(source)
    if folder is not None:
        return read_folder(folder).name
    if source not in BUILT_IN:
        raise _unknown(source)
    return source


def _unknown(name: str) -> ValueError:
    known = ", ".join(ENCODER_NAMES)
    return ValueError(f"encoder {name!r} is unknown, known are {known}; set LONGTAIL_ENCODER to one of them")
