"""What schemathesis must be told to send: lines of JSON, as an import takes them."""

from typing import Any

import schemathesis
from schemathesis.core import NotSet


@schemathesis.serializer("application/x-ndjson")
def serialize_lines(_context: Any, value: Any) -> bytes:
    """A generated text as it is; anything else by its words."""
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else repr(value)).encode("utf-8", "replace")


@schemathesis.hook
def filter_case(_context: Any, case: Any) -> bool:
    """A body of text has no wrong type: whatever is sent in it is text by the time it arrives."""
    is_text = str(case.media_type or "").startswith(("text/", "application/x-ndjson"))
    return not is_text or isinstance(case.body, str | bytes | NotSet)
