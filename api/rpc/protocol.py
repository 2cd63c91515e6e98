"""The JSON-RPC 2.0 protocol by itself: bytes to requests, answers to bytes, and what may be wrong with either.

RpcError            code, message, data
-32700  not JSON                       -32601  no such method
-32600  JSON, but no request           -32602  parameters that cannot be taken
-32603  an error nobody expected       -32000 to -32050  an error of the service, see CODE_OF_ERROR
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from models import errors

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
SERVICE_ERROR: Final = -32000
UNAUTHORIZED: Final = -32001
FORBIDDEN: Final = -32003
NOT_FOUND: Final = -32004
TOO_LARGE: Final = -32013
TRY_AGAIN: Final = -32050
MOST_REQUESTS_IN_BATCH: Final = 100

# The one place where our errors get a JSON-RPC code; the first class that fits decides.
CODE_OF_ERROR: Final[tuple[tuple[type[errors.ServiceError], int], ...]] = (
    (errors.TooLarge, TOO_LARGE),
    (errors.InvalidInput, INVALID_PARAMS),
    (errors.NotFound, NOT_FOUND),
    (errors.Unauthorized, UNAUTHORIZED),
    (errors.Forbidden, FORBIDDEN),
    (errors.TransientError, TRY_AGAIN),
    (errors.ServiceError, SERVICE_ERROR),
)

Id = str | int | float | None


class RpcError(Exception):
    """An error as the caller gets it."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @classmethod
    def of_service(cls, error: errors.ServiceError) -> "RpcError":
        """One of our own errors, with its stable code and its remedy as data."""
        code = next(code for kind, code in CODE_OF_ERROR if isinstance(error, kind))
        data = {"code": error.code, "field": error.field, "remedy": error.remedy}
        return cls(code, error.detail, {key: value for key, value in data.items() if value is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call; a notification wants no answer, not even an error."""

    method: str
    params: Mapping[str, Any] | list[Any]
    id: Id = None
    is_notification: bool = False


def read_json(text: bytes) -> Any:
    """What the bytes say, or RpcError: also for what is deeper, or a number larger, than can be held."""
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_read_float)
    except RecursionError as error:
        raise RpcError(PARSE_ERROR, "the JSON is nested too deeply") from error
    except ValueError as error:  # malformed JSON, bytes that are no UTF-8, a number with thousands of digits
        raise RpcError(PARSE_ERROR, f"not JSON: {_first_words(error)}") from error


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _read_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:20]} is larger than a number can be")
    return value


def _first_words(error: ValueError) -> str:
    return str(error).partition("\n")[0][:200]


def read_request(message: Any) -> Request:
    """A request out of a decoded message; RpcError says what is missing or wrong.

    >>> read_request({"jsonrpc": "2.0", "id": 7, "method": "health"})
    Request(method='health', params={}, id=7, is_notification=False)
    """
    if not isinstance(message, dict):
        raise RpcError(INVALID_REQUEST, "a request is a JSON object")
    if message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'the request has no "jsonrpc": "2.0"')
    if not _is_id(message.get("id")):
        raise RpcError(INVALID_REQUEST, "the id of a request is a string, a number or null")
    method = message.get("method")
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "the request has no method, or one that is no string")
    params = message.get("params")
    if params is not None and not isinstance(params, dict | list):
        raise RpcError(INVALID_REQUEST, "params is an object, or an array")
    return Request(
        method=method, params=params or {}, id=message.get("id"), is_notification="id" not in message
    )


def find_id(message: Any) -> Id:
    """The id to answer with when a message is no request: its own where it has one, else null."""
    found = message.get("id") if isinstance(message, dict) else None
    return found if _is_id(found) else None


def _is_id(value: Any) -> bool:
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))


def show_result(request_id: Id, result: Any) -> dict[str, Any]:
    """An answer."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def show_error(request_id: Id, error: RpcError) -> dict[str, Any]:
    """An answer that says what is wrong."""
    shown: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data:
        shown["data"] = dict(error.data)
    return {"jsonrpc": "2.0", "id": request_id, "error": shown}


def write_json(answer: Any) -> bytes:
    """An answer on one line, in ASCII: whatever a text holds, no byte of it can end the line."""
    return json.dumps(answer, separators=(",", ":"), allow_nan=False).encode("ascii")
