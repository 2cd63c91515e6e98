"""Assemble: from a request to a prompt. Every stage may fail; the answer names what is missing and is still one."""

import hashlib
import time
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import structlog
from sqlalchemy import Connection

from api.recall import Question, Recalled, recall, recall_by_words
from api.runtime import Runtime
from api.schemas import AssembleIn, AssembleOut, BudgetOut, DegradedOut, ItemOut, StableOut, VolatileOut
from models.domain.assembly import Assembly, Block, Supply, TailBlock, TierName, assemble
from models.domain.authored import Tier
from models.domain.guidance import GuidanceCandidate, name_guidance_namespace, order_guidance
from models.domain.records import Identity, Turn, durable_namespace
from models.domain.rendering import render_item, render_rule, render_turn
from models.domain.tail import TailTurn
from models.domain.tokens import TokenCounter
from models.errors import DatabaseUnavailable, DeadlineExceeded, Forbidden
from models.store.access import Caller
from models.store.documents import Rule, authored_namespace, bindings_of, load_rules
from models.store.embeddings import Vector
from models.store.engine import tenant_transaction
from models.store.memories import Guidance
from models.store.recall import load_guidance
from models.store.turns import SessionFacts, find_session, load_recent_turns
from models.store.work import Backlog, measure_backlog

if TYPE_CHECKING:
    from collections.abc import Iterator

log = structlog.get_logger(__name__)
TAIL_CHUNK_TURNS = 32
MANDATORY_STAGE_MS = 1000  # rules and tail always answer, so they get this much whatever the deadline says
MAX_GUIDANCE_RECORDS = 32  # of the likest and of the newest each; the reserve rarely holds more


@dataclass(slots=True)
class Gathered:
    """What the stages brought together before the budget is shared."""

    rules: Sequence[Rule] = ()
    turns: list[Turn] = field(default_factory=list)
    guidance: list[Guidance] = field(default_factory=list)
    recalled: list[Recalled] = field(default_factory=list)
    backlog: Backlog = field(default_factory=lambda: Backlog(pending=0, lag_seconds=0.0))
    degraded: list[DegradedOut] = field(default_factory=list)
    timings_ms: dict[str, float] = field(default_factory=dict)

    def miss(self, code: str, detail: str) -> None:
        """Name something the answer lacks."""
        self.degraded.append(DegradedOut(code=code, detail=detail))

    @contextmanager
    def timed(self, stage: str) -> "Iterator[None]":
        """Measure a stage, whether it succeeds or not."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.timings_ms[stage] = round((time.perf_counter() - start) * 1000, 3)


def resolve_namespace(
    caller: Caller, identity: Identity, session_id: str, session: SessionFacts | None
) -> str:
    """The durable namespace of a call: who the caller says it is for, else what the session is known by."""
    if identity.is_empty and session is not None and session.namespace:
        namespace = session.namespace
    else:
        namespace = durable_namespace(identity, session_id)
    if caller.namespace is not None and caller.namespace != namespace:
        raise Forbidden(
            f"the token opens namespace '{caller.namespace}' only",
            remedy="name that identity in the request, or use a token of the whole tenant",
        )
    return namespace


def assemble_prompt(runtime: Runtime, caller: Caller | None, request: AssembleIn) -> AssembleOut:
    """The prompt for the next model call. `caller` is None when PostgreSQL could not say whose token it is."""
    start = time.perf_counter()
    now = request.now or datetime.now(UTC)
    deadline_ms = request.deadline_ms or runtime.settings.assemble_deadline_ms
    counter = runtime.counter(request.tokenizer)
    got = Gathered()
    encoding = runtime.start_encoding(request.query)
    if caller is None:
        got.miss("database_unavailable", "PostgreSQL does not answer, and the token was not seen before")
    else:
        _gather(runtime, caller, request, got, encoding, start=start, deadline_ms=deadline_ms, now=now)
    with got.timed("fit"):
        supply = _supply(got, request)
        assembly = assemble(
            supply,
            total=request.budget_tokens,
            counter=counter,
            reserves=runtime.reserves,
            min_turns=runtime.settings.tail_min_turns,
        )
    if assembly.needed is not None:
        got.miss(
            "budget_infeasible",
            f"hard rules and the newest turns need {assembly.needed} tokens; the budget is {assembly.total}",
        )
    got.timings_ms["total"] = round((time.perf_counter() - start) * 1000, 3)
    return _answer(got, assembly, request, counter)


def _gather(
    runtime: Runtime,
    caller: Caller,
    request: AssembleIn,
    got: Gathered,
    encoding: "Future[Vector] | None",
    *,
    start: float,
    deadline_ms: int,
    now: datetime,
) -> None:
    """Rules and tail first, then the query's vector, then guidance and recall while time is left."""
    identity = Identity(user_id=request.user_id, session_key=request.session_key, agent_id=request.agent_id)

    def remaining_ms() -> int:
        return int(deadline_ms - (time.perf_counter() - start) * 1000)

    question: Question | None = None
    bindings: list[str] = bindings_of(user_id=request.user_id, agent_id=request.agent_id)
    try:
        with (
            got.timed("rules_tail_words"),
            tenant_transaction(
                runtime.engine, caller.tenant_id, timeout_ms=max(remaining_ms(), MANDATORY_STAGE_MS)
            ) as connection,
        ):
            session = find_session(connection, tenant_id=caller.tenant_id, session_id=request.session_id)
            namespace = resolve_namespace(caller, identity, request.session_id, session)
            bindings = bindings_of(
                user_id=request.user_id or (session.user_id if session else None),
                agent_id=request.agent_id or (session.agent_id if session else None),
            )
            got.rules = load_rules(connection, tenant_id=caller.tenant_id, bindings=bindings)
            got.turns = _load_tail(connection, caller, request, runtime)
            got.backlog = measure_backlog(connection, tenant_id=caller.tenant_id, namespace=namespace)
            runtime.last_rules[caller.tenant_id, tuple(bindings)] = got.rules
            question = Question(
                tenant_id=caller.tenant_id,
                namespaces=[namespace, *(authored_namespace(binding) for binding in bindings)],
                session_id=request.session_id,
                text=request.query,
                now=now,
            )
            if request.query.strip() and remaining_ms() > 0:
                question = replace(question, named=recall_by_words(connection, question))
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        if question is None:  # not even rules and tail were read
            got.miss(error.code, f"{error.detail}: no stored turns, guidance or memories in this answer")
            got.rules = runtime.last_rules.get((caller.tenant_id, tuple(bindings)), ())
            return
        got.miss(error.code, f"{error.detail}: recall by meaning only")

    question = replace(question, vector=_wait_for_vector(runtime, request, got, encoding, remaining_ms()))
    if remaining_ms() <= 0:
        got.miss("deadline_exceeded", f"no time was left of {deadline_ms} ms for guidance and recall")
        return
    try:
        with (
            got.timed("recall"),
            tenant_transaction(runtime.engine, caller.tenant_id, timeout_ms=remaining_ms()) as connection,
        ):
            got.guidance = load_guidance(
                connection,
                tenant_id=caller.tenant_id,
                encoder=runtime.settings.encoder,
                collections=[name_guidance_namespace(question.namespaces[0], session_id=request.session_id)],
                query_vector=question.vector,
                count=MAX_GUIDANCE_RECORDS,
            )
            if request.query.strip():
                encode = runtime.encoder.encode if runtime.encoder and question.vector is not None else None
                got.recalled = recall(connection, question, encoder=runtime.settings.encoder, encode=encode)
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        got.miss(error.code, f"{error.detail}: guidance or recall is missing from this answer")


