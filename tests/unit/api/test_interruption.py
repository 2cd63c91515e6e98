"""Claims about Ctrl-C: it is heard once, it is not lost, and it does not break off the stopping that it began."""

import contextlib
import os
import signal

import pytest

from api.stack.interruption import StopRequested, StopSignals


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_signal_is_raised_and_the_next_is_not() -> None:
    with StopSignals():
        with pytest.raises(StopRequested):
            interrupt()
        interrupt()


def test_a_signal_that_came_in_the_middle_of_a_callback_is_raised_at_the_next_look() -> None:
    with StopSignals() as signals:
        with contextlib.suppress(StopRequested):  # as Python does with what a destructor raises
            interrupt()
        with pytest.raises(StopRequested):
            signals.raise_if_asked()


def test_nothing_is_raised_while_the_stack_is_being_stopped() -> None:
    with StopSignals() as signals:
        signals.shield()
        interrupt()
        signals.raise_if_asked()


def test_nobody_asked_nothing_is_raised() -> None:
    with StopSignals() as signals:
        signals.raise_if_asked()
