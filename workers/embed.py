"""Turns and authored nodes into vectors, in batches as large as what waits."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Engine

from models.encoders.protocol import Encoder
from models.errors import NotFound
from models.store.embeddings import ItemVectors, add_vectors
from models.store.engine import tenant_transaction
from models.store.forgetting import find_silenced
from models.store.items import load_item_texts
from models.store.work import Claim, advance_work, find_queued


def embed_items(engine: Engine, encoder: Encoder, tenant_id: UUID, claims: Sequence[Claim]) -> None:
    """Encode the claimed items, every window of them; no transaction is open while the model runs."""
    ids = [claim.item_id for claim in claims]
    with tenant_transaction(engine, tenant_id) as connection:
        texts = load_item_texts(connection, tenant_id=tenant_id, ids=ids)
        queued = find_queued(connection, tenant_id=tenant_id, item_ids=ids)
        silenced = find_silenced(connection, tenant_id=tenant_id, turn_ids=ids)
    turns = [claim.item_id for claim in claims if claim.kind == "turn"]
    others = [claim.item_id for claim in claims if claim.kind != "turn"]
    # On its way here an item may be forgotten, erased, or replaced with its document; a turn is not lost otherwise.
    if missing := (queued & set(turns)) - silenced - {text.id for text in texts}:
        raise NotFound(f"turn {min(map(str, missing))} is queued but not in the index")
    windows = encoder.encode_windows([text.text for text in texts])
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
    with tenant_transaction(engine, tenant_id) as connection:
        add_vectors(connection, tenant_id=tenant_id, encoder=encoder.name, items=vectors)
        advance_work(connection, item_ids=turns, to_stage="embedded")
        advance_work(connection, item_ids=others, to_stage="done")  # only what was said passes the gate
