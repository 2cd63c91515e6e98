"""Answers to writes, kept for a while: a call that is sent again gets the answer of the first one."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, text

PRUNED_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """What was answered under a key; `status` is None while the first call still runs."""

    is_same_request: bool
    status: int | None
    content_type: str | None
    body: bytes | None


_BEGIN = text("""
INSERT INTO idempotency_keys AS known (tenant_id, key, request_sha256) VALUES (:tenant_id, :key, :digest)
ON CONFLICT (tenant_id, key) DO UPDATE
SET request_sha256 = excluded.request_sha256, begun_at = now(), status = NULL, content_type = NULL, answer = NULL
WHERE known.begun_at < now() - make_interval(secs => :kept_seconds)
   OR known.status IS NULL AND known.begun_at < now() - make_interval(secs => :running_seconds)
RETURNING 1
""")
_PRUNE = text("""
DELETE FROM idempotency_keys WHERE tenant_id = :tenant_id AND key IN (
    SELECT key FROM idempotency_keys
    WHERE tenant_id = :tenant_id AND begun_at < now() - make_interval(secs => :kept_seconds) LIMIT :most)
""")


def begin_call(
    connection: Connection,
    *,
    tenant_id: UUID,
    key: str,
    digest: bytes,
    kept_seconds: float,
    running_seconds: float,
) -> KeptAnswer | None:
    """None: the key is ours now and the call may run. Else what is known of the call that had it first.

    A call that never ended (its process died) holds its key for `running_seconds` only.
    """
    values = {
        "tenant_id": tenant_id,
        "key": key,
        "digest": digest,
        "kept_seconds": kept_seconds,
        "running_seconds": running_seconds,
    }
    if connection.execute(_BEGIN, values).first() is not None:
        connection.execute(_PRUNE, {**values, "most": PRUNED_AT_ONCE})
        return None
    row = connection.execute(
        text(
            "SELECT request_sha256, status, content_type, answer FROM idempotency_keys "
            "WHERE tenant_id = :tenant_id AND key = :key"
        ),
        values,
    ).one_or_none()
    if row is None:  # it was given up in this very moment
        return KeptAnswer(is_same_request=True, status=None, content_type=None, body=None)
    return KeptAnswer(
        is_same_request=row.request_sha256 == digest,
        status=row.status,
        content_type=row.content_type,
        body=row.answer,
    )


def keep_answer(
    connection: Connection, *, tenant_id: UUID, key: str, status: int, content_type: str | None, body: bytes
) -> None:
    """The call ended: whoever repeats it gets this."""
    connection.execute(
        text(
            "UPDATE idempotency_keys SET status = :status, content_type = :content_type, answer = :body "
            "WHERE tenant_id = :tenant_id AND key = :key"
        ),
        {"tenant_id": tenant_id, "key": key, "status": status, "content_type": content_type, "body": body},
    )


def give_up_call(connection: Connection, *, tenant_id: UUID, key: str) -> None:
    """The call failed and changed nothing: its key may be used again."""
    connection.execute(
        text("DELETE FROM idempotency_keys WHERE tenant_id = :tenant_id AND key = :key AND status IS NULL"),
        {"tenant_id": tenant_id, "key": key},
    )
