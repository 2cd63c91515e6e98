"""Our hooks in the text of a Claude Code settings file: put in and taken out without touching anything else.

The text is edited where it must be, not written anew: what is there keeps its order, its spaces and its numbers as they are.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

OURS: Final = re.compile(r"(?:longtail|start\.py|__main__\.py)['\"]? hook claude-code ([A-Za-z]+)")
SPACE: Final = re.compile(r"[ \t\r\n]*")


class UnusableSettings(ValueError):
    """The settings are not what Claude Code could read; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Part:
    """A member of an object or an element of a list: where it begins, where its value begins, where it ends."""

    key: str | None
    start: int
    value: int
    end: int


def add_hooks(text: str, commands: dict[str, tuple[str, int]]) -> str:
    """The settings with a hook for each event (command, seconds), beside the hooks that are there.

    >>> add_hooks('{"model": "opus"}', {"Stop": ("longtail hook claude-code Stop", 5)})[:34]
    '{"model": "opus", "hooks": {"Stop"'
    """
    text = remove_hooks(text)
    for event, (command, seconds) in commands.items():
        group = {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}
        root = _find_start(text)
        hooks = _find(text, root, "hooks")
        if hooks is None:
            text = _append(text, root, "hooks", {event: [group]}, depth=1)
            continue
        events = _find(text, hooks.value, event)
        if events is None:
            text = _append(text, hooks.value, event, [group], depth=2)
        else:
            text = _append(text, events.value, None, group, depth=3)
    check_settings(text)
    return text


def remove_hooks(text: str) -> str:
    """The settings without our hooks; lists and objects that are empty then go, too."""
    check_settings(text)
    while (span := _find_ours(text)) is not None:
        text = text[: span[0]] + text[span[1] :]
    return text


def find_commands(text: str) -> dict[str, str]:
    """Our hooks in the settings: event and command."""
    found: dict[str, str] = {}
    for groups in (check_settings(text).get("hooks") or {}).values():
        for group in groups:
            for hook in _hooks_of(group):
                if match := OURS.search(_command_of(hook)):
                    found[match[1]] = _command_of(hook)
    return found


def check_settings(text: str) -> dict[str, Any]:
    """The settings as a value; refused where adding a hook would be a guess."""
    try:
        settings = json.loads(text, object_pairs_hook=_refuse_repeated)
    except json.JSONDecodeError as error:
        raise UnusableSettings(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise UnusableSettings("it is nested too deeply") from error
    if not isinstance(settings, dict):
        raise UnusableSettings("it is no JSON object")
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise UnusableSettings("'hooks' is no object")
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise UnusableSettings(f"'hooks.{event}' is no list")
    return settings


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise UnusableSettings(f"'{repeated}' is there twice")
    return found


def _hooks_of(group: object) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _command_of(hook: object) -> str:
    command = hook.get("command") if isinstance(hook, dict) else None
    return command if isinstance(command, str) else ""


def _find_ours(text: str) -> tuple[int, int] | None:
    """What to cut out next: our hook, or whatever holds nothing else."""
    root = _find_start(text)
    hooks = _find(text, root, "hooks")
    if hooks is None:
        return None
    for event in _parts(text, hooks.value):
        for group in _parts(text, event.value):
            held = _hooks_of(json.loads(text[group.value : group.end]))
            ours = [number for number, hook in enumerate(held) if OURS.search(_command_of(hook))]
            if not ours:
                continue
            if len(held) > 1:
                inner = _find(text, group.value, "hooks")
                assert inner is not None
                return _span(text, inner.value, _parts(text, inner.value)[ours[0]])
            if len(_parts(text, event.value)) > 1:
                return _span(text, event.value, group)
            if len(_parts(text, hooks.value)) > 1:
                return _span(text, hooks.value, event)
            return _span(text, root, hooks)
    return None


def _span(text: str, container: int, part: Part) -> tuple[int, int]:
    """The part with the comma and the space that belong to it."""
    parts = _parts(text, container)
    place = parts.index(part)
    if place > 0:
        return parts[place - 1].end, part.end
    if len(parts) > 1:
        return part.start, parts[1].start
    return container + 1, _find_close(text, container, parts)


def _append(text: str, container: int, key: str | None, value: object, *, depth: int) -> str:
    """The text with one more part at the end of an object or a list, spaced like the parts before it."""
    parts = _parts(text, container)
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _detect_indent(text)
    is_folded = unit is not None
    if parts:
        before = text[(parts[-2].end + 1) if len(parts) > 1 else container + 1 : parts[-1].start]
        is_folded = "\n" in before
        if not is_folded and len(parts) == 1:
            before = " "
    else:
        before = newline + (unit or "") * depth if is_folded else ""
    word = f"{json.dumps(key)}: " if key is not None else ""
    body = (
        json.dumps(value, indent=unit, ensure_ascii=False)
        if is_folded
        else json.dumps(value, ensure_ascii=False)
    )
    body = body.replace("\n", newline + (unit or "") * depth)
    if parts:
        place = parts[-1].end
        return f"{text[:place]},{before}{word}{body}{text[place:]}"
    after = newline + (unit or "") * (depth - 1) if is_folded else ""
    return f"{text[: container + 1]}{before}{word}{body}{after}{text[_find_close(text, container, parts) :]}"


def _detect_indent(text: str) -> str | None:
    """What one level of indentation is; None for settings on one line."""
    root = _find_start(text)
    first = _skip(text, root + 1)
    if text[first] == "}":
        return "  "
    space = text[root + 1 : first]
    return space.rpartition("\n")[2] if "\n" in space else None


def _find_start(text: str) -> int:
    return _skip(text, 0)


def _find(text: str, container: int, key: str) -> Part | None:
    return next((part for part in _parts(text, container) if part.key == key), None)


def _parts(text: str, container: int) -> list[Part]:
    """The members of the object, or the elements of the list, that begins here; the text was checked before."""
    is_object = text[container] == "{"
    decoder = json.JSONDecoder()
    found: list[Part] = []
    place = _skip(text, container + 1)
    while text[place] not in "}]":
        start, key = place, None
        if is_object:
            key, place = decoder.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)
        value = place
        _, place = decoder.raw_decode(text, place)
        found.append(Part(key, start, value, place))
        place = _skip(text, place)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return found


def _find_close(text: str, container: int, parts: list[Part]) -> int:
    return _skip(text, parts[-1].end if parts else container + 1)


def _skip(text: str, place: int) -> int:
    found = SPACE.match(text, place)
    return found.end() if found else place
