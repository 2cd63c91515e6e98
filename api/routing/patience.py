"""A bound on how long a connection may take to say what it wants."""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 10.0


class HeaderDeadline(AutoHTTPProtocol):  # type: ignore[misc,valid-type]  # whichever parser is installed
    """uvicorn's protocol, which closes connections whose request line and headers are not there in time.

    The clock runs from the connection on, and again from the first byte after an answer.
    """

    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start_clock()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._start_clock()
        else:
            self._stop_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        super().connection_lost(exc)

    def _start_clock(self) -> None:
        if self._clock is None:
            self._clock = self.loop.call_later(HEADER_SECONDS, self._close)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _close(self) -> None:
        self._clock = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