def _load_tail(connection: Connection, caller: Caller, request: AssembleIn, runtime: Runtime) -> list[Turn]:
    """Enough of the newest turns to fill the tail's share, read in chunks from the end."""
    chars_per_token = 4 if request.tokenizer == "chars" else 12  # generous: a turn too many costs little
    tail_chars = runtime.reserves.tail * request.budget_tokens * chars_per_token
    turns: list[Turn] = []
    while True:
        before = turns[0].position if turns else 2**62
        chunk = load_recent_turns(
            connection,
            tenant_id=caller.tenant_id,
            session_id=request.session_id,
            count=TAIL_CHUNK_TURNS,
            before=before,
        )
        turns = chunk + turns
        is_filled = sum(len(turn.content) for turn in turns) > tail_chars
        if len(chunk) < TAIL_CHUNK_TURNS or is_filled:
            return turns


def _wait_for_vector(
    runtime: Runtime,
    request: AssembleIn,
    got: Gathered,
    encoding: "Future[Vector] | None",
    remaining_ms: int,
) -> Vector | None:
    """The query's vector, or None with the reason named: words and names are searched without it."""
    if encoding is None:
        if request.query.strip():
            got.miss("encoder_unavailable", f"{runtime.encoder_problem}: recall by words and names only")
        return None
    with got.timed("encode_wait"):
        try:
            return encoding.result(timeout=max(remaining_ms, 0) / 1000)
        except FutureTimeout:
            got.miss("deadline_exceeded", "the query was not encoded in time: recall by words and names only")
        except Exception as error:  # noqa: BLE001 - whatever the model does, the conversation goes on
            log.error("encoder.failed", error=type(error).__name__)
            got.miss("encoder_unavailable", "the query could not be encoded: recall by words and names only")
    return None


def _supply(got: Gathered, request: AssembleIn) -> Supply:
    """Everything rendered, each tier in the order in which it is to be tried."""
    rules = {
        tier: [
            Block(id=str(rule.id), rendered=render_rule(rule.body, rule.heading_path))
            for rule in got.rules
            if rule.tier is tier
        ]
        for tier in (Tier.HARD, Tier.SOFT)
    }
    seen_ids = {message.id for message in request.messages or () if message.id}
    seen_words = {(message.role, message.content) for message in request.messages or ()}
    tail = [
        TailBlock(
            id=str(turn.id),
            rendered=render_turn(role=turn.role, text=turn.content, when=stamp(turn.ts), name=turn.name),
            turn=TailTurn(id=str(turn.id), role=turn.role, host_turn=turn.metadata.get("host_turn")),
            is_visible=turn.host_message_id in seen_ids or (turn.role, turn.content) in seen_words,
        )
        for turn in got.turns
    ]
    return Supply(
        hard=rules[Tier.HARD],
        soft=rules[Tier.SOFT],
        tail=tail,
        guidance=_order_guidance(got.guidance),
        recall=[_recall_block(found) for found in got.recalled],
    )


