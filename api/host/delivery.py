"""Sending what waits in the spool, in order, once each; what the API refuses for good is put aside with its reason."""

from __future__ import annotations

import time

from api.host.loopback import Away, Client
from api.host.quick_json import MalformedJson, dump, parse
from api.host.spool import Spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Answers that say the call itself is wrong. All others (no token, too many calls, PostgreSQL away) may change.
REFUSALS = frozenset({400, 404, 405, 409, 413, 414, 415, 422})
IN_USE = "idempotency_key_in_use"  # the first sending still runs


class Delivery:
    """How many calls were taken, how many were refused, and why it stopped; None when nothing is left."""

    __slots__ = ("refused", "sent", "stopped")

    def __init__(self, sent: int, refused: int, stopped: str | None) -> None:
        self.sent = sent
        self.refused = refused
        self.stopped = stopped


def deliver(spool: Spool, client: Client, *, seconds: float) -> Delivery:
    """Send what waits until nothing does, the API is away, or the time is up."""
    if spool.is_empty():
        return Delivery(0, 0, None)
    deadline = time.monotonic() + seconds
    replay = spool.replay(wait_seconds=seconds)
    if replay is None:
        return Delivery(0, 0, "another process is sending")
    sent = refused = 0
    with replay:
        for call in replay.calls():
            try:
                problem, is_final = _send(client, call, seconds=deadline - time.monotonic())
            except Away as error:
                return Delivery(sent, refused, str(error))
            if problem and not is_final:
                return Delivery(sent, refused, problem)
            if problem:
                replay.put_aside(problem, call)
                refused += 1
            else:
                sent += 1
    return Delivery(sent, refused, None)


def _send(client: Client, call: dict[str, Any], *, seconds: float) -> tuple[str | None, bool]:
    """Why the call was not taken, if it was not, and whether that is final."""
    path, body = call.get("path"), call.get("body")
    if (
        not isinstance(path, str)
        or not path.startswith("/")
        or not path.isascii()
        or not isinstance(body, dict)
    ):
        return "the line names no call", True
    key = call.get("key")
    status, answer = client.post(
        path, dump(body), seconds=seconds, idempotency_key=key if isinstance(key, str) else None
    )
    if 200 <= status < 300:
        return None, True
    code, detail = read_problem(answer)
    return f"{status} {code}: {detail}", status in REFUSALS and code != IN_USE


def read_problem(answer: str) -> tuple[str, str]:
    """Code and detail of a problem document, as far as it is one.

    >>> read_problem('{"code": "too_large", "detail": "the turn has 9 bytes"}')
    ('too_large', 'the turn has 9 bytes')
    """
    try:
        found = parse(answer)
    except MalformedJson:
        found = None
    if not isinstance(found, dict):
        return "unknown", "the answer is no problem document"
    return str(found.get("code") or "unknown"), str(found.get("detail") or "")
