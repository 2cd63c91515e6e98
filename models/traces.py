"""Traces of a turn's way and of assemblies, for OpenTelemetry; off unless an endpoint is named (decision 44).

Nothing is stored or sent along for them: a turn's id is the id of its trace, an assembly's id is that of its own, and the
first span's id is the last half of the trace's. So whoever knows a turn can add a span to its trace.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import UUID

from models.errors import Misconfigured

if TYPE_CHECKING:
    from models.otlp import Sender

Value = str | int | float | bool | Sequence[str]
_DRAWS: Final = (
    1 << 56
)  # the last 56 bits of a UUID of version 4 or 7 are random: what W3C's trace context counts on
_PATH: Final = "/v1/traces"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Something that took time. Attributes are codes and counts of ours: no text, nobody's name."""

    name: str
    began_ns: int  # Unix time
    ended_ns: int
    attributes: Mapping[str, Value] = field(default_factory=dict)
    events: Sequence[str] = ()  # that its end brought about
    error: str | None = None  # the code of what went wrong


class Traces:
    """Takes spans of the traces that are wanted; sending them is another thread's work."""

    def __init__(self, sender: "Sender", *, share: float) -> None:
        self._sender = sender
        self._share = share

    def wants(self, trace: UUID) -> bool:
        """Whether this trace is among the share that is told; every process decides alike."""
        return is_drawn(trace, self._share)

    def add_root(self, trace: UUID, span: Span) -> None:
        """The first span of a trace."""
        self._sender.send(trace, span, is_root=True)

    def add_child(self, trace: UUID, span: Span) -> None:
        """A span under the first one, which may be another process's."""
        self._sender.send(trace, span, is_root=False)

    def add_accepted(self, turn_ids: Sequence[UUID], *, began_ns: int) -> None:
        """Turns that one call brought have just been committed: the first span of each one's way."""
        span = Span(
            name="accept",
            began_ns=began_ns,
            ended_ns=time.time_ns(),
            attributes={"longtail.batch": len(turn_ids)},
        )
        for turn_id in filter(self.wants, turn_ids):
            self.add_root(turn_id, span)

    def close(self) -> None:
        """Send what is left, within two seconds."""
        self._sender.close()


def open_traces(endpoint: str | None, *, share: float, service: str) -> Traces | None:
    """None where nobody asked for traces: then nothing of OpenTelemetry's SDK is imported."""
    if endpoint is None or share == 0:
        return None
    check_installed(endpoint)
    from models.otlp import Sender

    return Traces(Sender(complete_endpoint(endpoint), service=service), share=share)


def check_installed(endpoint: str | None) -> None:
    """Raise Misconfigured where traces are asked for and the packages for them are missing."""
    wanted = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
    if endpoint is not None and not all(map(_is_there, wanted)):
        raise Misconfigured(
            "LONGTAIL_TRACES_ENDPOINT is set, and the packages that send traces are not installed",
            remedy="install them with pip install 'longtail[traces]', or unset LONGTAIL_TRACES_ENDPOINT",
        )


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it would be in
        return False


def is_drawn(trace: UUID, share: float) -> bool:
    """Whether a trace is in the share, by the random bits of its id.

    >>> is_drawn(UUID("0199a1f0-0000-7000-8080-000000000000"), 0.5)
    False
    >>> is_drawn(UUID("0199a1f0-0000-7000-807f-ffffffffffff"), 0.5)
    True
    """
    return trace.int % _DRAWS < share * _DRAWS


def find_root(trace: UUID) -> int:
    """The id of a trace's first span: never 0, for the half begins with the bits of the UUID's variant.

    >>> hex(find_root(UUID("0199a1f0-0000-7000-8000-00000000000a")))
    '0x800000000000000a'
    """
    return trace.int & (2**64 - 1)


def complete_endpoint(address: str) -> str:
    """The address traces are posted to; as with OpenTelemetry's own variable, a base gets the path of the standard.

    >>> complete_endpoint("http://127.0.0.1:4318"), complete_endpoint("https://host/otlp/v1/traces")
    ('http://127.0.0.1:4318/v1/traces', 'https://host/otlp/v1/traces')
    """
    parts = urlsplit(address)
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(_PATH) else path + _PATH).geturl()
