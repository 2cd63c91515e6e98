"""Turns and authored nodes into vectors, in batches as large as what waits."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Engine

from models.encoders.protocol import Encoder
from models.errors import NotFound
from models.store.embeddings import ItemVectors, add_vectors
from models.store.engine import tenant_transaction
from models.store.items import load_item_texts
from models.store.work import Claim, advance_work


def embed_items(engine: Engine, encoder: Encoder, tenant_id: UUID, claims: Sequence[Claim]) -> None:
    """Encode the claimed items, every window of them; no transaction is open while the model runs."""
    ids = [claim.item_id for claim in claims]
    with tenant_transaction(engine, tenant_id) as connection:
        texts = load_item_texts(connection, tenant_id=tenant_id, ids=ids)
    turns = [claim.item_id for claim in claims if claim.kind == "turn"]
    nodes = [claim.item_id for claim in claims if claim.kind == "node"]
    if missing := set(turns) - {text.id for text in texts}:  # a node may be gone: its document was replaced
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
        advance_work(connection, item_ids=nodes, to_stage="done")  # what is authored passes no gate
