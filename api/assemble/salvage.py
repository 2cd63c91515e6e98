"""What can still be read when a statement took too long, in order of precedence: rules and tail, then guidance.

The usual two round trips read everything at once, so a slow part takes the others with it. Here each comes alone.
"""

import structlog

from api.assemble.gathering import MANDATORY_STAGE_MS, MAX_GUIDANCE_RECORDS, Gathered
from api.assemble.schemas import AssembleIn
from api.runtime import Runtime
from models.domain.records import Identity
from models.domain.rules.guidance import SESSION_PREFIX, name_guidance_namespace
from models.errors import DatabaseUnavailable, DeadlineExceeded
from models.store.context import TAIL_TURNS
from models.store.documents import bindings_of, load_rules
from models.store.engine import one_round_trip, tenant_transaction
from models.store.guidance import load_guidance
from models.store.sessions import find_home
from models.store.tokens import Caller
from models.store.turns import load_recent_turns

log = structlog.get_logger(__name__)


def recall_rules(runtime: Runtime, caller: Caller, request: AssembleIn, got: Gathered) -> None:
    """The rules as they were when PostgreSQL last answered."""
    known = bindings_of(user_id=request.user_id, agent_id=request.agent_id)
    got.rules = runtime.last_rules.get((caller.tenant_id, tuple(known)), ())


def read_rules_and_tail(runtime: Runtime, caller: Caller, request: AssembleIn, got: Gathered) -> None:
    """Rules and newest turns by themselves: they answer whatever the deadline says."""
    identity = Identity(user_id=request.user_id, session_key=request.session_key, agent_id=request.agent_id)
    try:
        with (
            got.timed("rules_tail_alone"),
            tenant_transaction(runtime.engine, caller, timeout_ms=MANDATORY_STAGE_MS) as connection,
        ):
            home = find_home(connection, session_id=request.session_id, identity=identity)
            bindings = bindings_of(user_id=home.user_id, agent_id=home.agent_id)
            rules = load_rules(connection, tenant_id=caller.tenant_id, bindings=bindings)
            turns = load_recent_turns(
                connection, tenant_id=caller.tenant_id, session_id=request.session_id, count=TAIL_TURNS
            )
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        log.warning("salvage.failed", error=error.code)
        got.miss(error.code, "the newest turns are missing too, and the rules are those this process knows")
        return
    got.namespace, got.rules, got.turns = home.namespace, rules, turns


def read_guidance(
    runtime: Runtime, caller: Caller, request: AssembleIn, got: Gathered, *, timeout_ms: int
) -> None:
    """Standing wishes without recall, the newest: they outrank it."""
    encoder = runtime.settings.encoder
    try:
        with (
            got.timed("guidance_alone"),
            one_round_trip(runtime.engine, caller, timeout_ms=timeout_ms) as cursors,
        ):
            got.guidance = load_guidance(
                cursors,
                tenant_id=caller.tenant_id,
                encoder=encoder,
                collections=[
                    name_guidance_namespace(got.namespace, session_id=request.session_id),
                    SESSION_PREFIX + request.session_id,
                ],
                query_vector=None,
                count=MAX_GUIDANCE_RECORDS,
            ).fetchall()
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        got.miss(error.code, f"{error.detail}: guidance is missing from this answer too")
