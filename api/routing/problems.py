"""Errors as RFC 9457 problem details: a stable code, what is wrong, where, and what to do about it."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from models import errors

log = structlog.get_logger(__name__)

# The one place where our errors get an HTTP status; the first class that fits decides.
STATUS_OF_ERROR: tuple[tuple[type[errors.ServiceError], int], ...] = (
    (errors.TooLarge, 413),
    (errors.InvalidInput, 422),
    (errors.NotFound, 404),
    (errors.Conflict, 409),
    (errors.Unauthorized, 401),
    (errors.Forbidden, 403),
    (errors.TransientError, 503),
    (errors.ServiceError, 500),
)

# What pydantic found, in our words: type -> (code, remedy).
VALIDATION_CODES: Mapping[str, tuple[str, str]] = {
    "missing": ("missing_field", "add the field"),
    "extra_forbidden": ("unknown_field", "remove the field; /docs lists the known ones"),
    "literal_error": ("unknown_value", "use one of the values named in the detail"),
    "string_unicode": ("lone_surrogate", "replace unpaired surrogates, for example with U+FFFD"),
    "string_too_short": ("empty_text", "send at least one character, or leave the item out"),
    "timezone_aware": ("naive_timestamp", "send RFC 3339 with a zone, as 2026-01-31T12:00:00Z"),
    "union_tag_invalid": ("unknown_record", "use one of the kinds named in the detail"),
    "union_tag_not_found": ("unknown_record", "every record has a `type`"),
    "too_short": ("empty_list", "send at least one item"),
    "json_invalid": ("malformed_json", "send one valid JSON object"),
    "model_attributes_type": ("malformed_json", "send one JSON object with content type application/json"),
}

MOST_QUOTED_CHARS = 80


def problem(
    *,
    status: int,
    code: str,
    detail: str,
    field: str | None = None,
    remedy: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """One problem document."""
    body: dict[str, Any] = {
        "type": f"urn:longtail:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
    if field is not None:
        body["field"] = field
    if remedy is not None:
        body["remedy"] = remedy
    return JSONResponse(body, status_code=status, media_type="application/problem+json", headers=headers)


def show_error(error: errors.ServiceError) -> JSONResponse:
    """One of our errors as a problem document."""
    status = next(status for kind, status in STATUS_OF_ERROR if isinstance(error, kind))
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    headers = {"Retry-After": "1"} if status == 503 else headers
    return problem(
        status=status,
        code=error.code,
        detail=error.detail,
        field=error.field,
        remedy=error.remedy,
        headers=headers,
    )


def add_problem_handlers(app: FastAPI, routes: Sequence[Route]) -> None:
    """Every error leaves as a problem document. `routes` are those that a 405 may name the methods of."""

    @app.exception_handler(errors.ServiceError)
    def on_service_error(_request: Request, error: errors.ServiceError) -> JSONResponse:
        return show_error(error)

    @app.exception_handler(RequestValidationError)
    def on_validation_error(_request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        kind = first["type"]
        if kind == "too_short" and isinstance(first["input"], str):
            kind = "string_too_short"
        code, remedy = VALIDATION_CODES.get(kind, ("invalid_value", "see /docs for what the field takes"))
        context = first.get("ctx") or {}
        field = ".".join(str(part) for part in first["loc"][1:])  # the first part says body, query or path
        return problem(
            status=context.get("status", 400 if code == "malformed_json" else 422),
            code=context.get("code", code),
            detail=_describe(kind, field, first),
            field=field or None,
            remedy=context.get("remedy", remedy),
        )

    @app.exception_handler(ClientDisconnect)
    def on_client_gone(_request: Request, _error: ClientDisconnect) -> JSONResponse:
        return problem(
            status=408,
            code="client_gone",
            detail="the request ended before all of it had come; nothing was changed",
            remedy="send it again",
        )

    @app.exception_handler(HTTPException)
    def on_http_error(request: Request, error: HTTPException) -> JSONResponse:
        remedies = {404: "see /docs for the known paths", 405: "see /docs for the methods of this path"}
        detail = f"{request.method} {request.url.path}: {error.detail}"
        code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
        headers = dict(error.headers or {})
        if error.status_code == 405:
            headers["Allow"] = ", ".join(sorted(_methods_of(routes, request.scope["path"])))
        return problem(
            status=error.status_code,
            code=code,
            detail=detail,
            remedy=remedies.get(error.status_code),
            headers=headers,
        )

    @app.exception_handler(Exception)
    def on_bug(request: Request, error: Exception) -> JSONResponse:
        route = getattr(
            request.scope.get("route"), "path", None
        )  # not the path, which holds somebody's names
        log.error("api.bug", route=route, error=type(error).__name__, exc_info=error)
        return problem(
            status=500,
            code="internal_error",
            detail=f"an error nobody expected: {type(error).__name__}",
            remedy="the log of the API has its trace; please report it",
        )


def _describe(kind: str, field: str, wrong: Mapping[str, Any]) -> str:
    """What is wrong with a value; the framework's own words where they are plain enough."""
    if kind in {"too_short", "string_too_short"} and (wrong.get("ctx") or {}).get("min_length") == 1:
        return f"{field} is empty"
    if kind == "uuid_parsing":
        return f"'{str(wrong['input'])[:MOST_QUOTED_CHARS]}' is no id"
    return str(wrong["msg"])


def _methods_of(routes: Sequence[Route], path: str) -> set[str]:
    """Every method that some route of this path has; the framework names those of the first alone."""
    return {method for route in routes if route.path_regex.match(path) for method in route.methods or ()} or {
        "GET"
    }
