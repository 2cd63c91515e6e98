"""The gate: which user turns become durable memory, and which only confirm one (memory-model.md section 5)."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from uuid import UUID

from sqlalchemy import Connection, Engine

from models.domain.gate.gating import (
    MEMORY_NEIGHBOURS,
    TURN_NEIGHBOURS,
    GateDecision,
    decide_gate,
    read_text_signals,
)
from models.domain.prompt.markers import keep_what_was_said
from models.domain.prompt.tokens import CharsCounter
from models.domain.recall.selection import DUPLICATE_COSINE, find_marks
from models.domain.records import Turn
from models.domain.vectors import mean_direction
from models.settings import Settings
from models.store.compaction.progress import count_uncompacted, find_covered
from models.store.conversation.turns import load_turns
from models.store.engine import tenant_transaction
from models.store.index.embeddings import Vector, load_vectors
from models.store.index.encoders import require_active
from models.store.memory.decisions import find_decided, gate_threshold, record_decision
from models.store.memory.memories import add_memory, load_memory_text, lock_namespace, reinforce_memory
from models.store.recall.nearest import Neighbour, choose_way, find_neighbours, measure_sizes
from models.store.tenancy.tokens import load_marker
from models.store.work import Claim, advance_work
from workers.meters import TALLY
from workers.updates import mark_updates

SEARCHED_PER_NEIGHBOUR = 6  # rows looked at for one that counts: others' turns, windows, what is not durable


def gate_turns(
    engine: Engine,
    tenant_id: UUID,
    claims: Sequence[Claim],
    *,
    settings: Settings,
    on_due: Callable[[], None] = lambda: None,
) -> None:
    """Decide the claimed turns in order of arrival, one namespace at a time.

    `on_due` is called when a session has grown by as much as a compaction is worth.
    """
    enough = settings.compaction_threshold_tokens + settings.compaction_tail_tokens()
    claim_of = {claim.item_id: claim for claim in claims}
    with tenant_transaction(engine, tenant_id) as connection:
        raw = load_turns(connection, tenant_id=tenant_id, ids=list(claim_of))
        said = keep_what_was_said(raw, load_marker(connection, tenant_id=tenant_id))
        threshold = gate_threshold(connection, tenant_id=tenant_id)
    for namespace, group in groupby(sorted(raw, key=_by_namespace), key=lambda turn: turn.namespace):
        of_namespace = list(group)
        with tenant_transaction(engine, tenant_id) as connection:
            encoder = require_active(connection).name  # it has vectors of all that was embedded by now
            _gate_namespace(
                connection,
                tenant_id,
                namespace,
                [turn for turn in said if turn.role == "user" and turn.namespace == namespace],
                encoder=encoder,
                settings=settings,
                threshold=settings.gate_threshold if threshold is None else threshold,
            )
            mark_updates(
                connection,
                tenant_id,
                namespace,
                [turn.id for turn in of_namespace if turn.role == "user"],
                encoder=encoder,
            )
            covered = find_covered(
                connection, tenant_id=tenant_id, turn_ids=[turn.id for turn in of_namespace]
            )
            bare = [turn for turn in of_namespace if turn.id not in covered]
            totals = count_uncompacted(connection, tenant_id=tenant_id, added=_measure_sessions(bare))
            advance_work(connection, claims=[claim_of[turn.id] for turn in of_namespace], to_stage="done")
        if any(total >= enough for total in totals.values()):
            on_due()


def _measure_sessions(turns: Sequence[Turn]) -> Counter[str]:
    """How many tokens these turns add to each session."""
    added: Counter[str] = Counter()
    for turn in turns:
        added[turn.session_id] += CharsCounter().count(turn.content)
    return added


def _by_namespace(turn: Turn) -> tuple[str, int]:
    return turn.namespace, turn.seq


def _gate_namespace(
    connection: Connection,
    tenant_id: UUID,
    namespace: str,
    turns: list[Turn],
    *,
    encoder: str,
    settings: Settings,
    threshold: float,
) -> None:
    """Two searches for all turns together; memories made on the way count as neighbours of the later ones."""
    if not turns:
        return
    lock_namespace(connection, tenant_id=tenant_id, namespace=namespace)
    ids = [turn.id for turn in turns]
    decided = find_decided(connection, tenant_id=tenant_id, turn_ids=ids)
    windows = load_vectors(connection, tenant_id=tenant_id, encoder=encoder, ids=ids)
    # A turn is decided once, whatever brought it here again; one without vectors was forgotten on its way.
    turns = [turn for turn in turns if turn.id not in decided and turn.id in windows]
    if not turns:
        return
    vectors = [mean_direction(windows[turn.id]) for turn in turns]
    sizes = measure_sizes(connection, tenant_id=tenant_id, encoder=encoder, namespaces=[namespace])
    past_turns, past_memories = (
        find_neighbours(
            connection,
            tenant_id=tenant_id,
            encoder=encoder,
            namespace=namespace,
            vectors=vectors,
            befores=[turn.seq for turn in turns],
            count=count,
            only_durable=only_durable,
            way=choose_way(sizes, wanted=count * SEARCHED_PER_NEIGHBOUR),
        )
        for only_durable, count in ((False, TURN_NEIGHBOURS), (True, MEMORY_NEIGHBOURS))
    )
    made: list[tuple[UUID, Vector]] = []
    for turn, vector, near_turns, near_memories in zip(
        turns, vectors, past_turns, past_memories, strict=True
    ):
        fresh = [Neighbour(item_id=memory_id, similarity=float(vector @ other)) for memory_id, other in made]
        known = sorted([*near_memories, *fresh], key=lambda near: -near.similarity)[:MEMORY_NEIGHBOURS]
        decision = decide_gate(
            read_text_signals(turn.content, technical_norm=settings.gate_technical_norm),
            turn_similarities=[near.similarity for near in near_turns],
            memory_similarities=[near.similarity for near in known],
            threshold=threshold,
            weights=settings.gate_weights(),
        )
        memory_id = _apply(connection, tenant_id, turn, decision, known)
        if memory_id is not None:
            made.append((memory_id, vector))


def _apply(
    connection: Connection,
    tenant_id: UUID,
    turn: Turn,
    decision: GateDecision,
    known: Sequence[Neighbour],
) -> UUID | None:
    """Reinforce a near-duplicate, or promote what passed; returns the id of a memory that is new."""
    twin = _find_twin(connection, tenant_id, turn, known)
    memory_id = twin.item_id if twin else None
    if twin is None and decision.keep:
        memory_id = add_memory(
            connection,
            tenant_id=tenant_id,
            namespace=turn.namespace,
            turn_id=turn.id,
            body=turn.content,
            gate_score=decision.score,
            seen_at=turn.ts,
        )
    record_decision(
        connection,
        tenant_id=tenant_id,
        turn_id=turn.id,
        namespace=turn.namespace,
        decision=decision,
        memory_id=memory_id,
        is_reinforcement=twin is not None,
    )
    outcome = "reinforced" if twin else "kept" if decision.keep else "dropped"
    TALLY.add("gate_decisions", outcome=outcome)
    if twin is not None:
        reinforce_memory(
            connection,
            tenant_id=tenant_id,
            memory_id=twin.item_id,
            turn_id=turn.id,
            similarity=twin.similarity,
            seen_at=turn.ts,
        )
        return None
    return memory_id


def _find_twin(
    connection: Connection, tenant_id: UUID, turn: Turn, known: Sequence[Neighbour]
) -> Neighbour | None:
    """The nearest memory that says the same: an encoder hardly tells 900 from 950, so numbers must agree too."""
    marks = find_marks(turn.content)
    for near in known:
        if near.similarity < DUPLICATE_COSINE:
            return None
        if find_marks(load_memory_text(connection, tenant_id=tenant_id, memory_id=near.item_id)) == marks:
            return near
    return None
