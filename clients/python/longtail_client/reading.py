"""JSON to answers: fields nobody knows are ignored, a required one that is missing is named."""

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from longtail_client.errors import UnexpectedAnswer

T = TypeVar("T")
Reader = Callable[[Any], Any]


def read_answer(kind: type[T], data: Any) -> T:
    """An answer of this kind.

    >>> from longtail_client.answers import Degraded
    >>> read_answer(Degraded, {"code": "weak_recall", "detail": "…", "added_later": 1}).code
    'weak_recall'
    """
    try:
        reader: Reader = _reader_of(kind)  # type: ignore[arg-type]  # a type is hashable
        answer: T = reader(data)
    except (TypeError, ValueError, KeyError) as error:
        raise UnexpectedAnswer(
            f"the answer is no {kind.__name__}: {error}",
            code="unexpected_answer",
            remedy="check that the address is Longtail's, and that client and service are of the same version",
        ) from error
    return answer


@cache
def _reader_of(kind: Any) -> Reader:
    """How a value of a type is made from JSON; decided once for each type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        inner = _reader_of(next(one for one in arguments if one is not type(None)))
        return lambda value: None if value is None else inner(value)
    if origin is list:
        each = _reader_of(arguments[0])
        return lambda value: [each(one) for one in value]
    if kind is datetime:
        return lambda value: datetime.fromisoformat(value.replace("Z", "+00:00"))  # 3.10 knows no Z
    if is_dataclass(kind):
        return _dataclass_reader(kind)
    return lambda value: value


def _dataclass_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    readers = {one.name: _reader_of(hints[one.name]) for one in fields(kind)}
    required = {one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING}

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeError(f"expected an object, got {type(value).__name__}")
        missing = required - value.keys()
        if missing:
            raise KeyError(f"it lacks {', '.join(sorted(missing))}")
        return kind(**{name: read_one(value[name]) for name, read_one in readers.items() if name in value})

    return read
