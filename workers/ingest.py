"""First look at a turn or an authored node: what it is, what it names, whether it states a rule. No model."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection, Engine

from models.domain.anchors import anchor_density
from models.domain.authored import Tier
from models.domain.deontic import DeonticReading, read_conversation
from models.domain.guidance import StatedRule, name_guidance_namespace, resolve_supersessions
from models.domain.markers import keep_what_was_said
from models.domain.patterns import extract_identifiers, fold_identifier
from models.domain.records import AUTHORED_STABILITY, STABILITY_WEIGHT, Turn, provenance_class
from models.domain.tokens import CharsCounter
from models.errors import NotFound
from models.store.access import load_marker
from models.store.documents import Node, hold_nodes
from models.store.engine import tenant_transaction
from models.store.items import Item, add_items
from models.store.memories import add_guidance, load_spoken, supersede_guidance
from models.store.turns import load_turns
from models.store.work import Claim, advance_work

LONGEST_WHOLE_GUIDANCE_CHARS = 600  # a longer turn keeps only the sentences that state the rule
MAX_COMPARED_RULES = 500
NO_RULE = DeonticReading(spans=())


def ingest_items(engine: Engine, tenant_id: UUID, claims: Sequence[Claim]) -> None:
    """Index the claimed turns and authored nodes, and keep the rules users state in turns."""
    turn_ids = [claim.item_id for claim in claims if claim.kind == "turn"]
    node_ids = [claim.item_id for claim in claims if claim.kind == "node"]
    with tenant_transaction(engine, tenant_id) as connection:
        kept = load_turns(connection, tenant_id=tenant_id, ids=turn_ids)
        marker = load_marker(connection, tenant_id=tenant_id)
    if missing := set(turn_ids) - {turn.id for turn in kept}:
        raise NotFound(f"turn {min(map(str, missing))} is queued but not in the raw record")
    verbatim = {turn.id: turn.content for turn in kept}
    turns = keep_what_was_said(kept, marker)
    read = [(turn, read_conversation(turn.content) if turn.role == "user" else NO_RULE) for turn in turns]
    items = [
        describe_turn(turn, reading, is_verbatim=turn.content == verbatim[turn.id]) for turn, reading in read
    ]
    said_ids = [turn.id for turn in turns]
    with tenant_transaction(engine, tenant_id) as connection:
        nodes = hold_nodes(connection, tenant_id=tenant_id, ids=node_ids) if node_ids else []
        add_items(connection, items=[*items, *(describe_node(node) for node in nodes)])
        keep_rules(connection, tenant_id, [(turn, reading) for turn, reading in read if reading.is_rule])
        advance_work(connection, item_ids=[*said_ids, *node_ids], to_stage="ingested")
        # What holds nothing but our own blocks stays in the raw record, and is nothing to remember.
        advance_work(connection, item_ids=sorted(set(turn_ids) - set(said_ids)), to_stage="done")


def keep_rules(
    connection: Connection, tenant_id: UUID, stated: Sequence[tuple[Turn, DeonticReading]]
) -> None:
    """Rules that users stated stand from now on; where two contradict each other, the newer one does."""
    touched: set[str] = set()
    for turn, reading in stated:
        collection = name_guidance_namespace(turn.namespace, session_id=turn.session_id)
        touched.add(collection)
        add_guidance(
            connection,
            tenant_id=tenant_id,
            collection=collection,
            turn_id=turn.id,
            body=quote_rule(turn.content, reading),
            modalities=sorted(reading.modalities),
            stability_weight=STABILITY_WEIGHT[turn.role],
            stated_at=turn.ts,
        )
    for collection in sorted(touched):
        settle_contradictions(connection, tenant_id, collection)


def settle_contradictions(connection: Connection, tenant_id: UUID, collection: str) -> None:
    """Where two spoken rules contradict each other whole, the newer one stands and the older is marked."""
    spoken = load_spoken(connection, tenant_id=tenant_id, collection=collection, count=MAX_COMPARED_RULES)
    rules = [
        StatedRule(id=str(one.id), reading=read_conversation(one.body), said_at=one.stated_at)
        for one in spoken
    ]
    for mark in resolve_supersessions(rules):
        if mark.is_whole:
            supersede_guidance(connection, guidance_id=UUID(mark.superseded_id), by_id=UUID(mark.by_id))


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


def quote_rule(content: str, reading: DeonticReading) -> str:
    """The rule in the user's own words: the whole turn when it is short, else its rule sentences."""
    if len(content) <= LONGEST_WHOLE_GUIDANCE_CHARS:
        return content
    return "\n".join(dict.fromkeys(content[span.start : span.end].strip() for span in reading.spans))
