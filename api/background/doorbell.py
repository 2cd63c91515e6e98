"""Waking the workers after a commit, without ever making a caller wait for Redis.

A thread of its own sends the message; rings that come while it is busy become one. A bell that cannot be
rung is only a delay: the row waits in PostgreSQL and the sweep finds it.
"""

import threading

import structlog
from celery import Celery

from models.messages import QUEUE_OF_TASK
from models.settings import kombu_url

log = structlog.get_logger(__name__)
PAUSE_AFTER_FAILURE_SECONDS = 1.0
# Sending takes about 2 ms of Python. First the caller gets the answer, and rings that come together become one.
LET_THE_ANSWER_GO_SECONDS = 0.005
# After a ring whoever answers it is at work for a while and takes what comes meanwhile: under load, few bells do.
SECONDS_BETWEEN_RINGS = 0.05


class Doorbell:
    """Rings tasks by name; `ring` returns at once."""

    def __init__(self, redis_url: str | None) -> None:
        self._app = Celery("longtail-doorbell", set_as_current=False)
        self._app.conf.update(
            broker_url=kombu_url(redis_url or "redis://127.0.0.1:6379/0"),
            broker_transport_options={"socket_timeout": 2, "socket_connect_timeout": 1, "max_retries": 0},
            broker_connection_timeout=1,
            task_publish_retry=False,
            task_ignore_result=True,
        )
        self._wanted: set[str] = set()
        self._change = threading.Condition()
        self._is_closing = False
        self._closing = threading.Event()
        self.is_working = True  # whether the last ring reached Redis
        self._thread = threading.Thread(target=self._run, name="doorbell", daemon=True)
        self._thread.start()

    def ring(self, task: str) -> None:
        """Ask for a message to be sent soon."""
        with self._change:
            self._wanted.add(task)
            self._change.notify()

    def close(self) -> None:
        """Send what is still wanted, then stop."""
        self._closing.set()
        with self._change:
            self._is_closing = True
            self._change.notify()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._wanted or self._is_closing)
            self._closing.wait(LET_THE_ANSWER_GO_SECONDS)
            with self._change:
                wanted, self._wanted = self._wanted, set()
                if not wanted:
                    return
            for task in sorted(wanted):
                self._send(task)
            self._closing.wait(SECONDS_BETWEEN_RINGS)

    def _send(self, task: str) -> None:
        try:
            self._app.send_task(task, queue=QUEUE_OF_TASK[task])
        except Exception as error:  # noqa: BLE001 - a broker fails in many ways, and none may reach a caller
            if self.is_working:
                log.warning("doorbell.silent", task=task, error=type(error).__name__)
            self.is_working = False
            with self._change:
                self._change.wait_for(lambda: self._is_closing, timeout=PAUSE_AFTER_FAILURE_SECONDS)
        else:
            self.is_working = True
