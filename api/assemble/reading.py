"""What an assembly reads from PostgreSQL: everything at once in two round trips, and each part alone where one is slow."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import structlog

from api.access.decisions import check_namespace
from api.assemble.schemas import AssembleIn
from api.recall.question import Question
from api.routing.trail import Trail
from api.runtime import Runtime
from models.domain.prompt.tail import MAX_BUNDLE_TURNS, TailTurn, find_base_start
from models.domain.records import Identity, Turn, durable_namespace
from models.domain.rules.guidance import SESSION_PREFIX, name_guidance_namespace
from models.errors import DatabaseUnavailable, DeadlineExceeded
from models.store.conversation.sessions import find_home
from models.store.conversation.turns import load_recent_turns
from models.store.documents import Rule, bindings_of, load_rules
from models.store.engine import Cursors, one_round_trip, tenant_transaction
from models.store.index.embeddings import Vector
from models.store.memory.guidance import Guidance, load_guidance
from models.store.recall.candidates import CandidateRow, send_named
from models.store.recall.context import TAIL_TURNS, Context, Origin, receive_context, send_context
from models.store.tenancy.tokens import Caller

if TYPE_CHECKING:
    from psycopg import Cursor

log = structlog.get_logger(__name__)
MANDATORY_STAGE_MS: Final = (
    1000  # rules and tail always answer: they get this much whatever the deadline says
)
FIRST_READ_MS: Final = 100  # for rules and tail at least so long; after that they are read alone
WORDS_SHARE: Final = 0.5  # of what is left: slow words leave time for meaning, and for guidance
OLDER_TURNS: Final = 8  # read at once where the base tail is not whole yet
MAX_GUIDANCE_RECORDS: Final = 32  # of the likest and of the newest each; the reserve rarely holds more


def identify(request: AssembleIn) -> Identity:
    """Who the request says it is for."""
    return Identity(user_id=request.user_id, session_key=request.session_key, agent_id=request.agent_id)


def read_first(
    runtime: Runtime,
    caller: Caller,
    request: AssembleIn,
    question: Question,
    trail: Trail,
    *,
    timeout_ms: int,
) -> tuple[Context, Sequence[CandidateRow]]:
    """Rules, tail and backlog, and what holds words of the query; more of the tail where turns are short."""
    identity = identify(request)
    origin = Origin(
        tenant_id=caller.tenant_id,
        session_id=request.session_id,
        namespace=None if identity.is_empty else durable_namespace(identity, request.session_id),
        user_id=request.user_id,
        session_key=request.session_key,
        agent_id=request.agent_id,
    )
    chars_per_token = 4 if request.tokenizer == "chars" else 12  # generous: a turn too many costs little
    tail_chars = int(runtime.reserves.tail * request.budget_tokens * chars_per_token)
    encoder, words_ms = question.encoder, int(timeout_ms * WORDS_SHARE)
    timeout_ms = max(timeout_ms, FIRST_READ_MS)
    first, rows = None, []
    try:
        with one_round_trip(runtime.engine, caller, timeout_ms=timeout_ms) as cursors:
            first = send_context(cursors, origin=origin, tail_chars=tail_chars, encoder=encoder)
            if words_ms > 0:
                cursors.limit(words_ms)
                rows = send_named(
                    cursors,
                    origin=origin,
                    encoder=encoder,
                    terms=question.keywords,
                    breadth=question.breadth,
                ).fetchall()
            context = receive_context(first)
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        if first is None or first.pgresult is None:
            raise
        # The words failed, and the rules had come before them.
        context = receive_context(first)
        note_outage(runtime, error)
        trail.miss(error.code, f"{error}: what holds words of the query is missing from this answer")
    check_namespace(caller, context.namespace)
    turns = list(context.turns)
    if _is_tail_short(runtime, turns, tail_chars):
        with tenant_transaction(runtime.engine, caller, timeout_ms=timeout_ms) as connection:
            while _is_tail_short(runtime, turns, tail_chars):
                older = load_recent_turns(
                    connection,
                    tenant_id=caller.tenant_id,
                    session_id=request.session_id,
                    count=TAIL_TURNS if len(turns) >= TAIL_TURNS else OLDER_TURNS,
                    before=turns[0].position,
                )
                if not older:
                    break
                turns[:0] = older
    return replace(context, turns=turns), rows


def _is_tail_short(runtime: Runtime, turns: Sequence[Turn], tail_chars: int) -> bool:
    """Whether older turns are to be read: short ones that still fit, or the rest of a base tail of very long ones."""
    if not turns or turns[0].position == 0:
        return False
    min_turns = runtime.settings.tail_min_turns
    if len(turns) <= min_turns + MAX_BUNDLE_TURNS:
        known = [TailTurn(id="", role=turn.role, host_turn=turn.metadata.get("host_turn")) for turn in turns]
        if find_base_start(known, min_turns=min_turns) == 0:
            return True
    return len(turns) >= TAIL_TURNS and sum(len(turn.content) for turn in turns) <= tail_chars


def send_guidance(
    cursors: Cursors, caller: Caller, session_id: str, namespace: str, *, encoder: str, vector: Vector | None
) -> "Cursor[Guidance]":
    """Ask for the standing wishes of the user and of the session: the likest to the query, and the newest."""
    return load_guidance(
        cursors,
        tenant_id=caller.tenant_id,
        encoder=encoder,
        collections=[
            name_guidance_namespace(namespace, session_id=session_id),
            SESSION_PREFIX + session_id,
        ],
        query_vector=vector,
        count=MAX_GUIDANCE_RECORDS,
    )


def recall_rules(runtime: Runtime, caller: Caller, request: AssembleIn) -> Sequence[Rule]:
    """The rules as they were when PostgreSQL last answered, of whoever is named and the token opens."""
    identity = identify(request)
    if not identity.is_empty:
        check_namespace(caller, durable_namespace(identity, request.session_id))
    bindings = bindings_of(user_id=request.user_id, agent_id=request.agent_id)
    return runtime.last_known.recall(caller.tenant_id, bindings)


def read_rules_and_tail(
    runtime: Runtime, caller: Caller, request: AssembleIn, trail: Trail
) -> tuple[str, Sequence[Rule], Sequence[Turn]] | None:
    """Namespace, rules and newest turns by themselves: they answer whatever the deadline says. None: not even these."""
    try:
        with (
            trail.timed("rules_tail_alone"),
            tenant_transaction(runtime.engine, caller, timeout_ms=MANDATORY_STAGE_MS) as connection,
        ):
            home = find_home(connection, session_id=request.session_id, identity=identify(request))
            bindings = bindings_of(user_id=home.user_id, agent_id=home.agent_id)
            rules = load_rules(connection, tenant_id=caller.tenant_id, bindings=bindings)
            turns = load_recent_turns(
                connection, tenant_id=caller.tenant_id, session_id=request.session_id, count=TAIL_TURNS
            )
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        log.warning("salvage.failed", error=error.code)
        trail.miss(error.code, "the newest turns are missing too, and the rules are those this process knows")
        return None
    return home.namespace, rules, turns


def read_guidance(
    runtime: Runtime,
    caller: Caller,
    request: AssembleIn,
    namespace: str,
    trail: Trail,
    *,
    encoder: str,
    timeout_ms: int,
) -> Sequence[Guidance]:
    """Standing wishes without recall, the newest: they outrank it."""
    try:
        with (
            trail.timed("guidance_alone"),
            one_round_trip(runtime.engine, caller, timeout_ms=timeout_ms) as cursors,
        ):
            return send_guidance(
                cursors,
                caller,
                request.session_id,
                namespace,
                encoder=encoder,
                vector=None,
            ).fetchall()
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        trail.miss(error.code, f"{error.detail}: guidance is missing from this answer too")
        return ()


def note_outage(runtime: Runtime, error: DatabaseUnavailable | DeadlineExceeded) -> None:
    """That PostgreSQL was away, so that nobody waits for it in the next moment."""
    if error.code == "database_unavailable":
        runtime.outage.note()
