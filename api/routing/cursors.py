"""Cursors of pages: where the next one begins, in a form nobody needs to read."""

import base64
import json

from models.errors import InvalidInput


def write_cursor(*parts: str) -> str:
    """The place behind these values.

    >>> read_cursor(write_cursor("user:ann", "rules.md"), parts=2)
    ['user:ann', 'rules.md']
    """
    return base64.urlsafe_b64encode(json.dumps(parts, ensure_ascii=False).encode()).decode().rstrip("=")


def read_cursor(cursor: str, *, parts: int) -> list[str]:
    """The values a cursor was made of; one we did not make is refused."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        found = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if not isinstance(found, list) or len(found) != parts:
            raise invalid_cursor()
        for part in found:
            if not isinstance(part, str) or "\x00" in part:
                raise invalid_cursor()
            part.encode()
    except (ValueError, RecursionError) as error:
        raise invalid_cursor() from error
    return found


def invalid_cursor() -> InvalidInput:
    """The refusal of a cursor that is not one of ours."""
    return InvalidInput(
        "the cursor is not one this server gave",
        code="invalid_cursor",
        field="cursor",
        remedy="send `next_cursor` of the page before as it came, or no cursor for the first page",
    )
