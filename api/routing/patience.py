"""Bounds on how long a connection may take to say what it wants, and to read what it is told."""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 10.0
UNREAD_SECONDS = 60.0  # while what was written before is not read


class HeaderDeadline(AutoHTTPProtocol):  # type: ignore[misc,valid-type]  # whichever parser is installed
    """uvicorn's protocol, which closes connections whose request line and headers are not there in time.

    The clock runs from the connection on, and again from the first byte after an answer. Another one runs while the client
    leaves so much of its answer unread that no more can be written.
    """

    unread_seconds = UNREAD_SECONDS  # a transfer may have been given more
    _clock: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._start_clock()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._start_clock()
        else:
            self._stop_clock()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None:  # not closed but dropped: a close waits until all is read
            self._unread = self.loop.call_later(self.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_clock()
        self._stop_waiting()
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
