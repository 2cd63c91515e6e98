"""Standing wishes of users: read with the encoder's help, and kept from then on (memory-model.md section 9)."""

from collections.abc import Container, Sequence
from uuid import UUID

from sqlalchemy import Connection

from models.domain.records import STABILITY_WEIGHT, Turn
from models.domain.rules.detector import DeonticReading
from models.domain.rules.guidance import (
    SESSION_PREFIX,
    StatedRule,
    name_guidance_namespace,
    resolve_supersessions,
)
from models.domain.wishes.conversation import (
    list_candidates,
    read_wish,
    read_with_vectors,
    read_without_vectors,
)
from models.domain.wishes.lifetimes import find_lifetime
from models.domain.wishes.model import load_model
from models.domain.wishes.quoting import quote_rule
from models.encoders.protocol import Encoder
from models.store.index.embeddings import Vector
from models.store.memory.guidance import add_guidance, keep_claims, load_spoken, supersede_guidance

MAX_COMPARED_RULES = 500


def read_wishes(
    encoder: Encoder,
    texts: Sequence[str],
    vectors: Sequence[Vector],
    *,
    between_people: Sequence[bool] | None = None,
) -> list[DeonticReading]:
    """The standing rules of each text, `vectors` being theirs; another encoder than the model's leaves it to the cues.

    `between_people` says of each whether it was said among people, no assistant taking part; by default none was.
    """
    model = load_model()
    if encoder.fingerprint.digest() != model.encoder_digest:
        return [read_without_vectors(text) for text in texts]
    candidates = [list_candidates(text) for text in texts]
    unsure = {one.text: one for some in candidates for one in some if not one.is_certain}
    known = dict(zip(unsure, encoder.encode_phrasing(list(unsure)), strict=True)) if unsure else {}
    return [
        read_with_vectors(some, known, vector, is_between_people=is_between_people)
        for some, vector, is_between_people in zip(
            candidates, vectors, between_people or [False] * len(texts), strict=True
        )
    ]


def keep_rules(
    connection: Connection,
    tenant_id: UUID,
    stated: Sequence[tuple[Turn, DeonticReading]],
    *,
    corrected: Container[UUID] = (),
) -> None:
    """Rules that users stated stand from now on; where two contradict each other, the newer one does."""
    touched: set[str] = set()
    for turn, reading in stated:
        body = quote_rule(turn.content, reading)
        lifetime = find_lifetime(body, turn.ts)
        collection = name_guidance_namespace(turn.namespace, session_id=turn.session_id)
        if lifetime.is_for_session:
            collection = SESSION_PREFIX + turn.session_id
        touched.add(collection)
        add_guidance(
            connection,
            tenant_id=tenant_id,
            collection=collection,
            turn_id=turn.id,
            body=body,
            modalities=sorted(reading.modalities),
            claims=reading.claims,
            stability_weight=STABILITY_WEIGHT[turn.role],
            stated_at=turn.ts,
            expires_at=lifetime.expires_at,
            is_correction=turn.id in corrected,
        )
    for collection in sorted(touched):
        settle_contradictions(connection, tenant_id, collection)


def settle_contradictions(connection: Connection, tenant_id: UUID, collection: str) -> None:
    """Where two rules of one speaker contradict each other whole, the newer one stands and the older is marked.

    Who speaks without a name may be any of those who have one.
    """
    spoken = load_spoken(connection, tenant_id=tenant_id, collection=collection, count=MAX_COMPARED_RULES)
    rules: dict[str | None, list[StatedRule]] = {one.name: [] for one in spoken}
    for one in spoken:
        claims = one.claims
        if claims is None:  # stored by an older version, or imported
            claims = read_wish(one.body).claims
            keep_claims(connection, guidance_id=one.id, claims=claims)
        rules[one.name].append(StatedRule(id=str(one.id), claims=claims, said_at=one.stated_at))
    unnamed = rules.pop(None, [])
    for own in rules.values() or [[]]:
        for mark in resolve_supersessions([*own, *unnamed]):
            if mark.is_whole:
                supersede_guidance(
                    connection,
                    guidance_id=UUID(mark.superseded_id),
                    by_id=UUID(mark.by_id),
                    actions=mark.actions,
                )
