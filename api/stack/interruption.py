"""Ctrl-C, SIGTERM and a closed terminal, as one exception that comes once."""

import signal
from types import FrameType, TracebackType
from typing import Any, Self

ASKING_TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(KeyboardInterrupt):
    """Somebody asked this command to stop."""


class StopSignals:
    """While entered, the first signal raises StopRequested; later ones are ignored.

    A second Ctrl-C must not break off the stopping that the first began: it would leave processes behind. And the first
    must not be lost: an exception that is raised while Python runs a destructor or a callback of its import system
    is printed and dropped, so whoever does long work looks again with `raise_if_asked`.
    """

    def __init__(self) -> None:
        self._asked = self._shielded = False
        self._previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in ASKING_TO_STOP:
            self._previous[number] = signal.signal(number, self._receive)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def shield(self) -> None:
        """From now on signals change nothing: the stack is being stopped already."""
        self._shielded = True

    def raise_if_asked(self) -> None:
        """Raise StopRequested where somebody asked and nothing is being stopped yet."""
        if self._asked and not self._shielded:
            raise StopRequested

    def _receive(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self._asked:
            self._asked = True
            self.raise_if_asked()
