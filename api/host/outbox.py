"""What the handlers of all hosts do: leave a call behind, send what waits, ask for a prompt."""

from __future__ import annotations

import os

from api.host.delivery import Delivery, deliver, read_problem
from api.host.hook import Call, complain
from api.host.loopback import Client, quote
from api.host.quick_json import MalformedJson, dump, parse
from api.host.spool import Spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BACKLOG_SECONDS = 0.3  # that a prompt waits for what an outage left behind
ANSWER_MARGIN_MS = 100  # between the deadline the API is given and ours


class Outbox:
    """One hook call's way to the API: everything it leaves goes through the spool, so nothing is lost on the way."""

    def __init__(self, call: Call) -> None:
        self._call = call
        configuration = call.configuration
        self.spool = Spool(configuration.home, max_bytes=configuration.spool_max_bytes)
        self.client = Client(configuration)

    def leave_turns(self, session_id: str, body: dict[str, Any]) -> None:
        """Keep turns to be sent."""
        key = body.get("idempotency_key") or os.urandom(16).hex()
        self._leave(f"/v1/sessions/{quote(session_id)}/turns", {**body, "idempotency_key": key}, None)

    def leave_hint(self, body: dict[str, Any]) -> None:
        """Keep a hint about a session's life to be sent."""
        self._leave("/v1/lifecycle", body, os.urandom(16).hex())

    def send(self) -> Delivery:
        """Send what waits, with all the time there is."""
        delivery = deliver(self.spool, self.client, seconds=self._call.seconds_left())
        self._tell(delivery)
        return delivery

    def send_backlog(self) -> Delivery:
        """Send what an earlier call could not, with little of the time there is."""
        delivery = deliver(self.spool, self.client, seconds=self._call.seconds_left(BACKLOG_SECONDS))
        self._tell(delivery)
        return delivery

    def assemble(self, request: dict[str, Any]) -> dict[str, Any]:
        """The API's answer to /v1/assemble; raises `Away` without one, and `OSError` where it is none we understand."""
        seconds = self._call.seconds_left()
        deadline_ms = max(int(seconds * 1000) - ANSWER_MARGIN_MS, 1)
        body = dump({"deadline_ms": deadline_ms, **request})
        status, answer = self.client.post("/v1/assemble", body, seconds=seconds)
        if status != 200:
            code, detail = read_problem(answer)
            raise OSError(f"assemble answered {status} {code}: {detail}")
        try:
            found = parse(answer)
        except MalformedJson as error:
            raise OSError(f"assemble answered what is {error}") from error
        if not isinstance(found, dict):
            raise OSError("assemble answered no object")
        return found

    def _leave(self, path: str, body: dict[str, Any], key: str | None) -> None:
        call = {"path": path, "body": body, **({"key": key} if key else {})}
        if not self.spool.append(call):
            complain(
                f"the spool is full ({self.spool.max_bytes} bytes): this was not kept; start Longtail or raise "
                "LONGTAIL_SPOOL_MAX_BYTES, then import the transcripts"
            )

    @staticmethod
    def _tell(delivery: Delivery) -> None:
        if delivery.refused:
            complain(f"{delivery.refused} calls were refused and put aside; see 'longtail spool show'")
        if delivery.skipped:
            complain(f"{delivery.skipped} turns were skipped: heartbeats, or a session that is not kept")
        if delivery.edited:
            complain(f"{delivery.edited} turns were kept before with other words: the first words stay")
        if delivery.stopped:
            complain(f"kept in the spool: {delivery.stopped}")
