"""From a message to its answer: who asks, which method, what it takes, what came of it."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from api.middleware.bodies import SMALLEST_VALUE_BYTES, count_values
from api.middleware.rates import RateLimiter
from api.routing.problems import VALIDATION_CODES
from api.rpc.protocol import (
    FORBIDDEN,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MOST_REQUESTS_IN_BATCH,
    TOO_LARGE,
    TRY_AGAIN,
    UNAUTHORIZED,
    Request,
    RpcError,
    find_id,
    read_json,
    read_request,
    show_error,
    show_result,
    write_json,
)
from api.runtime import Runtime
from models.errors import DatabaseUnavailable, ServiceError
from models.store.tenancy.tokens import Caller

log = structlog.get_logger(__name__)
Model = TypeVar("Model", bound=BaseModel)


class Params(BaseModel):
    """Parameters of a method, spelled as its clients spell them; what is not known is ignored, null is nothing."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Where a method is called: the process, and whoever asks."""

    runtime: Runtime
    caller: Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One method: its name, what it takes, what its caller must be allowed to do, and the function behind it."""

    name: str
    params: type[Params]
    scope: Literal["read", "write"]
    run: Callable[[Call, Any], Mapping[str, Any]]


@dataclass(slots=True, kw_only=True)
class Session:
    """Who is at the other end; over lines, `authenticate` may change it."""

    token: str | None
    can_authenticate: bool = False
    hint: str = "send 'Authorization: Bearer <token>' with the token from $LONGTAIL_HOME/token"


class Dispatcher:
    """Answers messages; it never raises, whatever the message holds and whatever a method does."""

    def __init__(
        self,
        runtime: Runtime,
        methods: Mapping[str, Method],
        *,
        limiter: RateLimiter | None = None,
        most_values: int = 100_000,
    ) -> None:
        self._runtime = runtime
        self._methods = methods
        self._limiter = limiter  # of messages: a batch is as many as it has
        self._most_values = most_values  # of a message: JSON values and keys
        self._turnstile = threading.Lock()

    def answer(self, text: bytes, session: Session) -> bytes | None:
        """The answer to one message or batch; None where nobody wants one."""
        try:
            self._check_values(text)
            message = read_json(text)
        except RpcError as error:
            return write_json(show_error(None, error))
        if not isinstance(message, list):
            single = self._answer_one(message, session)
            return None if single is None else write_json(single)
        if not message or len(message) > MOST_REQUESTS_IN_BATCH:
            size = f"the batch has {len(message)} requests; it may have 1 to {MOST_REQUESTS_IN_BATCH}"
            return write_json(show_error(None, RpcError(INVALID_REQUEST, size)))
        answers = [found for one in message if (found := self._answer_one(one, session)) is not None]
        return write_json(answers) if answers else None

    def _check_values(self, text: bytes) -> None:
        most = self._most_values
        if len(text) > most * SMALLEST_VALUE_BYTES and count_values(text, enough=most) > most:
            raise RpcError(
                TOO_LARGE,
                f"the message has more than {most} JSON values and keys",
                {
                    "code": "too_many_values",
                    "remedy": "send it in several, or raise LONGTAIL_MAX_BODY_VALUES",
                },
            )

    def _answer_one(self, message: Any, session: Session) -> dict[str, Any] | None:
        try:
            request = read_request(message)
        except RpcError as error:
            return show_error(find_id(message), error)
        start = time.perf_counter()
        try:
            answer = show_result(request.id, self._call(request, session))
        except RpcError as error:
            log.info("rpc.refused", method=self._name_for_logs(request), code=error.code)
            answer = show_error(request.id, error)
        except ServiceError as error:
            log.info("rpc.failed", method=self._name_for_logs(request), error=error.code)
            answer = show_error(request.id, RpcError.of_service(error))
        except RecursionError:
            answer = show_error(request.id, RpcError(INVALID_PARAMS, "the parameters are nested too deeply"))
        except Exception as error:  # a bug in one method must not end the connection
            log.error(
                "rpc.bug", method=self._name_for_logs(request), error=type(error).__name__, exc_info=error
            )
            unexpected = RpcError(INTERNAL_ERROR, f"an error nobody expected: {type(error).__name__}")
            answer = show_error(request.id, unexpected)
        else:
            seconds = round(time.perf_counter() - start, 4)
            log.debug("rpc.answered", method=request.method, seconds=seconds)
        return None if request.is_notification else answer

    def _name_for_logs(self, request: Request) -> str:
        """The method, if it is one: any other word is the caller's own."""
        return request.method if request.method in self._methods else "unknown"

    def _call(self, request: Request, session: Session) -> Mapping[str, Any]:
        if isinstance(request.params, list):
            raise RpcError(
                INVALID_PARAMS, "parameters go by name here", {"remedy": "send params as an object"}
            )
        if request.method == "authenticate" and session.can_authenticate:
            return self._authenticate(request.params, session)
        method = self._methods.get(request.method)
        if method is None:
            raise RpcError(METHOD_NOT_FOUND, f"unknown method: {request.method[:64]}")
        caller = self._identify(session)
        self._check_rate(caller)
        if method.scope not in caller.scopes:
            raise RpcError(
                FORBIDDEN,
                f"the token has no '{method.scope}' scope",
                {"code": "forbidden", "remedy": "use a token created with that scope"},
            )
        return method.run(
            Call(runtime=self._runtime, caller=caller), read_model(method.params, request.params)
        )

    def _check_rate(self, caller: Caller) -> None:
        if self._limiter is None:
            return
        with self._turnstile:
            wait = self._limiter.wait_seconds(str(caller.token_id))
        if wait > 0:
            raise RpcError(
                TRY_AGAIN,
                f"the token may send {self._limiter.per_second:g} messages a second",
                {"code": "rate_limited", "retryAfterSeconds": round(wait, 3)},
            )

    def _identify(self, session: Session) -> Caller:
        """Whose token it is; while PostgreSQL is away, whose it was."""
        if session.token is None:
            raise RpcError(
                UNAUTHORIZED, "the caller is not known", {"code": "unauthorized", "remedy": session.hint}
            )
        known = self._runtime.known_caller(session.token)
        if known is not None:
            return known
        try:
            return self._runtime.identify(session.token)
        except DatabaseUnavailable:
            before = self._runtime.recall_caller(session.token)
            if before is None:
                raise
            return before

    def _authenticate(self, params: Mapping[str, Any], session: Session) -> Mapping[str, Any]:
        token = params.get("token")
        if not isinstance(token, str) or not token:
            raise RpcError(INVALID_PARAMS, "authenticate takes a token", {"field": "token"})
        caller = self._runtime.identify(token)
        session.token = token
        return {"ok": True, "scopes": sorted(caller.scopes), "namespace": caller.namespace}


def read_model(kind: type[Model], given: Mapping[str, Any]) -> Model:
    """Values from outside, checked; a null is as good as none."""
    try:
        return kind.model_validate({key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        code, remedy = VALIDATION_CODES.get(first["type"], ("invalid_value", "see docs/rpc.md"))
        context = first.get("ctx") or {}
        field = ".".join(str(part) for part in first["loc"])
        data = {"code": context.get("code", code), "field": field, "remedy": context.get("remedy", remedy)}
        raise RpcError(INVALID_PARAMS, f"{field}: {first['msg']}", data) from error
