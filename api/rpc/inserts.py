"""Putting texts into collections: turns into the raw record, memories on top of turns, and texts of a client's own."""

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from api.memories.direct import append_turn, name_direct_session
from api.rpc.access import find_home, open_for_writing
from api.rpc.collections import Place
from api.rpc.dispatcher import Call, read_model
from api.rpc.search import encode
from api.turns.schemas import TurnIn
from models.domain.heartbeats import find_skipped
from models.domain.records import (
    GLOBAL_NAMESPACE,
    ROLES,
    STABILITY_WEIGHT,
    Identity,
    durable_namespace,
    read_identity,
)
from models.domain.wishes.conversation import read_wish
from models.errors import InvalidInput, ServiceError
from models.store.collections.records import NewRecord, find_named_turn, put_record
from models.store.collections.views import find_said, find_said_at
from models.store.memory.guidance import add_guidance
from models.store.memory.memories import add_memory

ROLE_OF_HOST: Final = {"toolresult": "tool", "tool_result": "tool", "function": "tool", "developer": "system"}


def is_skipped(call: Call, turn: TurnIn, *, names: Sequence[str | None]) -> bool:
    """Whether it is what a host says to itself: it is not kept."""
    ignored = call.runtime.settings.ignored_session_patterns()
    return bool(find_skipped([turn.to_domain()], names=names, ignored=ignored))


def insert_turn(
    call: Call, *, session_id: str, record_id: str, text: str, metadata: Mapping[str, Any]
) -> UUID | None:
    """Append a turn under the client's id; None for what a host says to itself.

    Other words under a known id are another turn: nothing said is lost.
    """
    turn = read_turn(record_id, text, metadata)
    if is_skipped(call, turn, names=[session_id, *_keys_in(metadata)]):
        return None
    identity = _read_identity(metadata, session_id)
    with call.runtime.transaction(call.caller) as connection:
        find_home(connection, session_id, identity)
        if not identity.is_empty:
            open_for_writing(connection, call, f"user:{durable_namespace(identity, session_id)}")
    return append_turn(call.runtime, call.caller, session_id=session_id, identity=identity, turn=turn)


def _keys_in(metadata: Mapping[str, Any]) -> list[str]:
    """Other names of the session, as far as a client sends them along."""
    given = (metadata.get(name) for name in ("sessionKey", "session_key", "sessionId"))
    return [name for name in given if isinstance(name, str)]


def _read_identity(metadata: Mapping[str, Any], session_id: str) -> Identity:
    """Whose conversation it is, by the `userId` these clients send with every turn: a namespace already."""
    namespace = metadata.get("userId")
    if not isinstance(namespace, str) or not namespace or namespace == f"session:{session_id}":
        return Identity()
    return read_identity(namespace)


def read_turn(record_id: str, text: str, metadata: Mapping[str, Any]) -> TurnIn:
    """A turn out of a text and its metadata, held to the same limits as any other."""
    given = metadata.get("role")
    role = str(given).lower() if given is not None else "user"
    role = ROLE_OF_HOST.get(role, role)
    if role not in ROLES:
        raise InvalidInput(
            f"the role is '{role[:32]}'", field="metadata.role", remedy=f"use one of {', '.join(ROLES)}"
        )
    return read_model(
        TurnIn,
        {
            "role": role,
            "content": text,
            "id": record_id,
            "ts": _read_moment(metadata),
            "metadata": dict(metadata),
        },
    )