def _order_guidance(found: Sequence[Guidance]) -> list[Block]:
    """Relevant guidance by likeness, then what stands for every turn."""
    records = {str(record.id): record for record in found}
    ordered = order_guidance(
        GuidanceCandidate(
            id=key,
            tokens=0,  # what it costs is measured when it is put into the prompt
            cosine=record.similarity,
            score=record.similarity or 0.0,
            stability_weight=record.stability_weight,
            said_at=record.stated_at,
            is_standing=True,
        )
        for key, record in records.items()
    )
    return [
        Block(
            id=candidate.id,
            says=str(records[candidate.id].turn_id),
            rendered=render_item(
                kind="guidance",
                text=records[candidate.id].body,
                when=stamp(records[candidate.id].stated_at),
                role="user",
            ),
        )
        for candidate, _why in ordered
    ]


def _recall_block(found: Recalled) -> Block:
    candidate = found.candidate
    return Block(
        id=str(candidate.id),
        says=str(candidate.source_turn_ids[0]) if candidate.source_turn_ids else None,
        rendered=render_item(
            kind=candidate.kind,
            text=candidate.text,
            when=stamp(candidate.ts),
            role=candidate.role,
            name=candidate.name,
        ),
    )


def _answer(got: Gathered, assembly: Assembly, request: AssembleIn, counter: TokenCounter) -> AssembleOut:
    return AssembleOut(
        assembly_id=str(uuid4()),
        text=assembly.text,
        stable=StableOut(
            text=assembly.stable,
            sha256=hashlib.sha256(assembly.stable.encode()).hexdigest(),
            chars=len(assembly.stable),
        ),
        volatile=VolatileOut(text=assembly.volatile),
        messages=[message.model_dump(exclude={"id"}) for message in request.messages]
        if request.messages is not None and any(miss.code == "database_unavailable" for miss in got.degraded)
        else None,
        budget=BudgetOut(total=assembly.total, used=assembly.used, **assembly.tokens),
        items=_describe_items(got, assembly, counter),
        visible=list(assembly.visible),
        degraded=got.degraded,
        pending=got.backlog.pending,
        lag_seconds=got.backlog.lag_seconds,
        timings_ms=got.timings_ms,
        explain=_explain(got, assembly) if request.explain else None,
    )


def _describe_items(got: Gathered, assembly: Assembly, counter: TokenCounter) -> list[ItemOut]:
    """Every item of the prompt, in prompt order, with what it cost."""
    described: dict[str, ItemOut] = {}

    def add(
        tier: TierName, key: str, kind: str, text: str, sources: Sequence[UUID], score: float | None
    ) -> None:
        if key in wanted[tier]:
            tokens = assembly.costs[key] if key in assembly.costs else counter.count(text)
            described[key] = ItemOut.model_construct(
                tier=tier,
                kind=kind,
                id=key,
                source_turn_ids=[str(source) for source in sources],
                text=text,
                tokens=tokens,
                score=score,
            )

    wanted = {tier: frozenset(ids) for tier, ids in assembly.chosen.items()}
    for rule in got.rules:
        add("hard" if rule.tier is Tier.HARD else "soft", str(rule.id), "rule", rule.body, (), None)
    for turn in got.turns:
        add("tail", str(turn.id), "turn", turn.content, (turn.id,), None)
    for record in got.guidance:
        add("guidance", str(record.id), "rule", record.body, (record.turn_id,), record.similarity)
    for found in got.recalled:
        candidate = found.candidate
        key = str(candidate.id)
        if key not in described:
            add("recall", key, candidate.kind, candidate.text, candidate.source_turn_ids, found.scored.score)
    order = [key for tier in ("hard", "soft", "tail", "guidance", "recall") for key in assembly.chosen[tier]]
    return [described[key] for key in order]


def _explain(got: Gathered, assembly: Assembly) -> dict[str, object]:
    """Every candidate of recall with every term of its score, and why it was left out."""
    chosen = frozenset(assembly.chosen["recall"])
    reasons = {drop.id: drop.reason for drop in assembly.drops if drop.tier == "recall"}
    return {
        "candidates": [
            {
                **asdict(found.scored),
                "kind": found.candidate.kind,
                "vector_rank": found.candidate.vector_rank,
                "lexical_rank": found.candidate.lexical_rank,
                "temporal": asdict(found.dated) if found.dated else None,
                "chosen": found.scored.id in chosen,
                "reason": reasons.get(found.scored.id),
            }
            for found in got.recalled
        ],
        "dropped": [asdict(drop) for drop in assembly.drops if drop.tier != "recall"],
    }


def stamp(moment: datetime) -> str:
    """A moment as the prompt shows it: UTC, to the minute."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
