"""gating_scalar: what the gate would say of a text, every term of it."""

import time
from collections.abc import Mapping
from typing import Any, Literal
from uuid import UUID

from pydantic import Field
from sqlalchemy import Connection

from api.access.decisions import check_namespace
from api.rpc.collections import Namespace
from api.rpc.dispatcher import Call, Method, Params
from api.rpc.search import ENCODING_TIMEOUT_SECONDS, MOST_UNENCODED, Question, compare, encode
from api.turns.schemas import Content
from models.domain.gate.gating import MEMORY_NEIGHBOURS, TURN_NEIGHBOURS, decide_gate, read_text_signals
from models.domain.text.terms import extract_terms
from models.store.collections.views import Entry, Scope, View, find_memory_of_turn, list_unencoded_entries
from models.store.conversation.history import LAST_SEQ
from models.store.conversation.turns import load_turns
from models.store.memory.decisions import gate_threshold
from models.store.recall.nearest import Neighbour, choose_way, find_neighbours, measure_sizes
from models.store.work import find_undecided

SAME_WORDS_SIMILARITY = 0.999
SAME_MATTER_SIMILARITY = 0.8  # as the gate counts repetitions
SEARCHED_PER_NEIGHBOUR = 6


class GateParams(Params):
    user_id: Namespace = Field(alias="userId")
    text: Content


def gating_scalar(call: Call, params: GateParams) -> Mapping[str, Any]:
    """Weigh a text against a user's past turns and memories; nothing is kept by asking."""
    namespace = check_namespace(call.caller, params.user_id)
    serving = call.runtime.serving
    question = Question(
        terms=extract_terms(params.text),
        deadline=time.monotonic() + ENCODING_TIMEOUT_SECONDS,
        vector=encode(call, [params.text], serving, as_passages=True)[0],
        serving=serving,
    )
    assert question.vector is not None
    with call.runtime.transaction(call.caller) as connection:
        # What waits for its vector is read first: one that gets it in between counts once, never not at all.
        new_turns = _list_waiting(connection, call, namespace, "turns", encoder=serving.name)
        new_memories = _list_waiting(connection, call, namespace, "memories", encoder=serving.name)
        turns = _find_near(connection, call, namespace, question, TURN_NEIGHBOURS + 1, only_durable=False)
        memories = _find_near(connection, call, namespace, question, MEMORY_NEIGHBOURS + 1, only_durable=True)
    turns = _merge(turns, _compare(call, new_turns, question, by="item_id"))
    memories = _merge(memories, _compare(call, new_memories, question, by="key"))
    with call.runtime.transaction(call.caller) as connection:
        # The turn asked about is often here already, and may be a memory by now: it is not its own neighbour.
        itself = _find_itself(connection, call, params.text, turns)
        own_memory = None
        if itself is not None:
            own_memory = find_memory_of_turn(connection, tenant_id=call.caller.tenant_id, turn_id=itself)
        undecided = _find_undecided(connection, call, turns)
        threshold = gate_threshold(connection, tenant_id=call.caller.tenant_id)
    # What was said a moment ago may be a memory in the next: saying it again is nothing new.
    memories = _merge(memories, [one for one in turns if one.item_id in undecided and one.item_id != itself])
    settings = call.runtime.settings
    decision = decide_gate(
        read_text_signals(params.text, technical_norm=settings.gate_technical_norm),
        turn_similarities=[one.similarity for one in turns if one.item_id != itself][:TURN_NEIGHBOURS],
        memory_similarities=[one.similarity for one in memories if one.item_id != own_memory][
            :MEMORY_NEIGHBOURS
        ],
        threshold=settings.gate_threshold if threshold is None else threshold,
        weights=settings.gate_weights(),
    )
    signals = decision.signals
    return {
        "g": signals.g,
        "t": signals.t,
        "h": signals.h,
        "r": signals.r,
        "d": signals.d,
        "p": signals.p,
        "a": signals.a,
        "dtech": signals.dtech,
        "gconv": signals.gconv,
        "gtech": signals.gtech,
        "inputFreq": signals.input_freq,
        "memSaturation": signals.mem_saturation,
    }


def _find_near(
    connection: Connection, call: Call, namespace: str, question: Question, count: int, *, only_durable: bool
) -> list[Neighbour]:
    assert question.vector is not None
    encoder = question.serving.name
    tenant_id = call.caller.tenant_id
    sizes = measure_sizes(connection, tenant_id=tenant_id, encoder=encoder, namespaces=[namespace])
    return find_neighbours(
        connection,
        tenant_id=tenant_id,
        encoder=encoder,
        namespace=namespace,
        vectors=[question.vector],
        befores=[LAST_SEQ],
        count=count,
        only_durable=only_durable,
        way=choose_way(sizes, wanted=count * SEARCHED_PER_NEIGHBOUR),
    )[0]


def _list_waiting(
    connection: Connection, call: Call, namespace: str, view: View, *, encoder: str
) -> list[Entry]:
    """What came a moment ago and has no vector yet."""
    prefix = "turns" if view == "turns" else "user"
    return list_unencoded_entries(
        connection,
        tenant_id=call.caller.tenant_id,
        scope=Scope(collection=f"{prefix}:{namespace}", view=view, namespace=namespace),
        encoder=encoder,
        count=MOST_UNENCODED,
    )


def _compare(
    call: Call, entries: list[Entry], question: Question, *, by: Literal["item_id", "key"]
) -> list[Neighbour]:
    """Entries without a vector as neighbours: turns by their own id, memories by the memory's."""
    return [
        Neighbour(
            item_id=entry.item_id if by == "item_id" and entry.item_id else UUID(entry.key),
            similarity=entry.similarity,
        )
        for entry in compare(call, entries, question).entries
    ]


def _find_undecided(connection: Connection, call: Call, turns: list[Neighbour]) -> set[UUID]:
    """The turns that say nearly the same, that the gate has still to look at, and that are no memory yet."""
    tenant_id = call.caller.tenant_id
    near = [one.item_id for one in turns if one.similarity >= SAME_MATTER_SIMILARITY]
    return {
        turn_id
        for turn_id in find_undecided(connection, tenant_id=tenant_id, item_ids=near)
        if find_memory_of_turn(connection, tenant_id=tenant_id, turn_id=turn_id) is None
    }


def _merge(stored: list[Neighbour], fresh: list[Neighbour]) -> list[Neighbour]:
    """Both together, nearest first, each once."""
    known = {one.item_id for one in stored}
    both = [*stored, *(one for one in fresh if one.item_id not in known)]
    return sorted(both, key=lambda one: -one.similarity)


def _find_itself(connection: Connection, call: Call, text: str, neighbours: list[Neighbour]) -> UUID | None:
    """The newest turn that says exactly this."""
    near = [one.item_id for one in neighbours if one.similarity >= SAME_WORDS_SIMILARITY]
    turns = load_turns(connection, tenant_id=call.caller.tenant_id, ids=near) if near else []
    same = [turn.id for turn in turns if turn.content == text]
    return same[-1] if same else None


METHODS = (Method(name="gating_scalar", params=GateParams, scope="read", run=gating_scalar),)
