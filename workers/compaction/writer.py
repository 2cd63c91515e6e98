"""What a compaction pass writes: rules that were not kept yet, summaries with their edges, index rows and vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

import numpy as np
from sqlalchemy import Connection, Engine

from models.domain.compaction.clustering import summary_id
from models.domain.compaction.extraction import Passage, parse_summary
from models.domain.compaction.noise import sanitize_text
from models.domain.compaction.summaries import FOOTER_LABEL, PRIOR_CONTEXT_TOKENS, choose_prior
from models.domain.grammar.spans import DeonticReading
from models.domain.prompt.tokens import CharsCounter
from models.domain.records import Turn, name_speaker
from models.domain.text.sentences import clip_words
from models.domain.vectors import mean_direction
from models.domain.wishes.quoting import quote_rule
from models.encoders.protocol import Encoder
from models.errors import TransientError
from models.store.compaction.summaries import (
    CoveredTurn,
    NewSummary,
    Summary,
    add_summary,
    load_active_summaries,
)
from models.store.conversation.turns import find_talk_between_people
from models.store.engine import tenant_transaction
from models.store.index.embeddings import ItemVectors, Vector, add_vectors, load_vectors
from models.store.index.encoders import guard_encoder
from models.store.index.items import add_items
from models.store.memory.forgetting import find_silenced
from models.store.memory.guidance import load_quotes
from models.summarizers.protocol import Summarizer
from models.summarizers.writing import Source, WrittenSummary, write_summary
from workers.ingest import MAX_SOURCE_IDS, describe_summary
from workers.wishes import keep_rules, read_wishes

NEIGHBOURS_READ: Final = 4
count_tokens = CharsCounter().count


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """What of a turn its summary does not repeat: the rule that stands word for word in guidance, or all of it."""

    turn: Turn
    quote: str
    reading: DeonticReading | None = None  # of a rule that is not kept yet

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the turn is left for the summary."""
        return self.quote == self.turn.content


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A summary with its edges and the vectors it is found by."""

    summary: NewSummary
    windows: Vector = field(compare=False)
    source_turn_ids: Sequence[UUID] = ()


@dataclass(slots=True, kw_only=True)
class Commit:
    """What goes into the store together, or not at all."""

    rules: list[tuple[Turn, DeonticReading]] = field(default_factory=list)  # that were not kept before
    summaries: list[Made] = field(default_factory=list)
    declined: int = 0
    kept_whole: int = (
        0  # turns of clusters in which every turn is kept word for word: nothing is left to summarise
    )

    def add(self, other: "Commit") -> None:
        """Take another part of the same pass in."""
        self.rules += other.rules
        self.summaries += other.summaries
        self.declined += other.declined
        self.kept_whole += other.kept_whole

    @property
    def is_empty(self) -> bool:
        return not self.rules and not self.summaries


@dataclass(kw_only=True)
class CompactionWriter:
    """Writes summaries of one session with one encoder; reads in short transactions, never holds one."""

    engine: Engine
    encoder: Encoder
    tenant_id: UUID
    session_id: str
    abstractive: Summarizer | None = None

    def summarize_turns(self, clusters: Sequence[Sequence[Turn]], *, namespace: str) -> Commit:
        """A level 1 summary of each cluster that earns one; the rules in all of them as shards."""
        turns = [turn for cluster in clusters for turn in cluster]
        with tenant_transaction(self.engine, self.tenant_id) as connection:
            windows = load_vectors(
                connection,
                tenant_id=self.tenant_id,
                encoder=self.encoder.name,
                ids=[turn.id for turn in turns],
            )
            silenced = find_silenced(
                connection, tenant_id=self.tenant_id, turn_ids=[turn.id for turn in turns]
            )
            between_people = find_talk_between_people(
                connection, tenant_id=self.tenant_id, session_ids=[self.session_id]
            )
            quotes = load_quotes(connection, tenant_id=self.tenant_id, turn_ids=[turn.id for turn in turns])
            neighbours = [
                one
                for one in load_active_summaries(
                    connection, tenant_id=self.tenant_id, session_id=self.session_id, level=1
                )
                if one.namespace == namespace
            ]
        vectors = self._complete_vectors(turns, windows)
        commit = Commit()
        loud = [turn for turn in turns if turn.id not in silenced]
        # Who has a vector has been read: its rule is in guidance, unless its user has put it in other words since.
        unread = [turn for turn in loud if turn.id not in windows or quotes.get(turn.id, "") is None]
        protected = {
            turn.id: Shard(turn=turn, quote=quote) for turn in loud if (quote := quotes.get(turn.id))
        } | self._read_rules(unread, vectors, is_between_people=bool(between_people))
        for cluster in clusters:
            shards = {turn.id: protected[turn.id] for turn in cluster if turn.id in protected}
            commit.rules += [(one.turn, one.reading) for one in shards.values() if one.reading]
            # Covered, and not repeated: what was forgotten or corrected stays in the raw record alone.
            shards |= {turn.id: _silence(turn) for turn in cluster if turn.id in silenced}
            prior = _choose_neighbours(neighbours, before=cluster[0].position)
            written = self._write(cluster, shards, vectors, prior)
            if written is None:
                commit.declined += 1
                if all(turn.id in shards and shards[turn.id].is_whole for turn in cluster):
                    commit.kept_whole += len(cluster)
                continue
            made = self._describe_turn_summary(cluster, shards, written, prior, namespace=namespace)
            commit.summaries.append(made)
            neighbours.append(made.summary.summary)
        return commit

    def summarize_summaries(self, clusters: Sequence[Sequence[Summary]]) -> Commit:
        """A summary of the next level over each cluster that earns one."""
        if not clusters:
            return Commit()
        children = [child for cluster in clusters for child in cluster]
        with tenant_transaction(self.engine, self.tenant_id) as connection:
            windows = load_vectors(
                connection,
                tenant_id=self.tenant_id,
                encoder=self.encoder.name,
                ids=[child.id for child in children],
            )
            neighbours = load_active_summaries(
                connection, tenant_id=self.tenant_id, session_id=self.session_id, level=children[0].level + 1
            )
        missing = [child for child in children if child.id not in windows]
        encoded = self.encoder.encode_windows([child.body for child in missing])
        windows.update((child.id, rows) for child, rows in zip(missing, encoded, strict=True))
        commit = Commit()
        for cluster in clusters:
            same = [one for one in neighbours if one.namespace == cluster[0].namespace]
            prior = _choose_neighbours(same, before=cluster[0].first_position)
            sources = [_read_summary(child, mean_direction(windows[child.id])) for child in cluster]
            written = write_summary(
                sources, encode_windows=self.encoder.encode_windows, prior_text=_join_prior(prior)
            )
            if written is None:
                commit.declined += 1
                continue
            made = self._describe_rollup(cluster, written, prior)
            commit.summaries.append(made)
            neighbours.append(made.summary.summary)
        return commit

    def store(self, connection: Connection, commit: Commit, *, generation: int) -> None:
        """Rules first: one is kept before the summary that omits it exists."""
        guard_encoder(connection, name=self.encoder.name)
        keep_rules(connection, self.tenant_id, commit.rules)
        for made in commit.summaries:
            new = replace(made.summary, summary=replace(made.summary.summary, generation=generation))
            add_summary(connection, tenant_id=self.tenant_id, new=new)
            item = describe_summary(new.summary, made.source_turn_ids)
            add_items(connection, items=[item])
            vectors = ItemVectors(
                item_id=item.id,
                kind=item.kind,
                namespace=item.namespace,
                role=None,
                seq=0,
                windows=made.windows,
            )
            add_vectors(connection, tenant_id=self.tenant_id, encoder=self.encoder.name, items=[vectors])
        self._check_quotes(connection, commit)

    def _check_quotes(self, connection: Connection, commit: Commit) -> None:
        """Nothing is quoted that was forgotten while it was being summarised; after indexing, nobody forgets it now."""
        quoted = [
            edge.turn_id for made in commit.summaries for edge in made.summary.turns if not edge.is_protected
        ]
        if quoted and find_silenced(connection, tenant_id=self.tenant_id, turn_ids=quoted):
            raise TransientError(
                f"a turn of session '{self.session_id}' was forgotten or corrected while it was summarised",
                code="compaction_overtaken",
            )

    def _read_rules(
        self, turns: Sequence[Turn], vectors: dict[UUID, Vector], *, is_between_people: bool
    ) -> dict[UUID, Shard]:
        """The rules users state: they must survive (section 9). Nobody else's words are guidance."""
        said = [turn for turn in turns if turn.role == "user"]
        readings = read_wishes(
            self.encoder,
            [turn.content for turn in said],
            [vectors[turn.id] for turn in said],
            between_people=[is_between_people] * len(said),
        )
        return {
            turn.id: Shard(turn=turn, quote=quote_rule(turn.content, reading), reading=reading)
            for turn, reading in zip(said, readings, strict=True)
            if reading.is_rule
        }

    def _complete_vectors(self, turns: Sequence[Turn], windows: dict[UUID, Vector]) -> dict[UUID, Vector]:
        """One vector a turn; a turn the pipeline has not reached yet is encoded here."""
        missing = [turn for turn in turns if turn.id not in windows]
        encoded = self.encoder.encode_windows([name_speaker(turn.name, turn.content) for turn in missing])
        found = windows | {turn.id: rows for turn, rows in zip(missing, encoded, strict=True)}
        return {turn_id: mean_direction(rows) for turn_id, rows in found.items()}

    def _write(
        self,
        cluster: Sequence[Turn],
        shards: dict[UUID, Shard],
        vectors: dict[UUID, Vector],
        prior: Sequence[Summary],
    ) -> WrittenSummary | None:
        rest = [turn for turn in cluster if not (turn.id in shards and shards[turn.id].is_whole)]
        middle = mean_direction(np.vstack([vectors[turn.id] for turn in rest])) if rest else np.zeros(1)
        return write_summary(
            [
                Source(
                    passages=[
                        Passage(
                            label=turn.name or turn.role,
                            text=sanitize_text(_without_rule(turn, shards.get(turn.id))).text,
                            role=turn.role,
                            day=f"{turn.ts:%Y-%m-%d}",
                            centrality=min(max(float(vectors[turn.id] @ middle), 0.0), 1.0),
                        )
                    ],
                    tokens=count_tokens(turn.content),
                    vector=vectors[turn.id],
                )
                for turn in rest
            ],
            encode_windows=self.encoder.encode_windows,
            prior_text=_join_prior(prior),
            abstractive=self.abstractive,
        )

    def _describe_turn_summary(
        self,
        cluster: Sequence[Turn],
        shards: dict[UUID, Shard],
        written: WrittenSummary,
        prior: Sequence[Summary],
        *,
        namespace: str,
    ) -> Made:
        edges = [
            CoveredTurn(
                turn_id=turn.id,
                tokens=count_tokens(turn.content),
                is_protected=turn.id in shards and shards[turn.id].is_whole,
            )
            for turn in cluster
        ]
        summary = Summary(
            id=UUID(summary_id(self.session_id, 1, [str(turn.id) for turn in cluster])),
            session_id=self.session_id,
            namespace=namespace,
            level=1,
            turn_count=len(cluster),
            turn_tokens=sum(edge.tokens for edge in edges),
            first_position=cluster[0].position,
            last_position=cluster[-1].position,
            earliest_at=min(turn.ts for turn in cluster),
            latest_at=max(turn.ts for turn in cluster),
            prior_ids=[one.id for one in prior],
            **_quality_of(written),  # type: ignore[arg-type]
        )
        return Made(
            summary=NewSummary(summary=summary, turns=edges),
            windows=written.windows,
            source_turn_ids=[turn.id for turn in cluster][:MAX_SOURCE_IDS],
        )

    def _describe_rollup(
        self, cluster: Sequence[Summary], written: WrittenSummary, prior: Sequence[Summary]
    ) -> Made:
        level = cluster[0].level + 1
        summary = Summary(
            id=UUID(summary_id(self.session_id, level, [str(child.id) for child in cluster])),
            session_id=self.session_id,
            namespace=cluster[0].namespace,
            level=level,
            turn_count=sum(child.turn_count for child in cluster),
            turn_tokens=sum(child.turn_tokens for child in cluster),
            first_position=cluster[0].first_position,
            last_position=max(child.last_position for child in cluster),
            earliest_at=min(child.earliest_at for child in cluster),
            latest_at=max(child.latest_at for child in cluster),
            prior_ids=[one.id for one in prior],
            **_quality_of(written),  # type: ignore[arg-type]
        )
        return Made(
            summary=NewSummary(summary=summary, children=[child.id for child in cluster]),
            windows=written.windows,
        )


