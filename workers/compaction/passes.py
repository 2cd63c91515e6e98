"""Compaction of a session: passes that each cover some turns, then levels that grew too wide (section 8).

A pass reads, writes its summaries with no transaction open, and commits rules, summaries, edges and state at
once. Whatever stops it in between leaves the session as it was.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from uuid import UUID

import structlog
from sqlalchemy import Connection, Engine

from models.domain.compaction.clustering import (
    CLUSTER_TURNS,
    MIN_SOURCES,
    choose_rollup,
    cluster_chronologically,
)
from models.domain.prompt.tail import extend_tail, find_base_start
from models.domain.prompt.tokens import CharsCounter
from models.domain.records import Turn
from models.encoders.protocol import Encoder, EncoderUnavailable
from models.errors import TransientError
from models.logs import name_in_log
from models.settings import Settings
from models.store.compaction.progress import (
    CompactionState,
    advance_generation,
    begin_compaction,
    end_compaction,
    find_first_pending,
    recount_session,
    release_compaction,
    session_lock,
)
from models.store.compaction.summaries import load_active_summaries
from models.store.conversation.history import OutlinedTurn, load_outline
from models.store.conversation.turns import load_recent_turns, load_turns
from models.store.engine import tenant_transaction
from models.summarizers.protocol import Summarizer
from workers.compaction.pace import Pace
from workers.compaction.writer import Commit, CompactionWriter
from workers.meters import TALLY

log = structlog.get_logger(__name__)
TAIL_CHUNK_TURNS = 64
ROLLUP_SUMMARIES = 8  # of one level that one summary of the next may cover
count_tokens = CharsCounter().count


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What one compaction did; the answer to whoever asked for it."""

    did_compact: bool = False
    clusters_formed: int = 0
    clusters_declined: int = 0
    turns_covered: int = 0
    summary_ids: list[str] = field(default_factory=list)
    mean_confidence: float | None = None
    reason: str | None = None  # why nothing, or not everything, was compacted
    is_done: bool = True
    confidences: list[float] = field(default_factory=list)

    def add(self, commit: Commit) -> None:
        """Count what a commit brought."""
        self.did_compact = self.did_compact or bool(commit.summaries)
        self.clusters_formed += len(commit.summaries)
        self.clusters_declined += commit.declined
        for new in commit.summaries:
            self.turns_covered += len(new.summary.turns)
            self.summary_ids.append(str(new.summary.summary.id))
            self.confidences.append(new.summary.summary.confidence)

    def as_answer(self) -> dict[str, object]:
        """The answer's fields."""
        if self.confidences:
            self.mean_confidence = round(sum(self.confidences) / len(self.confidences), 4)
        found = asdict(self)
        del found["confidences"], found["is_done"]
        return found


def compact_session(
    engine: Engine,
    encoder: Encoder,
    tenant_id: UUID,
    session_id: str,
    *,
    settings: Settings,
    abstractive: Summarizer | None = None,
    pace: Pace | None = None,
    budget_seconds: float = 60.0,
    only_with_news: bool = False,
    only_remembered: bool = False,
) -> Outcome | None:
    """Compact what is eligible; None when another process is at it, or the session does not exist.

    `pace` is shared by all runs of a process. `only_with_news`: also None when nothing came since the last run, which
    is what most repeated messages find. `only_remembered`: turns the pipeline has not finished are left to it, unless
    somebody asked for this session; to encode them here would be ingest's work done twice, out of turn.
    """
    pace = pace or Pace()
    deadline = time.monotonic() + budget_seconds
    with session_lock(engine, tenant_id=tenant_id, session_id=session_id) as is_ours:
        if not is_ours:
            return None
        with tenant_transaction(engine, tenant_id) as connection:
            state = begin_compaction(
                connection,
                tenant_id=tenant_id,
                session_id=session_id,
                backoff_seconds=settings.retry_backoff_seconds,
            )
            if state is not None and only_with_news and not state.has_news:
                release_compaction(connection, tenant_id=tenant_id, session_id=session_id)
                return None
        if state is None:
            return None
        run = _Run(
            engine=engine,
            tenant_id=tenant_id,
            session_id=session_id,
            state=state,
            settings=settings,
            writer=CompactionWriter(
                engine=engine,
                encoder=encoder,
                tenant_id=tenant_id,
                session_id=session_id,
                abstractive=abstractive,
            ),
            generation=state.generation,
            pace=pace,
            deadline=deadline,
            only_remembered=only_remembered and state.requested_at is None,
        )
        try:
            is_done = run.go()
        except EncoderUnavailable as error:
            raise TransientError(f"compaction waits for the encoder: {error}") from error
        return run.finish(is_done=is_done)


