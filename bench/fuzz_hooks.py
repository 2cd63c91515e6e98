"""What schemathesis must be told to send: lines of JSON, as an import takes them."""

from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def serialize_lines(_context: Any, value: Any) -> bytes:
    """A generated text as it is; anything else by its words."""
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else repr(value)).encode("utf-8", "replace")