def _quality_of(written: WrittenSummary) -> dict[str, object]:
    judged = written.judgement
    return {
        "body": written.text,
        "method": judged.method,
        "attempt": written.attempt,
        "backend": written.backend,
        "confidence": judged.confidence,
        "align": judged.quality.align,
        "cover": judged.quality.cover,
        "summary_tokens": written.tokens,
        "source_tokens": written.source_tokens,
    }


def _choose_neighbours(summaries: Sequence[Summary], *, before: int) -> list[Summary]:
    """The summaries just before a position that fit the prior context; the nearest, to be cut, if none does."""
    nearest = sorted(
        (one for one in summaries if one.last_position < before), key=lambda one: -one.last_position
    )[:NEIGHBOURS_READ]
    chosen = choose_prior((str(one.id), one.summary_tokens) for one in nearest)
    return [one for one in nearest if str(one.id) in chosen] or nearest[:1]


def _join_prior(prior: Sequence[Summary]) -> str:
    """What the neighbours say, within the prior context."""
    return clip_words("\n".join(one.body for one in prior), max_chars=PRIOR_CONTEXT_TOKENS * 4)


def _read_summary(child: Summary, vector: Vector) -> Source:
    passages, mentions = parse_summary(child.body, footer_label=FOOTER_LABEL)
    return Source(passages=passages, tokens=child.summary_tokens, vector=vector, mentions=mentions)


def _silence(turn: Turn) -> Shard:
    """A turn that its summary covers and does not quote; nothing of it is kept elsewhere."""
    return Shard(turn=turn, quote=turn.content)


def _without_rule(turn: Turn, shard: Shard | None) -> str:
    """What is left of a turn when the rule that is kept as guidance is taken out."""
    rest = turn.content
    for line in shard.quote.splitlines() if shard else ():
        rest = rest.replace(line, " ") if line.strip() else rest
    return rest.strip()
