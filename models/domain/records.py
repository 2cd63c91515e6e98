"""The nouns that cross module borders: who speaks, what was said, where it belongs (memory-model.md 4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

Role = Literal["user", "assistant", "system", "tool"]
ROLES: Final[tuple[Role, ...]] = ("user", "assistant", "system", "tool")

# a(t), memory-model.md section 4
STABILITY_WEIGHT: Final[dict[str, float]] = {"system": 0.8, "user": 0.6, "assistant": 0.4, "tool": 0.2}
AUTHORED_STABILITY: Final = 1.0
RESERVED_NAMESPACE_PREFIXES: Final = (
    "session-key:",
    "agent-id:",
    "session:",
    "authored:",
    "elevated:",
    "global",
)
GLOBAL_NAMESPACE: Final = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whose conversation this is, as far as the host says."""

    user_id: str | None = None
    session_key: str | None = None
    agent_id: str | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.user_id or self.session_key or self.agent_id)


def durable_namespace(identity: Identity, session_id: str) -> str:
    """Where durable memory of a turn lives: the first identity that is present, else the session's own.

    >>> durable_namespace(Identity(user_id="ann", agent_id="main"), "s1")
    'ann'
    >>> durable_namespace(Identity(agent_id="main"), "s1")
    'agent-id:main'
    >>> durable_namespace(Identity(), "s1")
    'session:s1'
    """
    if identity.user_id:
        return identity.user_id
    if identity.session_key:
        return f"session-key:{identity.session_key}"
    if identity.agent_id:
        return f"agent-id:{identity.agent_id}"
    return f"session:{session_id}"


def read_identity(namespace: str) -> Identity:
    """Who a namespace belongs to; nobody in particular, where it is a session's own.

    >>> read_identity("session-key:main")
    Identity(user_id=None, session_key='main', agent_id=None)
    """
    if namespace.startswith("session:"):
        return Identity()
    if namespace.startswith("session-key:"):
        return Identity(session_key=namespace.removeprefix("session-key:"))
    if namespace.startswith("agent-id:"):
        return Identity(agent_id=namespace.removeprefix("agent-id:"))
    return Identity(user_id=namespace)


def provenance_class(role: str) -> str:
    """What a turn is before the gate has spoken: output of a tool, or something said.

    >>> provenance_class("tool"), provenance_class("user")
    ('tool_output', 'session_turn')
    """
    return "tool_output" if role == "tool" else "session_turn"


def name_speaker(name: str | None, text: str) -> str:
    """What an encoder reads of a turn. Who said it is part of what it means: it answers "where does Ann live?".

    >>> name_speaker("Ann", "I moved to Lyon"), name_speaker(None, "I moved to Lyon")
    ('Ann: I moved to Lyon', 'I moved to Lyon')
    """
    return f"{name}: {text}" if name else text


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A turn as a host hands it over."""

    role: Role
    content: str
    ts: datetime | None = None
    host_message_id: str | None = None
    name: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    is_heartbeat: bool = False  # by the host's word


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn as it is kept, word for word."""

    id: UUID
    session_id: str
    position: int
    seq: int
    namespace: str
    role: str
    content: str
    ts: datetime
    name: str | None = None
    host_message_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
