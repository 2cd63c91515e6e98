"""What a prompt is made of, read in two round trips: what needs no vector while the query is encoded, then recall."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

import structlog

from api.access import check_namespace
from api.assemble.schemas import AssembleIn
from api.recall.ranking import (
    Question,
    Recalled,
    ask,
    choose_breadth,
    in_context,
    rank_recalled,
    send_recall,
    send_words,
)
from api.runtime import Runtime
from api.schemas import DegradedOut
from models.domain.prompt.tail import MAX_BUNDLE_TURNS, TailTurn, find_base_start
from models.domain.recall.recovery import RankedMatch, detect_failure, reserve_recovery_tokens
from models.domain.records import Identity, Turn, durable_namespace
from models.domain.rules.guidance import SESSION_PREFIX, name_guidance_namespace
from models.domain.rules.overruling import Overruling
from models.errors import DatabaseUnavailable, DeadlineExceeded
from models.store.context import TAIL_TURNS, Context, Origin, receive_context, send_context
from models.store.documents import Rule
from models.store.embeddings import Vector
from models.store.engine import one_round_trip, tenant_transaction
from models.store.guidance import Guidance, load_guidance
from models.store.recall import CandidateRow
from models.store.tokens import Caller
from models.store.turns import load_recent_turns
from models.store.work import Backlog

log = structlog.get_logger(__name__)
MANDATORY_STAGE_MS = 1000  # rules and tail always answer, so they get this much whatever the deadline says
FIRST_READ_MS = 100  # for rules and tail at least so long; after that they are read alone
WORDS_SHARE = 0.5  # of what is left: slow words leave time for meaning, and for guidance
ENCODING_SHARE = 0.6  # of what is left: a slow encoder leaves time for recall by words
GUIDANCE_RESERVE_MS = 200  # kept back from recall, so that guidance can still be read without it
OLDER_TURNS = 8  # read at once where the base tail is not whole yet
MAX_GUIDANCE_RECORDS = 32  # of the likest and of the newest each; the reserve rarely holds more


@dataclass(slots=True)
class Gathered:
    """What the stages brought together before the budget is shared."""

    namespace: str | None = None  # whose memory was read; None: nothing stored could be
    rules: Sequence[Rule] = ()
    turns: list[Turn] = field(default_factory=list)
    guidance: list[Guidance] = field(default_factory=list)
    overruled: tuple[Overruling, ...] = ()  # spoken wishes that an authored rule contradicts
    is_guidance_read: bool = False
    recalled: list[Recalled] = field(default_factory=list)
    recall_limit_tokens: int | None = None  # less than the budget leaves, when nothing matched well
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


def gather(
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

    def remaining_ms() -> int:
        return int(deadline_ms - (time.perf_counter() - start) * 1000)

    question = ask(
        runtime,
        caller,
        session_id=request.session_id,
        text=request.query,
        now=now,
        breadth=choose_breadth(request.budget_tokens),
        profile=request.profile,
        explains=request.explain,
    )
    try:
        with got.timed("rules_tail"):
            context, rows = _read_first(runtime, caller, request, got, question, timeout_ms=remaining_ms())
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        got.miss(error.code, f"{error.detail}: guidance and memories are missing from this answer")
        return
    runtime.last_rules[caller.tenant_id, context.bindings] = got.rules = context.rules
    got.turns, got.backlog = list(context.turns), context.backlog
    got.namespace = context.namespace
    question = in_context(question, context, rows)
    question = replace(question, vector=_wait_for_vector(runtime, request, got, encoding, remaining_ms()))
    if remaining_ms() <= 0:
        got.miss("deadline_exceeded", f"no time was left of {deadline_ms} ms for guidance and recall")
        return
    try:
        with got.timed("recall"):
            time_left = remaining_ms()
            time_left -= min(GUIDANCE_RESERVE_MS, time_left // 4)
            _read_recall(runtime, caller, request, got, question, context, timeout_ms=max(time_left, 1))
    except (DatabaseUnavailable, DeadlineExceeded, FutureTimeout) as error:
        code = getattr(error, "code", "deadline_exceeded")
        got.miss(code, f"{error}: recall is missing from this answer")


def _read_first(
    runtime: Runtime,
    caller: Caller,
    request: AssembleIn,
    got: Gathered,
    question: Question,
    *,
    timeout_ms: int,
) -> tuple[Context, Sequence[CandidateRow]]:
    """Rules, tail and backlog, and what holds words of the query; more of the tail where turns are short."""
    identity = Identity(user_id=request.user_id, session_key=request.session_key, agent_id=request.agent_id)
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
    encoder, words_ms = runtime.settings.encoder, int(timeout_ms * WORDS_SHARE)
    timeout_ms = max(timeout_ms, FIRST_READ_MS)
    first, rows = None, []
    try:
        with one_round_trip(runtime.engine, caller, timeout_ms=timeout_ms) as cursors:
            first = send_context(cursors, origin=origin, tail_chars=tail_chars, encoder=encoder)
            if words_ms > 0:
                cursors.limit(words_ms)
                rows = send_words(cursors, question, origin, encoder=encoder).fetchall()
            context = receive_context(first)
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        if first is None or first.pgresult is None:
            raise
        # The words failed, and the rules had come before them.
        context = receive_context(first)
        got.miss(error.code, f"{error}: what holds words of the query is missing from this answer")
    check_namespace(caller, context.namespace)
    turns = list(context.turns)
    if not _is_tail_short(runtime, turns, tail_chars):
        return context, rows
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


def _read_recall(
    runtime: Runtime,
    caller: Caller,
    request: AssembleIn,
    got: Gathered,
    question: Question,
    context: Context,
    *,
    timeout_ms: int,
) -> None:
    encoder = runtime.settings.encoder
    with one_round_trip(runtime.engine, caller, timeout_ms=timeout_ms) as cursors:
        guidance = load_guidance(
            cursors,
            tenant_id=question.tenant_id,
            encoder=encoder,
            collections=[
                name_guidance_namespace(context.namespace, session_id=request.session_id),
                SESSION_PREFIX + request.session_id,
            ],
            query_vector=question.vector,
            count=MAX_GUIDANCE_RECORDS,
        )
        found = send_recall(cursors, question, encoder=encoder)
        got.guidance = guidance.fetchall()
        got.is_guidance_read = True
        got.recalled = rank_recalled(
            cursors,
            question,
            found.fetchall() if found else (),
            encoder=encoder,
            tail=[str(turn.id) for turn in got.turns],
        )
    if request.query.strip():
        _judge_recall(got, request.budget_tokens)


def _judge_recall(got: Gathered, budget_tokens: int) -> None:
    """Where nothing matched well, recall keeps to a small reserve instead of filling the prompt, and says so."""
    signals = detect_failure(
        [
            RankedMatch(
                evidence=one.scored.evidence,
                is_summary=one.candidate.kind == "summary",
                confidence=one.candidate.confidence,
            )
            for one in got.recalled
        ]
    )
    if got.recalled and signals.has_failed:
        got.recall_limit_tokens = reserve_recovery_tokens(budget_tokens)
        got.miss(
            "weak_recall",
            f"nothing matched the query well (best evidence {signals.best_evidence:.2f}): "
            f"recall keeps to {got.recall_limit_tokens} tokens",
        )


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
            vector: Vector = encoding.result(timeout=max(remaining_ms * ENCODING_SHARE, 0) / 1000)[0]
            return vector
        except FutureTimeout:
            encoding.cancel()
            got.miss("deadline_exceeded", "the query was not encoded in time: recall by words and names only")
        except Exception as error:  # noqa: BLE001 - whatever the model does, the conversation goes on
            log.error("encoder.failed", error=type(error).__name__)
            got.miss("encoder_unavailable", "the query could not be encoded: recall by words and names only")
    return None
