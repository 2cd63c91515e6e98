"""Turns and authored nodes into vectors, in batches as large as what waits; with them the wishes only a vector tells."""

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from sqlalchemy import Engine

from models.domain.grammar.spans import DeonticReading
from models.domain.prompt.markers import keep_what_was_said
from models.domain.records import Turn
from models.domain.text.prose import drop_quoted_lines
from models.domain.updates.claims import read_claims
from models.domain.vectors import mean_direction
from models.encoders.protocol import Encoder
from models.errors import NotFound
from models.store.conversation.turns import find_talk_between_people, load_turns
from models.store.engine import tenant_transaction
from models.store.index.embeddings import ItemVectors, add_vectors
from models.store.index.encoders import guard_encoder
from models.store.index.items import ItemText, load_item_texts
from models.store.memory.forgetting import find_silenced, load_corrections
from models.store.memory.updates import NewStatement, add_statements
from models.store.tenancy.tokens import load_marker
from models.store.work import Claim, advance_work, find_queued
from workers.meters import TALLY
from workers.wishes import keep_rules, read_wishes


def embed_items(engine: Engine, encoder: Encoder, tenant_id: UUID, claims: Sequence[Claim]) -> None:
    """Encode the claimed items, every window of them; no transaction is open while the model runs."""
    ids = [claim.item_id for claim in claims]
    with tenant_transaction(engine, tenant_id) as connection:
        texts = load_item_texts(connection, tenant_id=tenant_id, ids=ids)
        queued = find_queued(connection, tenant_id=tenant_id, item_ids=ids)
        silenced = find_silenced(connection, tenant_id=tenant_id, turn_ids=ids)
    turns = [claim for claim in claims if claim.kind == "turn"]
    others = [claim for claim in claims if claim.kind != "turn"]
    # On its way here an item may be forgotten, erased, or replaced with its document; a turn is not lost otherwise.
    if missing := (queued & {turn.item_id for turn in turns}) - silenced - {text.id for text in texts}:
        raise NotFound(f"turn {min(map(str, missing))} is queued but not in the index")
    vectors, statements = encode_items(encoder, texts)
    stated, corrected = _read_stated(engine, encoder, tenant_id, vectors)
    with tenant_transaction(engine, tenant_id) as connection:
        guard_encoder(connection, name=encoder.name)
        add_vectors(connection, tenant_id=tenant_id, encoder=encoder.name, items=vectors)
        add_statements(connection, tenant_id=tenant_id, encoder=encoder.name, statements=statements)
        keep_rules(connection, tenant_id, stated, corrected=corrected)
        advance_work(connection, claims=turns, to_stage="embedded")
        advance_work(connection, claims=others, to_stage="done")  # only what was said passes the gate
    now = time.time()
    for turn in turns:
        TALLY.observe("searchable_seconds", max(now - made_at(turn.item_id), 0.0))


def encode_items(encoder: Encoder, texts: Sequence[ItemText]) -> tuple[list[ItemVectors], list[NewStatement]]:
    """The vectors of items, and of what the turns among them state."""
    began = time.perf_counter()
    windows = encoder.encode_windows([text.text for text in texts])
    TALLY.observe("encoder_seconds", time.perf_counter() - began)
    TALLY.add("encoder_texts", len(texts))
    vectors = [
        ItemVectors(
            item_id=text.id,
            kind=text.kind,
            namespace=text.namespace,
            role=text.role,
            seq=text.seq,
            windows=rows,
        )
        for text, rows in zip(texts, windows, strict=True)
    ]
    return vectors, _read_statements(encoder, texts, vectors)


def _read_stated(
    engine: Engine, encoder: Encoder, tenant_id: UUID, vectors: Sequence[ItemVectors]
) -> tuple[list[tuple[Turn, DeonticReading]], Collection[UUID]]:
    """The user turns that state a standing wish, and which turns have their words from a correction."""
    said = {one.item_id: one for one in vectors if one.kind == "turn" and one.role == "user"}
    if not said:
        return [], ()
    with tenant_transaction(engine, tenant_id) as connection:
        kept = load_turns(connection, tenant_id=tenant_id, ids=list(said))
        marker = load_marker(connection, tenant_id=tenant_id)
        corrections = load_corrections(connection, tenant_id=tenant_id, turn_ids=list(said))
        peoples = find_talk_between_people(
            connection, tenant_id=tenant_id, session_ids={turn.session_id for turn in kept}
        )
    turns = [
        replace(turn, content=corrections.get(turn.id, turn.content))
        for turn in keep_what_was_said(kept, marker)
    ]
    readings = read_wishes(
        encoder,
        [turn.content for turn in turns],
        [mean_direction(said[turn.id].windows) for turn in turns],
        between_people=[turn.session_id in peoples for turn in turns],
    )
    stated = [(turn, reading) for turn, reading in zip(turns, readings, strict=True) if reading.is_rule]
    return stated, corrections.keys()


def made_at(turn_id: UUID) -> float:
    """When a turn was accepted, in Unix time: the first 48 bits of its id are milliseconds (UUID version 7).

    >>> made_at(UUID("0199a1f0-0000-7000-8000-000000000000"))
    1759358484.48
    """
    return (turn_id.int >> 80) / 1000


def _read_statements(
    encoder: Encoder, texts: Sequence[ItemText], vectors: Sequence[ItemVectors]
) -> list[NewStatement]:
    """What users state, by sentence, with its vector; a turn that is one sentence has its vector already.

    Lines that quote a page or a mail state nothing: they must not replace what the user said.
    """
    found = [
        (text, ordinal, claim.text)
        for text in texts
        if text.kind == "turn" and text.role == "user"
        for ordinal, claim in enumerate(read_claims(drop_quoted_lines(text.said)))
    ]
    known = {item.item_id: item.windows[0] for item in vectors if len(item.windows) == 1}
    whole = {text.id: text.text.strip() for text in texts if text.id in known}
    missing = list(dict.fromkeys(body for text, _, body in found if whole.get(text.id) != body))
    rows = encoder.encode_windows(missing) if missing else []
    encoded = {body: windows[0] for body, windows in zip(missing, rows, strict=True)}
    return [
        NewStatement(
            turn_id=text.id,
            ordinal=ordinal,
            namespace=text.namespace,
            body=body,
            vector=known[text.id] if whole.get(text.id) == body else encoded[body],
        )
        for text, ordinal, body in found
    ]