def _read_moment(metadata: Mapping[str, Any]) -> datetime | None:
    """When it was said: `ts` in milliseconds since 1970, as these clients count."""
    given = metadata.get("ts")
    if not isinstance(given, int | float) or isinstance(given, bool) or given <= 0:
        return None
    try:
        return datetime.fromtimestamp(given / 1000, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise InvalidInput(
            f"ts is {given}", field="metadata.ts", remedy="send milliseconds since 1970, or none"
        ) from error


def insert_text(
    call: Call, *, collection: str, record_id: str, text: str, metadata: Mapping[str, Any]
) -> bool:
    """Put a text where its collection says; False for what a host says to itself, which is not kept."""
    with call.runtime.transaction(call.caller) as connection:
        place = open_for_writing(connection, call, collection)
    if place.is_derived:
        raise InvalidInput(
            f"nothing is put into '{collection}' by hand",
            field="collection",
            remedy="use insert_session_turn for turns, ingest_markdown_document for authored text",
        )
    if place.view == "active":
        assert place.session_id is not None
        turn_id = insert_turn(
            call, session_id=place.session_id, record_id=record_id, text=text, metadata=metadata
        )
        return turn_id is not None
    if place.view == "own":
        _insert_own(call, place, record_id, text, metadata)
        return True
    if is_skipped(call, read_turn(record_id, text, metadata), names=_keys_in(metadata)):
        return False
    _insert_on_turn(call, place, record_id, text, metadata)
    return True


def _insert_on_turn(call: Call, place: Place, record_id: str, text: str, metadata: Mapping[str, Any]) -> None:
    """A name in the turn index, a memory or a rule: each rests on the turn that said it."""
    turn = read_turn(record_id, text, metadata)
    if place.view == "guidance" and turn.role != "user":
        raise InvalidInput(
            f"guidance is what the user said, and this is of role '{turn.role}'",
            field="metadata.role",
            remedy="put it into user:<namespace>: it is remembered there, and rules nothing",
        )
    turn_id = _find_turn(call, place, record_id, turn) or append_turn(
        call.runtime,
        call.caller,
        session_id=name_direct_session(place.collection),
        identity=_find_owner(call, place),
        turn=turn,  # whose words they are: only a user's become guidance
    )
    tenant_id = call.caller.tenant_id
    seen_at = turn.ts or datetime.now(UTC)
    with call.runtime.transaction(call.caller) as connection:
        if place.view == "memories":
            assert place.namespace is not None
            add_memory(
                connection,
                tenant_id=tenant_id,
                namespace=place.namespace,
                turn_id=turn_id,
                body=turn.content,
                gate_score=_read_unit(metadata, "gating_score", call.runtime.settings.gate_threshold),
                seen_at=seen_at,
            )
        elif place.view == "guidance":
            reading = read_wish(turn.content)
            add_guidance(
                connection,
                tenant_id=tenant_id,
                collection=place.collection,
                turn_id=turn_id,
                body=turn.content,
                modalities=sorted(reading.modalities),
                claims=reading.claims,
                stability_weight=_read_unit(metadata, "stability_weight", STABILITY_WEIGHT["user"]),
                stated_at=seen_at,
            )
        record = NewRecord(
            collection=place.collection,
            id=record_id,
            metadata=turn.metadata,
            namespace=place.namespace,
            item_id=turn_id,
        )
        put_record(connection, tenant_id=tenant_id, record=record)


def _find_owner(call: Call, place: Place) -> Identity:
    """Whose turn a text becomes that nobody said in a conversation."""
    if place.namespace == GLOBAL_NAMESPACE:
        return Identity(user_id=GLOBAL_NAMESPACE)
    if place.namespace is not None:
        return read_identity(place.namespace)
    assert place.session_id is not None
    with call.runtime.transaction(call.caller) as connection:
        return read_identity(find_home(connection, place.session_id))


def _find_turn(call: Call, place: Place, record_id: str, turn: TurnIn) -> UUID | None:
    """The turn a client means: by its session and `source_turn_id`, by its session, time and words where an older
    client sends no such id, or by the same id in the same collection."""
    session_id, source = turn.metadata.get("sessionId"), turn.metadata.get("source_turn_id")
    tenant_id = call.caller.tenant_id
    digest = hashlib.sha256(turn.content.encode()).digest()
    with call.runtime.transaction(call.caller) as connection:
        if isinstance(session_id, str) and session_id:
            found = None
            if place.namespace in (find_home(connection, session_id), None):
                known: dict[str, Any] = {"tenant_id": tenant_id, "session_id": session_id, "digest": digest}
                if isinstance(source, str | int):
                    names = _name_turn(session_id, source, digest)
                    found = find_said(connection, **known, host_ids=names)
                elif turn.ts is not None:
                    found = find_said_at(connection, **known, moment=turn.ts)
            if found is not None:
                return found
        # a memory of a turn that the turn index knows already
        if place.namespace is not None and place.view == "memories":
            return find_named_turn(
                connection,
                tenant_id=tenant_id,
                collection=f"turns:{place.namespace}",
                record_id=record_id,
                digest=digest,
            )
    return None


def _name_turn(session_id: str, source: str | int, digest: bytes) -> list[str]:
    """The names a turn may have been accepted under."""
    short = digest.hex()[:12]
    return [name for base in (f"{session_id}:{source}", str(source)) for name in (base, f"{base}#{short}")]


def _read_unit(metadata: Mapping[str, Any], key: str, default: float) -> float:
    value = metadata.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return min(max(float(value), 0.0), 1.0)
    return default


def _insert_own(call: Call, place: Place, record_id: str, text: str, metadata: Mapping[str, Any]) -> None:
    """A text of a client's own; one whose metadata names a `userId` is that user's, and is erased with them."""
    turn = read_turn(record_id, text, {**metadata, "role": "user"})  # the limits of a turn
    vector, encoder = None, None
    with contextlib.suppress(ServiceError):  # no encoder yet: compared when it is searched
        serving = call.runtime.serving
        vector, encoder = encode(call, [turn.content], serving, as_passages=True)[0], serving.name
    tenant_id = call.caller.tenant_id
    with call.runtime.transaction(call.caller) as connection:
        namespace = place.namespace
        if namespace is None and place.session_id is not None:
            namespace = find_home(connection, place.session_id)
        owner = metadata.get("userId")
        if namespace is None and isinstance(owner, str) and owner:
            namespace = durable_namespace(read_identity(owner), "")
        record = NewRecord(
            collection=place.collection,
            id=record_id,
            metadata={key: value for key, value in turn.metadata.items() if key in metadata},
            namespace=namespace,
            body=turn.content,
            encoder=encoder,
            vector=vector,
        )
        put_record(connection, tenant_id=tenant_id, record=record)