@dataclass(slots=True, kw_only=True)
class _Run:
    engine: Engine
    tenant_id: UUID
    session_id: str
    state: CompactionState
    settings: Settings
    writer: CompactionWriter
    generation: int
    pace: Pace
    deadline: float
    only_remembered: bool
    outcome: Outcome = field(default_factory=Outcome)
    turns_tried: int = 0
    kept_whole: int = 0

    def go(self) -> bool:
        """Passes until nothing is eligible; False when time ran out or ingest came first.

        Levels are brought down before every pass, not after the last: a session that grows all the time has none.
        """
        tried: set[UUID] = set()
        while not self._is_over():
            start = time.monotonic()
            self._roll_up()
            turns = self._find_eligible(tried)
            if len(turns) < MIN_SOURCES:
                if not self.outcome.clusters_formed:
                    self.outcome.reason = self._explain_nothing()
                return True
            tried.update(turn.id for turn in turns)  # what a pass declines waits for the next run
            self.turns_tried = len(tried)
            self._commit(self._cover(turns))
            self.pace.spend(time.monotonic() - start)
        return False

    def _explain_nothing(self) -> str:
        """Why a run made no summary."""
        if not self.outcome.clusters_declined:
            return "fewer than two turns lie outside the recent tail and any summary"
        if self.kept_whole == self.turns_tried:
            return (
                f"all {self.kept_whole} turns outside the recent tail are standing wishes, kept word for word, or "
                "were forgotten; nothing is left to summarise"
            )
        return f"a summary of the {self.turns_tried} turns outside the recent tail would not be shorter than they are"

    def _is_over(self) -> bool:
        """Whether others come first: never while somebody waits for this very session."""
        if self.state.requested_at is not None:
            return False
        return time.monotonic() > self.deadline or self.pace.must_rest()

    def finish(self, *, is_done: bool) -> Outcome:
        """Set the counters to the truth; a run that was cut short stays due."""
        rest = 0.0 if is_done else self.pace.seconds_to_rest()  # asks the database, so before the transaction
        with tenant_transaction(self.engine, self.tenant_id) as connection:
            recount_session(connection, tenant_id=self.tenant_id, session_id=self.session_id)
            if is_done:
                end_compaction(
                    connection,
                    tenant_id=self.tenant_id,
                    session_id=self.session_id,
                    state=self.state,
                    outcome=self.outcome.as_answer(),
                )
            else:
                release_compaction(
                    connection, tenant_id=self.tenant_id, session_id=self.session_id, pause_seconds=rest
                )
        self.outcome.is_done = is_done
        if not is_done:
            self.outcome.reason = "out of time, or ingest came first; the rest follows"
        log.info(
            "compaction.ended",
            session=name_in_log(self.session_id),
            is_done=is_done,
            formed=self.outcome.clusters_formed,
            declined=self.outcome.clusters_declined,
            turns=self.outcome.turns_covered,
        )
        return self.outcome

    def _find_eligible(self, tried: set[UUID]) -> list[Turn]:
        """The oldest turns that are outside the tail and under no summary, as many as one pass takes."""
        with tenant_transaction(self.engine, self.tenant_id) as connection:
            outline = load_outline(connection, tenant_id=self.tenant_id, session_id=self.session_id)
            end = self._find_tail_start(connection, outline)
            limit = None
            if self.only_remembered:
                limit = find_first_pending(connection, tenant_id=self.tenant_id, session_id=self.session_id)
            ids = [
                one.id
                for one in outline[:end]
                if not one.is_covered and one.id not in tried and (limit is None or one.position < limit)
            ]
            found = load_turns(
                connection, tenant_id=self.tenant_id, ids=ids[: self.settings.compaction_pass_turns]
            )
        return sorted(found, key=lambda turn: turn.position)

    def _find_tail_start(self, connection: Connection, outline: Sequence[OutlinedTurn]) -> int:
        """Where T_recent begins at the configured budget; a forced run keeps the base tail alone."""
        turns = [one.turn for one in outline]
        base = find_base_start(turns, min_turns=self.settings.tail_min_turns)
        if self.state.is_forced:
            return base
        room = self.settings.compaction_tail_tokens()
        costs = self._measure_newest(connection, room)
        spent = sum(costs.get(turn.id, 0) for turn in turns[base:])

        def take(start: int, end: int) -> bool:
            nonlocal spent
            bundle = turns[start:end]
            if any(turn.id not in costs for turn in bundle):
                return False
            spent += sum(costs[turn.id] for turn in bundle)
            return spent <= room

        return extend_tail(turns, base_start=base, take=take)

    def _measure_newest(self, connection: Connection, room: int) -> dict[str, int]:
        """What each of the newest turns costs, read until they fill the room."""
        costs: dict[str, int] = {}
        before = 2**62
        while sum(costs.values()) <= room:
            chunk = load_recent_turns(
                connection,
                tenant_id=self.tenant_id,
                session_id=self.session_id,
                count=TAIL_CHUNK_TURNS,
                before=before,
            )
            costs.update((str(turn.id), count_tokens(turn.content)) for turn in chunk)
            if len(chunk) < TAIL_CHUNK_TURNS:
                break
            before = chunk[0].position
        return costs

    def _cover(self, turns: Sequence[Turn]) -> Commit:
        """Summaries of these turns; turns of two namespaces never meet in one."""
        commit = Commit()
        by_id = {str(turn.id): turn for turn in turns}
        for namespace, group in groupby(sorted(turns, key=_by_namespace), key=lambda turn: turn.namespace):
            clustering = cluster_chronologically(
                [str(turn.id) for turn in group], cluster_turns=CLUSTER_TURNS
            )
            commit.declined += len(clustering.declined)
            clusters = [[by_id[key] for key in cluster.source_ids] for cluster in clustering.clusters]
            commit.add(self.writer.summarize_turns(clusters, namespace=namespace))
        return commit

    def _roll_up(self) -> None:
        """Bring every level that holds too many active summaries down, from the lowest up."""
        level = 1
        while True:
            with tenant_transaction(self.engine, self.tenant_id) as connection:
                active = load_active_summaries(
                    connection, tenant_id=self.tenant_id, session_id=self.session_id, level=level
                )
            if not active:
                return
            commit = Commit()
            by_namespace = sorted(active, key=lambda one: one.namespace)
            for _, group in groupby(by_namespace, key=lambda one: one.namespace):
                known = {str(one.id): one for one in group}
                clustering = cluster_chronologically(
                    choose_rollup(list(known)), cluster_turns=ROLLUP_SUMMARIES
                )
                clusters = [[known[key] for key in cluster.source_ids] for cluster in clustering.clusters]
                commit.add(self.writer.summarize_summaries(clusters))
            self._commit(commit)
            level += 1

    def _commit(self, commit: Commit) -> None:
        if not commit.is_empty:
            with tenant_transaction(self.engine, self.tenant_id) as connection:
                self.generation = advance_generation(
                    connection, tenant_id=self.tenant_id, session_id=self.session_id, expected=self.generation
                )
                self.writer.store(connection, commit, generation=self.generation)
        self.kept_whole += commit.kept_whole
        self.outcome.add(commit)
        _count(commit)


def _count(commit: Commit) -> None:
    TALLY.add("compaction_clusters", len(commit.summaries), outcome="summarised")
    TALLY.add("compaction_clusters", commit.declined, outcome="declined")
    for made in commit.summaries:
        TALLY.add("compaction_tokens", made.summary.summary.source_tokens, kind="covered")
        TALLY.add("compaction_tokens", made.summary.summary.summary_tokens, kind="summary")


def _by_namespace(turn: Turn) -> tuple[str, int]:
    return turn.namespace, turn.position
