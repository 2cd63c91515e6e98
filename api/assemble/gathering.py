"""What a prompt is made of: read while the query is encoded, then by its meaning, and ranked; less where time is short."""

import time
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import structlog

from api.assemble.reading import (
    note_outage,
    read_first,
    read_guidance,
    read_rules_and_tail,
    recall_rules,
    send_guidance,
)
from api.assemble.schemas import AssembleIn
from api.profile.service import recall_profile
from api.recall.question import Question, ask, choose_breadth, choose_most_ranked
from api.recall.ranking import Recalled
from api.recall.service import CHARS_PER_TOKEN, judge, recall, recover, send_nearest
from api.routing.trail import Trail
from api.runtime import Runtime, Serving
from models.domain.prompt.markers import keep_what_was_said
from models.domain.recall.questions import asks_for_answers
from models.domain.recall.recovery import RetrievalSignals, reserve_recovery_tokens
from models.domain.records import Turn
from models.errors import DatabaseUnavailable, DeadlineExceeded
from models.store.documents import Rule
from models.store.engine import one_round_trip
from models.store.index.embeddings import Vector
from models.store.memory.guidance import Guidance
from models.store.recall.context import Context
from models.store.tenancy.tokens import Caller
from models.store.work import Backlog

log = structlog.get_logger(__name__)
ENCODERS_LEAD_SECONDS: Final = 0.0001
ENCODING_SHARE: Final = 0.6  # of what is left: a slow encoder leaves time for recall by words
GUIDANCE_RESERVE_MS: Final = 200  # kept back from recall, so that guidance can still be read without it
NOTHING_WAITS: Final = Backlog(pending=0, lag_seconds=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """All that was read for one prompt, ranked; built once, before the budget is shared."""

    namespace: str | None = None  # whose memory was read; None: nothing stored could be
    rules: Sequence[Rule] = ()
    budget_tokens: int = 0  # that the prompt may cost
    keywords: frozenset[str] = frozenset()  # of the query
    asks_for_answers: bool = False  # whether it is about what the assistant said
    turns: Sequence[Turn] = ()  # the newest of the session, oldest first, without what we injected into them
    guidance: Sequence[Guidance] = ()
    recalled: Sequence[Recalled] = ()
    is_complete: bool = False  # everything that reaches the floor is among it
    recovery_tokens: int | None = None  # where nothing matched well: what raw turns under summaries may cost
    backlog: Backlog = NOTHING_WAITS
    serving: Serving | None = None  # the encoder it was read with


def gather(
    runtime: Runtime,
    caller: Caller,
    request: AssembleIn,
    trail: Trail,
    *,
    deadline_ms: int,
    now: datetime,
) -> Gathered:
    """Rules and tail first, then the query's vector, then guidance and recall while time is left.

    Where a stage takes too long, what outranks it is read by itself.
    """

    def left_ms() -> int:
        return int(deadline_ms - trail.elapsed_ms())

    if runtime.outage.is_on:
        trail.miss(
            "database_unavailable",
            "PostgreSQL did not answer a moment ago: of what is stored, only the rules as last read are in this answer",
        )
        return Gathered(rules=recall_rules(runtime, caller, request))
    serving = runtime.serving
    encoding = _start_encoding(runtime, request, serving)
    question = ask(
        runtime,
        caller,
        session_id=request.session_id,
        text=request.query,
        now=now,
        breadth=choose_breadth(request.budget_tokens),
        profile=request.profile,
        floor=runtime.settings.recall_floor,
        explains=request.explain,
        serving=serving,
    )
    changes = runtime.last_known.changes
    try:
        with trail.timed("rules_tail"):
            context, rows = read_first(runtime, caller, request, question, trail, timeout_ms=left_ms())
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        trail.miss(error.code, f"{error.detail}: guidance and memories are missing from this answer")
        note_outage(runtime, error)
        return _salvage(runtime, caller, request, trail, is_slow=isinstance(error, DeadlineExceeded))
    runtime.last_known.keep(caller.tenant_id, context.bindings, context.rules, changes=changes)
    got = Gathered(
        namespace=context.namespace,
        rules=context.rules,
        budget_tokens=request.budget_tokens,
        keywords=question.keywords,
        asks_for_answers=asks_for_answers(request.query),
        turns=keep_what_was_said(context.turns, caller.marker),
        backlog=context.backlog,
        serving=serving,
    )
    vector = _wait_for_vector(runtime, request, encoding, trail, timeout_ms=left_ms())
    if left_ms() <= 0:
        trail.miss("deadline_exceeded", f"no time was left of {deadline_ms} ms for guidance and recall")
        return got
    time_left = left_ms()
    time_left -= min(GUIDANCE_RESERVE_MS, time_left // 4)
    found = _read_recall(
        runtime,
        caller,
        question.within(context, rows=rows, vector=vector, room_tokens=_estimate_room(runtime, request, got)),
        context,
        trail,
        most=choose_most_ranked(request.budget_tokens),
        timeout_ms=max(time_left, 1),
    )
    if found.guidance is None:
        may_ask = found.is_slow and left_ms() > 0
        alone = (
            read_guidance(
                runtime,
                caller,
                request,
                context.namespace,
                trail,
                encoder=serving.name,
                timeout_ms=left_ms(),
            )
            if may_ask
            else ()
        )
        return replace(got, guidance=alone)
    if found.has_failed:
        got = replace(got, recovery_tokens=reserve_recovery_tokens(request.budget_tokens))
    return replace(got, guidance=found.guidance, recalled=found.recalled, is_complete=found.is_complete)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the second round trip brought; no guidance: it failed before that."""

    guidance: Sequence[Guidance] | None = None
    recalled: Sequence[Recalled] = ()
    is_complete: bool = False
    has_failed: bool = False  # nothing that was found matches well
    is_slow: bool = False  # it was not read for want of time, not of PostgreSQL


def _read_recall(
    runtime: Runtime,
    caller: Caller,
    question: Question,
    context: Context,
    trail: Trail,
    *,
    most: int,
    timeout_ms: int,
) -> _Found:
    """Guidance and recall in one round trip; guidance alone where ranking fails after it was read."""
    encoder, session_id = question.encoder, question.session_id or ""
    guidance: Sequence[Guidance] | None = None
    try:
        with (
            trail.timed("recall"),
            one_round_trip(runtime.engine, caller, timeout_ms=timeout_ms) as cursors,
        ):
            wishes = send_guidance(
                cursors, caller, session_id, context.namespace, encoder=encoder, vector=question.vector
            )
            sent = send_nearest(cursors, question, encoder=encoder)
            guidance = wishes.fetchall()
            near = sent.fetchall() if sent else ()
            tail = [str(turn.id) for turn in context.turns]
            recalled, is_complete = recall(cursors, question, near, encoder=encoder, tail=tail, most=most)
            if not question.text.strip():  # nothing is asked yet: what is known of the user
                known = recall_profile(cursors, caller, question, context.namespace, encoder=encoder)
                return _Found(guidance=guidance, recalled=(*known, *recalled))
            signals = judge(recalled)
            if not signals.has_failed:
                return _Found(guidance=guidance, recalled=recalled, is_complete=is_complete)
            recovered = recover(cursors, question, recalled, encoder=encoder)
    except (DatabaseUnavailable, DeadlineExceeded) as error:
        trail.miss(error.code, f"{error}: recall is missing from this answer")
        note_outage(runtime, error)
        return _Found(guidance=guidance, is_slow=isinstance(error, DeadlineExceeded))
    except FutureTimeout as error:
        trail.miss("deadline_exceeded", f"{error}: recall is missing from this answer")
        return _Found(guidance=guidance, is_slow=True)
    found = (*recovered, *recalled)
    is_searched = question.vector is not None and context.sizes.asked > len(context.turns)
    if found or is_searched:  # else it was not looked for by meaning, or all there is stands in the tail
        _report_failure(signals, recovered, is_empty=not found, trail=trail)
    return _Found(guidance=guidance, recalled=found, is_complete=is_complete, has_failed=True)


def _estimate_room(runtime: Runtime, request: AssembleIn, got: Gathered) -> int:
    """About what rules and tail leave of the budget."""
    tail = min(
        sum(len(turn.content) for turn in got.turns) // CHARS_PER_TOKEN,
        int(runtime.reserves.tail * request.budget_tokens),
    )
    rules = sum(len(rule.body) for rule in got.rules) // CHARS_PER_TOKEN
    return max(0, request.budget_tokens - tail - rules)


def _salvage(
    runtime: Runtime, caller: Caller, request: AssembleIn, trail: Trail, *, is_slow: bool
) -> Gathered:
    """What can be had where the first read failed: rules and tail by themselves, else the rules that are known."""
    alone = read_rules_and_tail(runtime, caller, request, trail) if is_slow else None
    if alone is None:
        return Gathered(rules=recall_rules(runtime, caller, request))
    namespace, rules, turns = alone
    return Gathered(namespace=namespace, rules=rules, turns=keep_what_was_said(turns, caller.marker))


def _report_failure(
    signals: RetrievalSignals, recovered: Sequence[Recalled], *, is_empty: bool, trail: Trail
) -> None:
    """Say that nothing matched well, and what was looked through instead; or that nothing matched at all."""
    if is_empty:
        trail.miss("nothing_recalled", "nothing that is remembered matches the query")
        return
    why = (
        f"nothing matched the query well (best evidence {signals.best_evidence:.2f})"
        if signals.is_weak
        else f"the best matches are summaries of low confidence ({signals.mean_confidence:.2f})"
    )
    trail.miss("weak_recall", f"{why}: turns under summaries were searched too, {len(recovered)} were found")


def _start_encoding(runtime: Runtime, request: AssembleIn, serving: Serving) -> "Future[Vector] | None":
    encoding = runtime.start_encoding([request.query], serving)
    if encoding is not None and not encoding.done():
        # Everything waits for the encoder, so its thread goes first; else it would get its turn, and the interpreter's
        # lock, only when this one waits for PostgreSQL.
        time.sleep(ENCODERS_LEAD_SECONDS)
    return encoding


def _wait_for_vector(
    runtime: Runtime,
    request: AssembleIn,
    encoding: "Future[Vector] | None",
    trail: Trail,
    *,
    timeout_ms: int,
) -> Vector | None:
    """The query's vector, or None with the reason named: words and names are searched without it."""
    if encoding is None:
        if request.query.strip():
            trail.miss("encoder_unavailable", f"{runtime.encoder_problem}: recall by words and names only")
        return None
    with trail.timed("encode_wait"):
        try:
            vector: Vector = encoding.result(timeout=max(timeout_ms * ENCODING_SHARE, 0) / 1000)[0]
            return vector
        except FutureTimeout:
            encoding.cancel()
            trail.miss(
                "deadline_exceeded", "the query was not encoded in time: recall by words and names only"
            )
        except Exception as error:  # noqa: BLE001 - whatever the model does, the conversation goes on
            log.error("encoder.failed", error=type(error).__name__)
            trail.miss(
                "encoder_unavailable", "the query could not be encoded: recall by words and names only"
            )
    return None
