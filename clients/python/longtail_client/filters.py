"""LangGraph's filters over an item's value: equality, nested objects, and comparisons by operator."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def matches_filter(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a value has everything a filter asks for.

    >>> matches_filter({"stars": 5, "by": {"name": "Ann"}}, {"stars": {"$gte": 4}, "by": {"name": "Ann"}})
    True
    >>> matches_filter({"stars": 5}, {"stars": {"$ne": 5}})
    False
    """
    return all(_matches(value.get(key), one) for key, one in wanted.items())


def _matches(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_compare(value, name, operand) for name, operand in wanted.items())
        return isinstance(value, Mapping) and matches_filter(value, wanted)
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(wanted)
            and all(_matches(one, other) for one, other in zip(value, wanted, strict=True))
        )
    return bool(value == wanted)


def _compare(value: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return bool(value == operand)
    if name == "$ne":
        return bool(value != operand)
    if name not in ORDER:
        raise ValueError(f"unknown operator '{name}'; use $eq, $ne, {', '.join(ORDER)}")
    try:
        return ORDER[name](float(value), float(operand))
    except (
        TypeError,
        ValueError,
    ):  # something that has no order, or nothing at all, is not larger or smaller
        return False
