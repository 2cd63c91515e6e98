"""What the routes share: path and query parameters, and the errors each of them may answer."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Query, Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query as QueryInfo
from fastapi.routing import APIRoute
from starlette.convertors import PathConvertor, register_url_convertor

from api.routing.schemas import Instant, Name, Reason, Text
from models.domain.records import Identity, durable_namespace, read_identity
from models.errors import InvalidInput

Since = Annotated[Instant | None, Query(description="From this moment on.")]
Until = Annotated[Instant | None, Query(description="Before this moment.")]
PageCursor = Annotated[UUID | None, Query(description="`next_cursor` of the page before.")]
Limit = Annotated[int, Query(gt=0, le=1000)]
Why = Annotated[Reason | None, Query(description="Written down with the deed.")]
TextCursor = Annotated[
    Text | None, Query(min_length=1, max_length=4096, description="`next_cursor` of the page before.")
]
Cursor = Annotated[int | None, Query(ge=-1, le=2**62)]
SessionId = Annotated[Name, Path()]

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


async def read_asked(
    user_id: Annotated[Name | None, Query(description="Of this user.")] = None,
    session_key: Annotated[
        Name | None, Query(description="Of this session key, where no user is known.")
    ] = None,
    agent_id: Annotated[Name | None, Query(description="Of this agent, where no user is known.")] = None,
    namespace: Annotated[
        Name | None, Query(description="The same in one word, as answers say it: a user's id, session-key:…")
    ] = None,
) -> Identity:
    """Who a call is about, in any of the ways to say it; nobody in particular, if none is given."""
    identity = Identity(user_id=user_id, session_key=session_key, agent_id=agent_id)
    if namespace is None:
        return identity
    if not identity.is_empty and durable_namespace(identity, "") != namespace:
        raise InvalidInput(
            f"namespace '{namespace}' is not the one that the other fields name",
            field="namespace",
            remedy="send the namespace, or user_id, session_key and agent_id",
        )
    return read_identity(namespace) if identity.is_empty else identity


Asked = Annotated[Identity, Depends(read_asked)]


async def refuse_unknown_parameters(request: Request) -> None:
    """A misspelt filter would filter nothing: what a route does not know, it refuses, as bodies do."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute) or not request.query_params:
        return
    known = {
        field.alias for field in get_flat_params(route.dependant) if isinstance(field.field_info, QueryInfo)
    }
    for name in request.query_params:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise InvalidInput(
                f"the parameter '{name[:64]}' is not known here",
                code="unknown_parameter",
                field=name[:64],
                remedy=f"known parameters of this route: {listed}",
            )


class SessionConvertor(PathConvertor):
    """A session's name, slashes and all, but not the paths below a session."""

    regex = r".*(?<!/turns)(?<!/compact)"


register_url_convertor("session", SessionConvertor())
