"""What the routes share: path and query parameters, and the errors each of them may answer."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query
from starlette.convertors import PathConvertor, register_url_convertor

from api.schemas import Instant, Name, Reason, Text

Namespace = Annotated[Name | None, Query(description="A namespace, as a user's id; the token may fix it.")]
Since = Annotated[Instant | None, Query(description="From this moment on.")]
Until = Annotated[Instant | None, Query(description="Before this moment.")]
PageCursor = Annotated[UUID | None, Query(description="`next_cursor` of the page before.")]
Limit = Annotated[int, Query(gt=0, le=1000)]
Why = Annotated[Reason | None, Query(description="Written down with the deed.")]
TextCursor = Annotated[
    Text | None, Query(min_length=1, max_length=4096, description="`next_cursor` of the page before.")
]
Cursor = Annotated[int | None, Query(ge=-1, le=2**62)]
SessionId = Annotated[str, Path(min_length=1, max_length=512)]

PROBLEM: dict[int | str, dict[str, Any]] = {
    status: {
        "description": reason,
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, reason in (
        (400, "Malformed"),
        (401, "No token, or an unknown one"),
        (403, "The token may not do this"),
        (404, "No such thing in this tenant"),
        (405, "The path has other methods"),
        (409, "It does not fit what is there"),
        (413, "Larger than a stated limit"),
        (422, "A value that cannot be taken; `field` and `remedy` say which and what to do"),
        (429, "More requests than the token may send; `Retry-After` says when"),
        (503, "PostgreSQL does not answer; the call may be repeated"),
    )
}


class SessionConvertor(PathConvertor):
    """A session's name, slashes and all, but not the paths below a session."""

    regex = r".*(?<!/turns)(?<!/compact)"


register_url_convertor("session", SessionConvertor())
