"""One call as a value: built once, sent by either client, kept in the outbox while nobody answers."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote

T = TypeVar("T")
HALVES = re.compile("[\ud800-\udfff]")
NOT_KEPT = re.compile("[\ud800-\udfff\x00]")


@dataclass(frozen=True)
class Request(Generic[T]):
    """A call and how its answer is read. Only what `is_idempotent` is sent again after a failure."""

    method: str
    path: str
    read: Callable[[Any], T]
    is_idempotent: bool
    content: bytes | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float | None = (
        None  # where the call itself is meant to take longer than the client's own
    )


def encode_json(body: Mapping[str, Any] | list[Any]) -> bytes:
    r"""The body as ASCII JSON without what is None. Half characters become escapes, which the service can refuse by name.

    >>> encode_json({"query": "caf\u00e9", "k": None, "bad": "\ud800"})
    b'{"query":"caf\\u00e9","bad":"\\ud800"}'
    """
    if isinstance(body, Mapping):
        body = {key: value for key, value in body.items() if value is not None}
    return json.dumps(body, separators=(",", ":"), default=_encode_moment).encode("ascii")


def _encode_moment(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is no JSON")


def encode_params(**params: object) -> dict[str, str]:
    """Query parameters without what is None.

    >>> encode_params(limit=10, cursor=None, explain=True)
    {'limit': '10', 'explain': 'true'}
    """
    return {key: _encode_param(value) for key, value in params.items() if value is not None}


def _encode_param(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else str(value)


def clean_text(text: str) -> str:
    r"""The text as the service can keep it: half characters and NUL become U+FFFD.

    >>> clean_text("a\ud83d b\x00") == "a\ufffd b\ufffd"
    True
    """
    return NOT_KEPT.sub("\ufffd", text)


def quote_name(name: str) -> str:
    r"""A name as one piece of a path, slashes and all; half characters become U+FFFD.

    >>> quote_name("a/b c")
    'a%2Fb%20c'
    """
    return quote(HALVES.sub("\ufffd", name), safe="")
