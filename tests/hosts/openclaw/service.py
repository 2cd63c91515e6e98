"""The Longtail behind the plugin, as tests look into it."""

import time
from dataclasses import dataclass
from typing import Any

from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack

NAMESPACE = "agent-id:main"


@dataclass
class Service:
    """The Longtail that the plugin finds through LONGTAIL_HOME."""

    stack: ThrowawayStack

    def call(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        with ServiceClient.from_settings(self.stack.settings) as client:
            return client.call(method, path, **options)

    def settle(self, seconds: float = 600) -> None:
        """Wait until the workers have finished what arrived."""
        deadline = time.monotonic() + seconds
        while pending := self.call("GET", "/v1/status")["pending"]:
            assert time.monotonic() < deadline, f"{pending} items still wait after {seconds} s"
            time.sleep(0.1)

    def matches(self, pattern: str) -> list[dict[str, Any]]:
        """Raw turns that hold these words, oldest first."""
        found = self.call("POST", "/v1/grep", json={"pattern": pattern, "limit": 1000})
        return list(reversed(found["matches"]))
