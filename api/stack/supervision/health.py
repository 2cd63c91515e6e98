"""Questions to a running stack, each answered within seconds: is it there, is it well?"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from models.settings import kombu_url

HTTP_SECONDS = 3.0  # of patience with a busy machine; an answer usually takes milliseconds
PING_SECONDS = 1.0  # what asking everybody takes, as nobody knows how many there are
PING_NAMED_SECONDS = 2.0  # at most: it ends when those named have answered


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """What GET /readyz said; `parts` maps each part to "ok" or to what is wrong with it."""

    ready: bool
    answered: bool
    parts: dict[str, str]

    def explain(self) -> str:
        """Why it is not ready, in a few words."""
        if not self.answered:
            return "it does not answer"
        wrong = [f"{part}: {words}" for part, words in self.parts.items() if words != "ok"]
        return "; ".join(wrong) or "it does not say why"


def read_readiness(api_url: str) -> Readiness:
    """Whether the API can serve, and what keeps it from it."""
    status, body = _get(f"{api_url}/readyz")
    parts = body.get("parts")
    named = {str(part): str(words) for part, words in parts.items()} if isinstance(parts, dict) else {}
    return Readiness(ready=status == 200, answered=status != 0, parts=named)


def read_service_status(api_url: str, token: str | None) -> tuple[int, dict[str, Any]]:
    """The HTTP status and body of GET /v1/status; (0, {}) where nobody answers."""
    return _get(f"{api_url}/v1/status", token=token)


def answers_http(url: str) -> bool:
    """Whether a web server answers there at all without failing."""
    status, _ = _get(url)
    return 200 <= status < 500


def _get(url: str, *, token: str | None = None) -> tuple[int, dict[str, Any]]:
    import httpx

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        # trust_env=False: a proxy in the environment has no business between us and the loopback
        with httpx.Client(timeout=HTTP_SECONDS, trust_env=False, verify=url.startswith("https:")) as client:
            answer = client.get(url, headers=headers)
        body = answer.json() if "json" in answer.headers.get("content-type", "") else {}
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return 0, {}
    return answer.status_code, body if isinstance(body, dict) else {}


def ping_workers(redis_url: str, names: Iterable[str] | None = None) -> list[str]:
    """The Celery nodes that answer; with names, only those are asked, and it ends when they have.

    Asked through a bare Celery application: the API side does not import the workers.
    """
    from celery import Celery
    from kombu.exceptions import KombuError
    from redis import RedisError

    asked = list(names) if names is not None else None
    app = Celery(broker=kombu_url(redis_url), set_as_current=False)
    app.conf.update(
        broker_transport_options={"socket_connect_timeout": 1.0, "socket_timeout": 5.0},
        broker_connection_retry=False,
        broker_pool_limit=None,  # a question takes two connections; a pool of fewer would wait for ever
    )
    try:
        answers = (
            app.control.ping(destination=asked, timeout=PING_SECONDS if asked is None else PING_NAMED_SECONDS)
            or []
        )
    except (KombuError, RedisError, OSError):
        return []
    finally:
        app.close()
    return sorted(name for answer in answers for name in answer)
