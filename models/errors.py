"""The error tree. The edges (HTTP, task shells, command line) decide what each class means there.

ServiceError            code, detail, field, remedy
├── TransientError      the same call may succeed later: retried with backoff
│   ├── DatabaseUnavailable
│   ├── DeadlineExceeded
│   ├── Overtaken           two writers met in the database
│   └── BrokerUnavailable
└── PermanentError      it never will: the row is marked failed, the caller is told
    ├── InvalidInput        the caller's value is wrong
    ├── NotFound
    ├── Conflict            it does not fit what is there
    ├── Unauthorized        no token, or one nobody issued
    ├── Forbidden           the token may not do this
    └── Misconfigured       the operator's value is wrong; start-up fails closed
"""


class ServiceError(Exception):
    """Anything Longtail raises on purpose: a stable code, what happened, and what to do about it."""

    code = "service_error"

    def __init__(
        self, detail: str, *, code: str | None = None, field: str | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or type(self).code
        self.field = field
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.detail}; {self.remedy}" if self.remedy else self.detail


def describe_error(error: BaseException) -> str:
    """What may be written down about an error: what kind it is, and for one of ours what it says.

    Messages of other people's code quote the values they stumbled over, and those are what somebody said.

    >>> describe_error(ValueError("my secret")), describe_error(ServiceError("no room", code="full"))
    ('ValueError', 'full: no room')
    """
    if isinstance(error, ServiceError):
        return f"{error.code}: {error.detail}"
    cause = getattr(error, "orig", None) or error
    state = getattr(cause, "sqlstate", None)
    return type(error).__name__ + (f" (SQLSTATE {state})" if state else "")


class TransientError(ServiceError):
    """The same call may succeed later."""

    code = "try_again"


class DatabaseUnavailable(TransientError):
    """PostgreSQL does not answer."""

    code = "database_unavailable"


class DeadlineExceeded(TransientError):
    """A stage did not finish in the time the caller gave."""

    code = "deadline_exceeded"


class Overtaken(TransientError):
    """Another writer was quicker; the whole transaction may be done again."""


class BrokerUnavailable(TransientError):
    """Redis does not answer."""

    code = "broker_unavailable"


class PermanentError(ServiceError):
    """The same call will never succeed."""

    code = "permanent_error"


class InvalidInput(PermanentError):
    """A value in the request is not one we can take."""

    code = "invalid_input"


class TooLarge(PermanentError):
    """A value is larger than its stated limit."""

    code = "too_large"


class NotFound(PermanentError):
    """No such thing in this tenant."""

    code = "not_found"


class Conflict(PermanentError):
    """The request is well formed, but does not fit what is there."""

    code = "conflict"


class Unauthorized(PermanentError):
    """No token, or one that nobody issued."""

    code = "unauthorized"


class Forbidden(PermanentError):
    """The token is good, but not for this."""

    code = "forbidden"


class Misconfigured(PermanentError):
    """A setting or an installed part does not fit; nothing starts until it is mended."""

    code = "misconfigured"
