"""JSON without the `json` package: its C parts alone, because `json` loads `re` and costs as much as Python's own start.

The parts are the ones `json` itself stands on; where an interpreter lacks them, `json` does the work.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class MalformedJson(ValueError):
    """The text is no JSON; the message says where."""


class _Rules:
    """How `json.loads` reads by default."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012 - the C scanner asks for the attribute and empties it itself


def parse(text: str) -> Any:
    """The value of a JSON text.

    >>> parse(' {"a": [1, null]} ')
    {'a': [1, None]}
    """
    text = text.strip(" \t\r\n")
    try:
        value, end = _scan(text)
    except (StopIteration, ValueError, RecursionError) as error:
        raise MalformedJson(f"not JSON: {error}") from error
    if end != len(text):
        raise MalformedJson(f"not JSON: something follows at character {end}")
    return value


def dump(value: Any) -> str:
    r"""The value as JSON in ASCII, on one line.

    >>> dump({"a": "é\n"})
    '{"a":"\\u00e9\\n"}'
    """
    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:
        import json

        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    encode = make_encoder(None, _refuse, encode_basestring_ascii, None, ":", ",", False, False, False)
    return "".join(encode(value, 0))


def _scan(text: str) -> tuple[Any, int]:
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.JSONDecoder().raw_decode(text)
    scanned: tuple[Any, int] = make_scanner(_Rules)(text, 0)  # type: ignore[arg-type]  # the stub is wrong
    return scanned


def _refuse(value: object) -> None:
    raise TypeError(f"{type(value).__name__} is nothing that JSON can hold")
