"""Claims about the watchdog: it cuts what hangs, and only that."""

import socket
import time

from models.store.watchdog import Watchdog


def test_a_reader_that_waits_too_long_sees_the_end() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, Watchdog().watch(ours.fileno(), seconds=0.1):
        assert ours.recv(1) == b""


def test_a_reader_that_finished_in_time_is_left_alone() -> None:
    ours, theirs = socket.socketpair()
    watchdog = Watchdog()
    with ours, theirs:
        with watchdog.watch(ours.fileno(), seconds=0.05):
            pass
        time.sleep(0.2)
        theirs.sendall(b"x")
        assert ours.recv(1) == b"x"


def test_the_earliest_deadline_is_served_first() -> None:
    one, one_end = socket.socketpair()
    two, two_end = socket.socketpair()
    watchdog = Watchdog()
    with one, one_end, two, two_end, watchdog.watch(one.fileno(), seconds=30):
        with watchdog.watch(two.fileno(), seconds=0.1):
            assert two.recv(1) == b""
        one_end.sendall(b"y")
        assert one.recv(1) == b"y"
