"""Claims about nearest neighbours: the graph finds what reading every row finds."""

from typing import Any, get_args

import numpy as np
import pytest
from sqlalchemy import text

from models.store.engine import tenant_transaction
from models.store.index.embeddings import ItemVectors, add_vectors
from models.store.recall.nearest import Way, find_neighbours, measure_sizes

ROWS = 400


def unit_rows(count: int, seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    rows = np.random.default_rng(seed).normal(size=(count, 384)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def filled(tenant: Any) -> Any:
    """A tenant with many user turns whose vectors are known."""
    for start in range(0, ROWS, 100):
        turns = [{"role": "user", "content": f"turn {start + n}", "id": str(start + n)} for n in range(100)]
        tenant.client.post_turns("s", turns, user_id="ann")
    tenant.settle()
    vectors = unit_rows(ROWS, 7)
    ids = tenant.rows("SELECT id, seq FROM longtail.turns WHERE tenant_id = :tenant ORDER BY seq")
    with tenant_transaction(tenant.as_role("longtail_worker"), tenant.id) as connection:
        connection.execute(text("DELETE FROM embeddings_minilm"))
        items = [
            ItemVectors(
                item_id=row.id,
                kind="turn",
                namespace="ann",
                role="user",
                seq=row.seq,
                windows=vectors[n : n + 1],
            )
            for n, row in enumerate(ids)
        ]
        add_vectors(connection, tenant_id=tenant.id, encoder="minilm", items=items)
    return tenant


def test_both_ways_find_the_same_neighbours(filled: Any) -> None:
    asked = unit_rows(5, 11)
    found = {}
    with tenant_transaction(filled.as_role("longtail_worker"), filled.id) as connection:
        for way in get_args(Way):
            found[way] = find_neighbours(
                connection,
                tenant_id=filled.id,
                encoder="minilm",
                namespace="ann",
                vectors=list(asked),
                befores=[2**62] * len(asked),
                count=10,
                only_durable=False,
                way=way,
            )
    shared = [
        len({near.item_id for near in exact} & {near.item_id for near in graph})
        for exact, graph in zip(found["exact"], found["graph"], strict=True)
    ]
    assert all(len(near) == 10 for near in found["graph"])
    assert sum(shared) >= 45  # of 50: the graph is approximate, and random vectors are its hardest case


def test_sizes_count_the_namespaces_asked_for(filled: Any) -> None:
    with tenant_transaction(filled.as_role("longtail_worker"), filled.id) as connection:
        sizes = measure_sizes(connection, tenant_id=filled.id, encoder="minilm", namespaces=["ann", "nobody"])
    assert sizes.asked == ROWS
    assert sizes.everybody >= ROWS
