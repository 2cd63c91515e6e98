"""An encoder's identity, the registry, and what importing the package costs."""

import hashlib
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from models.encoders.protocol import EncoderFingerprint
from models.encoders.registry import ENCODER_NAMES, load_encoder
from models.encoders.toy import ToyEncoder

FINGERPRINT = EncoderFingerprint(
    name="é",
    model_sha256="aa",
    dimensions=3,
    pooling="mean",
    normalisation="l2",
    max_tokens=256,
    tokenizer_sha256="bb",
)


def test_the_digest_is_that_of_the_sorted_fields() -> None:
    canonical = (
        '{"dimensions":3,"max_tokens":256,"model_sha256":"aa","name":"é",'
        '"normalisation":"l2","pooling":"mean","tokenizer_sha256":"bb"}'
    )
    assert FINGERPRINT.digest() == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize("field", list(FINGERPRINT.as_dict()))
def test_every_field_moves_the_digest(field: str) -> None:
    value = FINGERPRINT.as_dict()[field]
    other: Any = value + 1 if isinstance(value, int) else value + "x"
    changed = replace(FINGERPRINT, **{field: other})
    assert changed.digest() != FINGERPRINT.digest()


def test_a_fingerprint_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        FINGERPRINT.dimensions = 4  # type: ignore[misc]


def test_encoders_are_found_by_name() -> None:
    assert ENCODER_NAMES == ("minilm", "toy", "onnx:/folder")
    assert isinstance(load_encoder("toy", threads=1), ToyEncoder)


def test_an_unknown_encoder_is_told_the_known_ones() -> None:
    with pytest.raises(
        ValueError,
        match="encoder 'bert' is unknown, known are minilm, toy, onnx:/folder; set LONGTAIL_ENCODER",
    ):
        load_encoder("bert", threads=1)


@pytest.mark.parametrize(
    "module", ["models.encoders", "models.encoders.protocol", "models.encoders.registry"]
)
def test_naming_an_encoder_loads_no_library(module: str) -> None:
    script = (
        f"import sys, {module}; sys.exit(bool({{'numpy', 'onnxruntime', 'tokenizers'}} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_loading_no_tokenizer_file_loads_no_tokenizer_library() -> None:
    script = (
        "import sys; from models.encoders.token_files import load_token_counter;"
        "load_token_counter('chars', folder=None);"
        "sys.exit('tokenizers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
