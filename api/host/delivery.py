"""Sending what waits in the spool, in order, once each; what the API refuses for good is put aside with its reason."""

from __future__ import annotations

import time

from api.host.loopback import Away, Client, Unreachable
from api.host.quick_json import MalformedJson, dump, parse
from api.host.spool import Spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Answers that say the call itself is wrong. All others (no token, too many calls, PostgreSQL away) may change.
REFUSALS = frozenset({400, 404, 405, 409, 413, 414, 415, 422})
EDITED = '"content_differs":true'  # as the API writes it
IN_USE = "idempotency_key_in_use"  # the first sending still runs


class Delivery:
    """How many calls were taken or refused, how many turns were skipped or known with other words, and why it stopped."""

    __slots__ = ("edited", "is_unreachable", "refused", "sent", "skipped", "stopped")

    def __init__(self) -> None:
        self.sent = 0
        self.refused = 0
        self.skipped = 0  # heartbeats, sessions that are ignored: nothing is wrong with them
        self.edited = 0  # known by their id with other words: the first words stay
        self.stopped: str | None = None
        self.is_unreachable = False

    def stop(self, reason: str, *, is_unreachable: bool = False) -> Delivery:
        """Something still waits."""
        self.stopped = reason
        self.is_unreachable = is_unreachable
        return self


def deliver(spool: Spool, client: Client, *, seconds: float) -> Delivery:
    """Send what waits until nothing does, the API is away, or the time is up."""
    delivery = Delivery()
    if spool.is_empty():
        return delivery
    deadline = time.monotonic() + seconds
    replay = spool.replay(wait_seconds=seconds)
    if replay is None:
        return delivery.stop("another process is sending")
    with replay:
        for call in replay.calls():
            try:
                problem, is_final, answer = _send(client, call, seconds=deadline - time.monotonic())
            except Away as error:
                return delivery.stop(str(error), is_unreachable=isinstance(error, Unreachable))
            if problem and not is_final:
                return delivery.stop(problem)
            if problem:
                replay.put_aside(problem, call)
                delivery.refused += 1
            else:
                delivery.sent += 1
                delivery.skipped += count_skipped(answer)
                delivery.edited += answer.count(EDITED)
    return delivery


def _send(client: Client, call: dict[str, Any], *, seconds: float) -> tuple[str | None, bool, str]:
    """Why the call was not taken, if it was not; whether that is final; and the answer."""
    path, body = call.get("path"), call.get("body")
    if (
        not isinstance(path, str)
        or not path.startswith("/")
        or not path.isascii()
        or not isinstance(body, dict)
    ):
        return "the line names no call", True, ""
    key = call.get("key")
    status, answer = client.post(
        path, dump(body), seconds=seconds, idempotency_key=key if isinstance(key, str) else None
    )
    if 200 <= status < 300:
        return None, True, answer
    code, detail = read_problem(answer)
    return f"{status} {code}: {detail}", status in REFUSALS and code != IN_USE, answer


def count_skipped(answer: str) -> int:
    """How many turns the API did not keep because they are the host's own noise.

    >>> count_skipped('{"accepted":["1"],"skipped":[1,2]}'), count_skipped('{"ok":true}')
    (2, 0)
    """
    if '"skipped":[' not in answer or '"skipped":[]' in answer:
        return 0
    try:
        found = parse(answer)
    except MalformedJson:
        return 0
    return len(found["skipped"]) if isinstance(found, dict) and isinstance(found.get("skipped"), list) else 0


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
