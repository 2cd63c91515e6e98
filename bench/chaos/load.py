"""Steady load: a host that sends turns until they are accepted, asks for prompts, and has sessions compacted."""

import random
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import Any

from api.client import ServiceClient
from bench.texts import make_texts
from models.errors import ServiceError

SESSIONS = 4
PAUSE_SECONDS = 0.15


class SteadyLoad:
    """Three threads that go on whatever happens; what was accepted is written down."""

    def __init__(self, url: str, token: str, *, seed: int) -> None:
        self.accepted: set[str] = set()
        self.answered = 0
        self.refused = 0
        self._texts = make_texts(2000, seed=seed)
        self._random = random.Random(seed)
        self._client: Callable[[], ServiceClient] = lambda: ServiceClient(
            url=url, token=token, retry_seconds=1
        )
        self._is_over = threading.Event()
        self._may_go = threading.Event()
        self._is_idle = [threading.Event() for _ in range(3)]
        self._threads = [
            threading.Thread(target=self._go_on, args=(work, idle), daemon=True)
            for work, idle in zip((self._accept, self._assemble, self._compact), self._is_idle, strict=True)
        ]
        self._numbers = count()
        self._unsent: list[dict[str, str]] = []
        for thread in self._threads:
            thread.start()

    def resume(self) -> None:
        """Go on."""
        for idle in self._is_idle:
            idle.clear()
        self._may_go.set()

    def pause(self, seconds: float = 60) -> None:
        """Stop between two calls; what was sent and not answered is sent again first, as hosts do."""
        self._may_go.clear()
        for idle in self._is_idle:
            idle.wait(seconds)

    def finish_sending(self, seconds: float) -> None:
        """The host does not give up on what it has not seen accepted."""
        deadline = time.monotonic() + seconds
        with self._client() as client:
            while self._unsent and time.monotonic() < deadline:
                self._send(client)

    def close(self) -> None:
        """The end."""
        self._is_over.set()
        self._may_go.set()
        for thread in self._threads:
            thread.join(30)

    def _go_on(self, work: Callable[[ServiceClient], None], idle: threading.Event) -> None:
        with self._client() as client:
            while not self._is_over.is_set():
                if not self._may_go.is_set():
                    idle.set()
                    self._may_go.wait()
                    continue
                try:
                    work(client)
                except ServiceError:
                    self.refused += 1
                self._is_over.wait(PAUSE_SECONDS)

    def _accept(self, client: ServiceClient) -> None:
        if not self._unsent:
            for _ in range(self._random.randint(1, 4)):
                number = next(self._numbers)
                role = "user" if number % 2 == 0 else "assistant"
                said = f"{self._texts[number % len(self._texts)]} ({number})"
                self._unsent.append({"id": f"turn-{number}", "role": role, "content": said})
        self._send(client)

    def _send(self, client: ServiceClient) -> None:
        try:
            sent = list(self._unsent)
            client.post_turns(f"s{int(sent[0]['id'][5:]) % SESSIONS}", sent)
        except ServiceError:
            self.refused += 1
            time.sleep(PAUSE_SECONDS)
            return
        self.accepted.update(turn["id"] for turn in sent)
        self._unsent.clear()

    def _assemble(self, client: ServiceClient) -> None:
        query = self._random.choice(self._texts)
        session = f"s{self._random.randrange(SESSIONS)}"
        answer: dict[str, Any] = client.assemble(session_id=session, query=query, budget_tokens=2000)
        assert answer["text"] is not None
        self.answered += 1

    def _compact(self, client: ServiceClient) -> None:
        client.compact(f"s{self._random.randrange(SESSIONS)}", wait=False, force=True)
        self._is_over.wait(1.0)
