"""The proof of losslessness on demand, and its repair: the same check that the schedule runs."""

import time

from api.access.decisions import check_session, check_whole_tenant
from api.lineage.schemas import VerifyIn, VerifyOut, ViolationOut
from api.runtime import Runtime
from models.domain.compaction.verification import verify_session
from models.errors import TransientError
from models.store.compaction.lineage import list_compacted_sessions, load_lineage, repair_session
from models.store.compaction.progress import session_lock
from models.store.engine import tenant_transaction
from models.store.tenancy.tokens import Caller

SLICE_SECONDS = 5.0
SESSIONS_AT_ONCE = 50


def verify(runtime: Runtime, caller: Caller, request: VerifyIn) -> VerifyOut:
    """Check sessions by name until the slice of time is used up; `next_cursor` says where to go on."""
    if request.session_id is None:
        check_whole_tenant(caller, remedy="name a session, or use a tenant's token")
    else:
        check_session(runtime, caller, request.session_id)
    deadline = time.monotonic() + SLICE_SECONDS
    answer = VerifyOut(sessions=0, summaries=0, turns=0, violations=[], summaries_dropped=0, next_cursor=None)
    names = [request.session_id] if request.session_id else _list_names(runtime, caller, request.cursor or "")
    while names:
        for name in names:
            _verify_one(runtime, caller, name, answer, repair=request.repair)
            if time.monotonic() > deadline and request.session_id is None:
                answer.next_cursor = name
                return answer
        names = [] if request.session_id else _list_names(runtime, caller, names[-1])
    return answer


def _list_names(runtime: Runtime, caller: Caller, after: str) -> list[str]:
    with tenant_transaction(runtime.engine, caller) as connection:
        return list_compacted_sessions(
            connection, tenant_id=caller.tenant_id, after=after, count=SESSIONS_AT_ONCE
        )


def _verify_one(runtime: Runtime, caller: Caller, name: str, answer: VerifyOut, *, repair: bool) -> None:
    encoder = runtime.serving.name
    with tenant_transaction(runtime.engine, caller, is_snapshot=True) as connection:
        lineage = load_lineage(connection, tenant_id=caller.tenant_id, session_id=name, encoder=encoder)
    found = verify_session(lineage, min_turns=runtime.settings.tail_min_turns)
    answer.sessions += 1
    answer.summaries += len(lineage.summaries)
    answer.turns += len(lineage.turns)
    answer.violations += [
        ViolationOut(kind=one.kind, session_id=name, node=one.node, detail=one.detail) for one in found
    ]
    if not (repair and found):
        return
    with session_lock(runtime.engine, tenant_id=caller.tenant_id, session_id=name) as is_ours:
        if not is_ours:
            raise TransientError(f"session '{name}' is being compacted", remedy="repeat the call")
        with tenant_transaction(runtime.engine, caller) as connection:
            answer.summaries_dropped += repair_session(
                connection, tenant_id=caller.tenant_id, session_id=name, violations=found
            )
