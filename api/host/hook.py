"""`longtail hook HOST EVENT [--home DIR] [--user ID]`: what a host starts inside its turn. JSON in, JSON out.

It must never cost the user a turn: it always exits 0, ends within its deadline, prints nothing on standard output but what
the host asked for, and says on one line of standard error why it could not do something.
"""

from __future__ import annotations

import os
import sys
import time

from api.host.configuration import Configuration
from api.host.quick_json import MalformedJson, dump, parse
from api.host.turns import clean_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Handler = Callable[["Call"], dict[str, Any] | None]

MAX_INPUT_BYTES = 16 * 1024 * 1024  # what the API takes in one request
KEPT_INPUT_BYTES = 64 * 1024  # of input that was no JSON, for whoever looks into it
GRACE_SECONDS = 0.25  # between the deadline of the work and the end of the process
USAGE = "usage: longtail hook claude-code|generic EVENT [--home DIR] [--user ID] < JSON"


class Refused(Exception):
    """The input is not one we can act on; the message says why."""


class Call:
    """One hook call: what the host said, and how long there is."""

    def __init__(
        self, event: str, given: dict[str, Any], configuration: Configuration, deadline: float
    ) -> None:
        self.event = event
        self.given = given
        self.configuration = configuration
        self._deadline = deadline

    def seconds_left(self, most: float | None = None) -> float:
        """What is left of the deadline, or less."""
        left = self._deadline - time.monotonic()
        return left if most is None else min(left, most)

    def text(self, name: str) -> str:
        """A text that the host gave, cleaned; '' when it gave none."""
        found = self.given.get(name)
        return clean_text(found) if isinstance(found, str) else ""


def main(arguments: Sequence[str]) -> int:
    """Answer one event; always 0."""
    try:
        answer = _run(list(arguments))
        if answer is not None:
            _write(1, dump(answer) + "\n")
    except Refused as error:
        complain(str(error))
    except KeyboardInterrupt:
        complain("interrupted")
    except Exception as error:  # noqa: BLE001 - a host must never see a traceback in place of an answer
        complain(f"{type(error).__name__}: {error}")
    return 0


def complain(words: str) -> None:
    """One line on standard error."""
    _write(2, "longtail hook: " + " ".join(words.split())[:500] + "\n")


def _run(arguments: list[str]) -> dict[str, Any] | None:
    start = time.monotonic()
    host, event, home, user = _parse_arguments(arguments)
    configuration = Configuration(home=home, user_id=user)
    handler, waits = _find_handler(host, event)
    seconds = (configuration.deadline_ms if waits else configuration.send_ms) / 1000
    _start_watchdog(seconds + GRACE_SECONDS)
    given = _read_input(configuration)
    return handler(Call(event, given, configuration, start + seconds))


def _parse_arguments(arguments: list[str]) -> tuple[str, str, str | None, str | None]:
    named: dict[str, str] = {}
    places: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word in {"--home", "--user"}:
            named[word] = next(rest, "")
        else:
            places.append(word)
    if len(places) != 2 or "" in named.values():
        raise Refused(USAGE)
    return places[0], places[1], named.get("--home"), named.get("--user")


def _find_handler(host: str, event: str) -> tuple[Handler, bool]:
    if host == "claude-code":
        from api.host.claude_code import HANDLERS
    elif host == "generic":
        from api.host.generic import HANDLERS
    else:
        raise Refused(f"'{host}' is no host we know; {USAGE}")
    if event not in HANDLERS:
        raise Refused(f"'{event}' is no event of {host} that we answer; use one of {', '.join(HANDLERS)}")
    return HANDLERS[event]


def _start_watchdog(seconds: float) -> None:
    """End the process in time whatever it waits for: a silent host, a hung disk, a name that does not resolve."""
    import _thread

    def watch() -> None:
        time.sleep(seconds)
        try:
            complain(f"not finished within {seconds:.2f} s")
        finally:
            os._exit(0)

    _thread.start_new_thread(watch, ())


def _read_input(configuration: Configuration) -> dict[str, Any]:
    if os.isatty(0):
        raise Refused(f"no JSON on standard input; {USAGE}")
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(0, 1024 * 1024):
        size += len(piece)
        if (
            size <= MAX_INPUT_BYTES
        ):  # the rest is read and left, so that the host is not stopped by a closed pipe
            pieces.append(piece)
    data = b"".join(pieces)
    if size > MAX_INPUT_BYTES:
        why = f"the input has {size} bytes; a hook takes {MAX_INPUT_BYTES}"
        _keep_aside(configuration, why, data)
        raise Refused(why)
    try:
        given = parse(data.decode("utf-8"))
    except (UnicodeDecodeError, MalformedJson) as error:
        told = (
            f"not JSON: byte {error.start} is not UTF-8" if isinstance(error, UnicodeDecodeError) else error
        )
        _keep_aside(configuration, f"the input is {told}", data)
        raise Refused(f"the input is {told}") from error
    if not isinstance(given, dict):
        _keep_aside(configuration, "the input is not a JSON object", data)
        raise Refused("the input is not a JSON object")
    return given


def _keep_aside(configuration: Configuration, why: str, data: bytes) -> None:
    if data.strip():
        from api.host.spool import Spool

        spool = Spool(configuration.home, max_bytes=configuration.spool_max_bytes)
        spool.put_aside(why, data[:KEPT_INPUT_BYTES])


def _write(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError as error:
        if descriptor == 1:
            print(f"longtail hook: nobody reads the answer: {error}", file=sys.stderr)
