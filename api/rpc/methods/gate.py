"""gating_scalar: what the gate would say of a text, every term of it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy import Connection

from api.access import check_namespace
from api.rpc.collections import Namespace
from api.rpc.dispatcher import Call, Method, Params
from api.rpc.search import encode
from api.turns.schemas import Content
from models.domain.gate.gating import (
    MEMORY_NEIGHBOURS,
    TURN_NEIGHBOURS,
    decide_gate,
    read_text_signals,
)
from models.store.collections import find_memory_of_turn
from models.store.decisions import gate_threshold
from models.store.embeddings import Vector
from models.store.engine import tenant_transaction
from models.store.history import LAST_SEQ
from models.store.nearest import Neighbour, choose_way, find_neighbours, measure_sizes
from models.store.turns import load_turns

SAME_WORDS_SIMILARITY = 0.999
SEARCHED_PER_NEIGHBOUR = 6


class GateParams(Params):
    user_id: Namespace = Field(alias="userId")
    text: Content


def gating_scalar(call: Call, params: GateParams) -> Mapping[str, Any]:
    """Weigh a text against a user's past turns and memories; nothing is kept by asking."""
    namespace = check_namespace(call.caller, params.user_id)
    vector = encode(call, [params.text])[0]
    with tenant_transaction(call.runtime.engine, call.caller, timeout_ms=call.timeout_ms) as connection:
        turns = _find_near(connection, call, namespace, vector, TURN_NEIGHBOURS + 1, only_durable=False)
        memories = _find_near(connection, call, namespace, vector, MEMORY_NEIGHBOURS + 1, only_durable=True)
        # The turn asked about is often here already, and may be a memory by now: it is not its own neighbour.
        itself = _find_itself(connection, call, params.text, turns)
        own_memory = None
        if itself is not None:
            own_memory = find_memory_of_turn(connection, tenant_id=call.caller.tenant_id, turn_id=itself)
        threshold = gate_threshold(connection, tenant_id=call.caller.tenant_id)
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
    connection: Connection, call: Call, namespace: str, vector: Vector, count: int, *, only_durable: bool
) -> list[Neighbour]:
    encoder = call.runtime.settings.encoder
    tenant_id = call.caller.tenant_id
    sizes = measure_sizes(connection, tenant_id=tenant_id, encoder=encoder, namespaces=[namespace])
    return find_neighbours(
        connection,
        tenant_id=tenant_id,
        encoder=encoder,
        namespace=namespace,
        vectors=[vector],
        befores=[LAST_SEQ],
        count=count,
        only_durable=only_durable,
        way=choose_way(sizes, wanted=count * SEARCHED_PER_NEIGHBOUR),
    )[0]


def _find_itself(connection: Connection, call: Call, text: str, neighbours: list[Neighbour]) -> UUID | None:
    """The newest turn that says exactly this."""
    near = [one.item_id for one in neighbours if one.similarity >= SAME_WORDS_SIMILARITY]
    turns = load_turns(connection, tenant_id=call.caller.tenant_id, ids=near) if near else []
    same = [turn.id for turn in turns if turn.content == text]
    return same[-1] if same else None


METHODS = (Method(name="gating_scalar", params=GateParams, scope="read", run=gating_scalar),)
