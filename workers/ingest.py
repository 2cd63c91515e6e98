"""First look at a turn or an authored node: what it is, what it names, whether it surely states a rule. No model."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from sqlalchemy import Engine

from models.domain.prompt.markers import keep_what_was_said
from models.domain.prompt.tokens import CharsCounter
from models.domain.records import AUTHORED_STABILITY, STABILITY_WEIGHT, Turn, provenance_class
from models.domain.rules.detector import DeonticReading, read_conversation
from models.domain.rules.tiers import Tier
from models.domain.text.anchors import anchor_density
from models.domain.text.technical.spans import extract_identifiers, fold_identifier
from models.errors import NotFound
from models.store.compaction.summaries import Summary, load_sources, load_summaries
from models.store.conversation.turns import load_turns
from models.store.documents import Node, hold_nodes
from models.store.engine import tenant_transaction
from models.store.index.items import Item, add_items
from models.store.memory.forgetting import load_corrections
from models.store.tenancy.tokens import load_marker
from models.store.work import Claim, advance_work, find_queued
from workers.wishes import keep_rules

NO_RULE = DeonticReading(spans=())
SUMMARY_STABILITY = 0.4  # an assistant's: it was not said by anybody in these words
MAX_SOURCE_IDS = 200  # kept beside the index row; the edges hold all of them


def ingest_items(engine: Engine, tenant_id: UUID, claims: Sequence[Claim]) -> None:
    """Index the claimed turns and authored nodes, and keep the rules users state in turns."""
    turn_ids = [claim.item_id for claim in claims if claim.kind == "turn"]
    node_ids = [claim.item_id for claim in claims if claim.kind == "node"]
    summary_ids = [claim.item_id for claim in claims if claim.kind == "summary"]
    with tenant_transaction(engine, tenant_id) as connection:
        kept = load_turns(connection, tenant_id=tenant_id, ids=turn_ids)
        marker = load_marker(connection, tenant_id=tenant_id)
        corrections = load_corrections(connection, tenant_id=tenant_id, turn_ids=turn_ids)
        summaries = [
            describe_summary(
                one, load_sources(connection, tenant_id=tenant_id, summary_id=one.id)[0][:MAX_SOURCE_IDS]
            )
            for one in (
                load_summaries(connection, tenant_id=tenant_id, ids=summary_ids) if summary_ids else []
            )
            if one.is_active
        ]
        queued = find_queued(connection, tenant_id=tenant_id, item_ids=turn_ids)
    if missing := queued - {turn.id for turn in kept}:  # what was erased meanwhile is not queued any more
        raise NotFound(f"turn {min(map(str, missing))} is queued but not in the raw record")
    verbatim = {turn.id: turn.content for turn in kept}
    turns = [
        replace(turn, content=corrections.get(turn.id, turn.content))
        for turn in keep_what_was_said(kept, marker)
    ]
    read = [(turn, read_conversation(turn.content) if turn.role == "user" else NO_RULE) for turn in turns]
    items = [
        describe_turn(turn, reading, is_verbatim=turn.content == verbatim[turn.id]) for turn, reading in read
    ]
    told = {*(turn.id for turn in turns), *node_ids, *summary_ids}
    with tenant_transaction(engine, tenant_id) as connection:
        nodes = hold_nodes(connection, tenant_id=tenant_id, ids=node_ids) if node_ids else []
        add_items(connection, items=[*items, *(describe_node(node) for node in nodes), *summaries])
        stated = [(turn, reading) for turn, reading in read if reading.is_rule]
        keep_rules(connection, tenant_id, stated, corrected=corrections)
        # What holds nothing but our own blocks stays in the raw record, and is nothing to remember.
        for to_stage, ids in (("ingested", told), ("done", set(turn_ids) - told)):
            advance_work(
                connection, claims=[claim for claim in claims if claim.item_id in ids], to_stage=to_stage
            )


def describe_turn(turn: Turn, reading: DeonticReading, *, is_verbatim: bool = True) -> Item:
    """The index row of a turn."""
    names = [folded for name in extract_identifiers(turn.content) for folded in fold_identifier(name)[:1]]
    return Item(
        id=turn.id,
        kind="turn",
        namespace=turn.namespace,
        session_id=turn.session_id,
        role=turn.role,
        name=turn.name,
        text=turn.content,
        is_verbatim=is_verbatim,
        ts=turn.ts,
        token_estimate=CharsCounter().count(turn.content),
        provenance_class=provenance_class(turn.role),
        stability_weight=STABILITY_WEIGHT[turn.role],
        anchor_density=anchor_density(turn.content),
        modalities=sorted(reading.modalities),
        identifiers=list(dict.fromkeys(names))[:200],
        source_turn_ids=(turn.id,),
    )


def describe_node(node: Node) -> Item:
    """The index row of an authored node."""
    is_rule = node.tier is Tier.SOFT
    return Item(
        id=node.id,
        kind="rule" if is_rule else "lore",
        namespace=node.namespace,
        text=node.body,
        name=node.document,
        ts=node.loaded_at,
        token_estimate=CharsCounter().count(node.body),
        provenance_class="authored_rule" if is_rule else "authored_lore",
        stability_weight=AUTHORED_STABILITY,
        authority=1.0,
        modalities=node.modalities,
    )


def describe_summary(summary: Summary, source_turn_ids: Sequence[UUID]) -> Item:
    """The index row of a summary: recall finds it where its session's turns are found."""
    names = [folded for name in extract_identifiers(summary.body) for folded in fold_identifier(name)[:1]]
    return Item(
        id=summary.id,
        kind="summary",
        namespace=summary.namespace,
        session_id=summary.session_id,
        text=summary.body,
        ts=summary.latest_at,
        token_estimate=summary.summary_tokens,
        provenance_class="session_summary",
        stability_weight=SUMMARY_STABILITY,
        anchor_density=anchor_density(summary.body),
        identifiers=list(dict.fromkeys(names))[:200],
        source_turn_ids=source_turn_ids,
    )
