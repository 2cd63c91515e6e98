"""What can go wrong, as one tree.

LongtailError
├── Unavailable           nobody answered, or not in time: the same call may succeed later
├── UnexpectedAnswer      something answered that is not Longtail, or a version that lacks a field
└── Refused               the service said no: `code`, `detail`, `field`, `remedy`, `status`
    ├── Unauthorized      401
    ├── Forbidden         403
    ├── NotFound          404
    ├── Conflict          409
    ├── TooLarge          413
    ├── Invalid           400, 422
    └── Busy              429, 502, 503, 504: the same call may succeed later
"""

from collections.abc import Mapping
from typing import Any


class LongtailError(Exception):
    """Anything this client raises. `code` is stable; `detail` is for people; `remedy` says what to do."""

    is_transient = False

    def __init__(
        self,
        detail: str,
        *,
        code: str,
        remedy: str | None = None,
        field: str | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(detail if remedy is None else f"{detail}; {remedy}")
        self.detail = detail
        self.code = code
        self.remedy = remedy
        self.field = field
        self.status = status


class Unavailable(LongtailError):
    """Nobody answered, or not in time."""

    is_transient = True


class UnexpectedAnswer(LongtailError):
    """An answer this client cannot read."""


class Refused(LongtailError):
    """The service said no, and why."""


class Unauthorized(Refused):
    """No token, or one that nobody issued."""


class Forbidden(Refused):
    """The token may not do this."""


class NotFound(Refused):
    """No such thing in this tenant."""


class Conflict(Refused):
    """It does not fit what is there."""


class TooLarge(Refused):
    """Larger than a stated limit."""


class Invalid(Refused):
    """A value that cannot be taken."""


class Busy(Refused):
    """Not now; the same call may succeed later."""

    is_transient = True


ERROR_OF_STATUS: Mapping[int, type[Refused]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: Invalid,
    429: Busy,
    502: Busy,
    503: Busy,
    504: Busy,
}


def read_problem(status: int, problem: Any) -> Refused:
    """The error in a problem document (docs/errors.md), or in whatever answered instead of one."""
    found = problem if isinstance(problem, Mapping) else {}
    kind = ERROR_OF_STATUS.get(status, Refused)
    return kind(
        str(found.get("detail") or f"the server answered {status} without saying why"),
        code=str(found.get("code") or f"http_{status}"),
        remedy=found.get("remedy"),
        field=found.get("field"),
        status=status,
    )


# docs/rpc.md: what a JSON-RPC error code would have been as an HTTP status
STATUS_OF_RPC: Mapping[int, int] = {
    -32001: 401,
    -32003: 403,
    -32004: 404,
    -32013: 413,
    -32602: 422,
    -32050: 503,
}


def read_rpc_error(error: Any) -> Refused:
    """The error of one JSON-RPC message."""
    found = error if isinstance(error, Mapping) else {}
    data = found.get("data") if isinstance(found.get("data"), Mapping) else {}
    assert isinstance(data, Mapping)
    status = STATUS_OF_RPC.get(int(found.get("code") or 0), 500)
    return read_problem(status, {"detail": found.get("message"), **data})
