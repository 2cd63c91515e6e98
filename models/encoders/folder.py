"""A sentence model of one's own: a folder with model.onnx, tokenizer.json and encoder.json, which says how to read them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from models.encoders.protocol import EncoderUnavailable

if TYPE_CHECKING:
    from models.encoders.onnx import OnnxEncoder

SCHEME: Final = "onnx:"
MODEL_FILE: Final = "model.onnx"
TOKENIZER_FILE: Final = "tokenizer.json"
SETTINGS_FILE: Final = "encoder.json"
MOST_DIMENSIONS: Final = 4000  # that a graph index over half vectors can hold
BUILT_IN: Final = ("minilm", "toy")
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")  # of an encoder: a part of its table's name


class FolderSettings(BaseModel):
    """What encoder.json says. A misspelt key is refused, not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str
    pooling: Literal["mean", "cls"] = "mean"
    normalize: Literal[True] = True
    query_prefix: Annotated[str, Field(max_length=500)] = ""
    passage_prefix: Annotated[str, Field(max_length=500)] = ""
    dimensions: Annotated[int, Field(ge=8, le=65_536)]  # what the model gives
    matryoshka: Annotated[int, Field(ge=8)] | None = None  # how many of them, from the first on, are kept
    max_tokens: Annotated[int, Field(ge=16, le=32_768)]  # of one window, control tokens included


def find_folder(spec: str) -> Path | None:
    """The folder that LONGTAIL_ENCODER names, or None where it names none.

    >>> find_folder("onnx:/srv/granite"), find_folder("minilm")
    (PosixPath('/srv/granite'), None)
    """
    return Path(spec.removeprefix(SCHEME)) if spec.startswith(SCHEME) else None


def read_folder(folder: Path) -> FolderSettings:
    """The folder's settings, after a look that everything is there and fits; EncoderUnavailable says what does not."""
    if not folder.is_absolute():
        raise EncoderUnavailable(
            f"encoder folder {str(folder)!r} is no absolute path; write it as onnx:/path/to/folder"
        )
    if not folder.is_dir():
        raise EncoderUnavailable(
            f"encoder folder {folder} is not there; name one that holds {MODEL_FILE}, {TOKENIZER_FILE} and {SETTINGS_FILE}"
        )
    missing = [name for name in (MODEL_FILE, TOKENIZER_FILE, SETTINGS_FILE) if not (folder / name).is_file()]
    if missing:
        raise EncoderUnavailable(
            f"encoder folder {folder} lacks {' and '.join(missing)}; put the file there under that name"
        )
    path = folder / SETTINGS_FILE
    try:
        found = FolderSettings.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise EncoderUnavailable(
            f"{path} cannot be read ({error.strerror}); check its permissions"
        ) from error
    except ValidationError as error:
        raise EncoderUnavailable(
            f"{path}: {_explain(error)}; docs/configuration.md lists the keys"
        ) from error
    except ValueError as error:  # no JSON, or no UTF-8
        raise EncoderUnavailable(
            f"{path} is no JSON ({error}); write one object with its settings"
        ) from error
    _check(found, path)
    return found


def load_folder(folder: Path, *, threads: int) -> OnnxEncoder:
    """The encoder of a folder; EncoderUnavailable where its files and its settings do not agree."""
    from models.encoders.onnx import OnnxEncoder

    settings = read_folder(folder)
    return OnnxEncoder(
        threads=threads,
        model_path=folder / MODEL_FILE,
        tokenizer_path=folder / TOKENIZER_FILE,
        name=settings.name,
        pooling=settings.pooling,
        query_prefix=settings.query_prefix,
        passage_prefix=settings.passage_prefix,
        dimensions=settings.dimensions,
        kept_dimensions=settings.matryoshka,
        max_tokens=settings.max_tokens,
    )


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    match first["type"]:
        case "missing":
            return f"{key!r} is missing"
        case "extra_forbidden":
            return f"{key!r} is no setting of an encoder"
        case _ if key == "normalize":
            return "'normalize' can only be true: vectors are compared by cosine, and kept at length one"
        case _:
            return f"{key!r} is {first.get('input')!r}: {first['msg']}" if key else first["msg"]


def _check(found: FolderSettings, path: Path) -> None:
    if not NAME.fullmatch(found.name):
        raise EncoderUnavailable(
            f"{path}: name {found.name!r} cannot name a table; use small letters, digits and _, a letter first, "
            "32 of them at most"
        )
    if found.name in BUILT_IN:
        raise EncoderUnavailable(f"{path}: name {found.name!r} is the built-in encoder's; choose another")
    if found.matryoshka is not None and found.matryoshka >= found.dimensions:
        raise EncoderUnavailable(
            f"{path}: matryoshka is {found.matryoshka}, and the model gives {found.dimensions} dimensions; "
            "name fewer, or leave it out"
        )
    kept = found.matryoshka or found.dimensions
    if kept > MOST_DIMENSIONS:
        raise EncoderUnavailable(
            f"{path}: {kept} dimensions are more than the {MOST_DIMENSIONS} an index holds; cut them with matryoshka"
        )
