"""A client of the HTTP API for the command line and the benchmarks; its errors are ours, with their remedies."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_exponential_jitter

from models.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    PermanentError,
    ServiceError,
    TooLarge,
    TransientError,
    Unauthorized,
)
from models.settings import Settings

ERROR_OF_STATUS: Mapping[int, type[ServiceError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: InvalidInput,
    429: TransientError,
    502: TransientError,
    503: TransientError,
    504: TransientError,
}

UNREACHABLE_REMEDY = "start it with 'longtail up', or set LONGTAIL_API_URL"
ERASE_SECONDS = 3600.0


class ServiceClient:
    """Speaks to one server as one token; retries what may succeed later.

    `reach_seconds` is how long a server is looked for that never answered: somebody who typed a command wants to
    hear soon that nothing runs. One that answered before is waited for as long as any other failure is.
    """

    def __init__(
        self, *, url: str, token: str | None, retry_seconds: float = 30.0, reach_seconds: float | None = None
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.url = url
        self._http = httpx.Client(
            base_url=url,
            headers=headers,
            timeout=60.0,
            trust_env=False,
            verify=url.startswith(
                "https:"
            ),  # reading every certificate of the machine takes longer than most calls
        )
        self._retry_seconds = retry_seconds
        self._reach_seconds = retry_seconds if reach_seconds is None else reach_seconds
        self._has_answered = False

    @classmethod
    def from_settings(
        cls, settings: Settings, *, retry_seconds: float = 30.0, reach_seconds: float | None = None
    ) -> Self:
        """The server and token this machine's settings point to."""
        if settings.knows_no_service():
            raise TransientError(
                "no Longtail runs from this home, and LONGTAIL_PORT=0 names no port to look at",
                code="unreachable",
                remedy=UNREACHABLE_REMEDY,
            )
        return cls(
            url=settings.service_url(),
            token=settings.client_token(),
            retry_seconds=retry_seconds,
            reach_seconds=reach_seconds,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def call(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """One call; a server that is away or busy is asked again for a while."""
        attempts = Retrying(
            retry=retry_if_exception_type(TransientError),
            stop=self._is_enough,
            wait=wait_exponential_jitter(multiplier=0.2, max=5),
            reraise=True,
        )
        answer: dict[str, Any] = attempts(self._call_once, method, path, **options)
        return answer

    def _is_enough(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        is_away = isinstance(error, ServiceError) and error.code == "unreachable"
        patience = self._reach_seconds if is_away and not self._has_answered else self._retry_seconds
        return (state.seconds_since_start or 0.0) + state.upcoming_sleep >= patience

    def _call_once(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        if "json" in options:  # in ASCII: half characters reach the API, which refuses them by name
            options["content"] = json.dumps(options.pop("json"))
            options["headers"] = {"Content-Type": "application/json", **options.get("headers", {})}
        try:
            response = self._http.request(method, path, **options)
        except httpx.ReadTimeout as error:  # it took the call: asking again would only add to its work
            raise ServiceError(
                f"Longtail at {self.url} is still at work on this and has not answered yet",
                code="slow",
                remedy="it goes on; look at 'longtail status', and repeat the command later to see the result",
            ) from error
        except httpx.TransportError as error:
            raise TransientError(
                f"no Longtail answers at {self.url}: {error}", code="unreachable", remedy=UNREACHABLE_REMEDY
            ) from error
        self._has_answered = True
        if not response.is_success:
            raise _to_error(response)
        if not response.content:
            return {}
        found = _read_object(response)
        if found is None:
            raise _name_stranger(response)
        return found

    def post_turns(
        self, session_id: str, turns: Sequence[Mapping[str, Any]], **identity: str | None
    ) -> dict[str, Any]:
        """Append turns to a session."""
        path = f"/v1/sessions/{_quote(session_id)}/turns"
        return self.call("POST", path, json={"turns": list(turns), **_given(identity)})

    def assemble(self, **request: Any) -> dict[str, Any]:
        """The prompt for a model call."""
        return self.call("POST", "/v1/assemble", json=_given(request))

    def search(self, **request: Any) -> dict[str, Any]:
        """Ranked memory for a query."""
        return self.call("POST", "/v1/search", json=_given(request))

    def put_document(self, name: str, markdown: str | bytes, **parameters: str) -> dict[str, Any]:
        """Load authored Markdown."""
        return self.call(
            "PUT",
            f"/v1/documents/{_quote(name)}",
            content=markdown.encode() if isinstance(markdown, str) else markdown,
            headers={"Content-Type": "text/markdown"},
            params=parameters,
        )

    def delete_document(self, name: str, **parameters: str) -> dict[str, Any]:
        """Take a document out of every prompt and out of recall."""
        return self.call("DELETE", f"/v1/documents/{_quote(name)}", params=parameters)

    def read_document(self, name: str, **parameters: str) -> dict[str, Any]:
        """One authored document, word for word."""
        return self.call("GET", f"/v1/documents/{_quote(name)}", params=parameters)

    def list_documents(self, **parameters: str) -> dict[str, Any]:
        """A page of authored documents."""
        return self.call("GET", "/v1/documents", params=parameters)

    def list_sessions(self, **parameters: str) -> dict[str, Any]:
        """A page of sessions."""
        return self.call("GET", "/v1/sessions", params=parameters)

    def read_session(self, session_id: str) -> dict[str, Any]:
        """One session with its counts."""
        return self.call("GET", f"/v1/sessions/{_quote(session_id)}")

    def forget(
        self, memory_id: str, *, reason: str | None = None, user_id: str | None = None
    ) -> dict[str, Any]:
        """Take a memory out of recall for good."""
        asked = {"reason": reason, "user_id": user_id}
        parameters = {key: value for key, value in asked.items() if value}
        return self.call("DELETE", f"/v1/memories/{_quote(memory_id)}", params=parameters)

    def compact(self, session_id: str, *, wait: bool = True, force: bool = False) -> dict[str, Any]:
        """Cover a session's older turns with summaries."""
        path = f"/v1/sessions/{_quote(session_id)}/compact"
        return self.call("POST", path, json={"wait": wait, "force": force})

    def list_turns(
        self, session_id: str, *, cursor: str | None = None, limit: int = 1000, user_id: str | None = None
    ) -> dict[str, Any]:
        """A page of a session's raw turns."""
        asked = {"limit": str(limit), "cursor": cursor, "user_id": user_id}
        parameters = {key: value for key, value in asked.items() if value}
        return self.call("GET", f"/v1/sessions/{_quote(session_id)}/turns", params=parameters)

    def expand(
        self,
        summary_id: str,
        *,
        depth: int | None = None,
        cursor: str | None = None,
        user_id: str | None = None,
    ) -> dict[str, Any]:
        """What a summary covers."""
        asked = _given({"depth": depth, "cursor": cursor, "user_id": user_id})
        return self.call("GET", f"/v1/summaries/{_quote(summary_id)}/expand", params=asked)

    def read_summary(self, summary_id: str) -> dict[str, Any]:
        """One summary."""
        return self.call("GET", f"/v1/summaries/{_quote(summary_id)}")

    def grep(self, **request: Any) -> dict[str, Any]:
        """Search the raw record."""
        return self.call("POST", "/v1/grep", json=_given(request))

    def verify_lineage(self, **request: Any) -> dict[str, Any]:
        """Prove that compaction lost nothing."""
        return self.call("POST", "/v1/lineage/verify", json=_given(request))

    def export(self, **filters: str | None) -> Iterator[bytes]:
        """Everything kept, piece by piece; a stream that is torn raises instead of ending."""
        try:
            with self._http.stream("GET", "/v1/export", params=_given(filters), timeout=600.0) as response:
                if not response.is_success:
                    response.read()
                    raise _to_error(response)
                yield from response.iter_bytes()
        except httpx.ConnectError as error:
            raise TransientError(
                f"no Longtail answers at {self.url}: {error}", code="unreachable", remedy=UNREACHABLE_REMEDY
            ) from error
        except httpx.TransportError as error:
            raise TransientError(
                f"the export from {self.url} was torn: {error}", code="unreachable"
            ) from error

    def import_(self, pieces: Iterable[bytes], *, ids: str = "keep") -> dict[str, Any]:
        """Take an export back; the pieces are sent as they come, once."""
        headers = {"Content-Type": "application/x-ndjson"}
        return self._call_once(
            "POST", "/v1/import", content=pieces, headers=headers, params={"ids": ids}, timeout=3600.0
        )

    def erase(self, namespace: str, *, confirm: str | None, reason: str | None = None) -> dict[str, Any]:
        """Erase a namespace for good."""
        asked = _given({"confirm": confirm, "reason": reason})
        return self.call("DELETE", f"/v1/namespaces/{_quote(namespace)}", params=asked, timeout=ERASE_SECONDS)

    def explain(self, assembly_id: str) -> dict[str, Any]:
        """The receipt of an assembly."""
        return self.call("GET", f"/v1/assemblies/{_quote(assembly_id)}")

    def replay(self, assembly_id: str) -> dict[str, Any]:
        """What would be different if the assembly were made again."""
        return self.call("POST", f"/v1/assemblies/{_quote(assembly_id)}/replay")

    def status(self) -> dict[str, Any]:
        """What waits and what failed."""
        return self.call("GET", "/v1/status")


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _quote(part: str) -> str:
    from urllib.parse import quote

    return quote(part, safe="")


def _read_object(response: httpx.Response) -> dict[str, Any] | None:
    try:
        found = response.json()
    except ValueError:  # no JSON, or no text at all
        return None
    return found if isinstance(found, dict) else None


def _name_stranger(response: httpx.Response) -> ServiceError:
    address = f"{response.url.scheme}://{response.url.netloc.decode()}"
    return PermanentError(
        f"what answers at {address} is no Longtail: HTTP {response.status_code} without JSON",
        code="no_longtail",
        remedy="'longtail status' says whether it runs and where; LONGTAIL_PORT and LONGTAIL_API_URL name another address",
    )


def _to_error(response: httpx.Response) -> ServiceError:
    kind = ERROR_OF_STATUS.get(response.status_code, PermanentError)
    found = _read_object(response)
    if found is None and kind is not TransientError:  # a proxy in front of it may answer 502 in its own words
        return _name_stranger(response)
    found = found or {}
    return kind(
        found.get("detail") or f"the server answered {response.status_code}",
        code=found.get("code"),
        field=found.get("field"),
        remedy=found.get("remedy"),
    )
