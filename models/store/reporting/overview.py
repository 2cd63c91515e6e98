"""Numbers of a tenant, or of what a token opens of it: by day, by stage, and how long things took."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What came in on one day (UTC), and what became of it."""

    day: date
    turns: int
    decided: int
    kept: int  # by the gate: new memories and confirmations
    memories: int  # new ones
    prompts: int  # with a receipt
    degraded: int  # of those, that lacked something


_DAYS = text("""
WITH window_start AS (SELECT date_trunc('day', now(), 'UTC') - make_interval(days => :days - 1) AS since),
said AS (
    SELECT date_trunc('day', accepted_at, 'UTC') AS day, count(*) AS turns FROM work, window_start
    WHERE tenant_id = :tenant_id AND kind = 'turn' AND accepted_at >= since GROUP BY 1
), gated AS (
    SELECT date_trunc('day', decided_at, 'UTC') AS day, count(*) AS decided, count(*) FILTER (WHERE keep) AS kept,
           count(*) FILTER (WHERE keep AND NOT is_reinforcement) AS memories
    FROM gate_decisions, window_start WHERE tenant_id = :tenant_id AND decided_at >= since GROUP BY 1
), made AS (
    SELECT date_trunc('day', made_at, 'UTC') AS day, count(*) AS prompts,
           count(*) FILTER (WHERE jsonb_array_length(receipt -> 'degraded') > 0) AS degraded
    FROM assemblies, window_start WHERE tenant_id = :tenant_id AND made_at >= since GROUP BY 1
)
SELECT (days.day AT TIME ZONE 'UTC')::date AS day, coalesce(turns, 0) AS turns, coalesce(decided, 0) AS decided,
       coalesce(kept, 0) AS kept, coalesce(memories, 0) AS memories, coalesce(prompts, 0) AS prompts,
       coalesce(degraded, 0) AS degraded
FROM window_start
CROSS JOIN LATERAL generate_series(since, now(), interval '1 day', 'UTC') AS days (day)
LEFT JOIN said ON said.day = days.day LEFT JOIN gated ON gated.day = days.day LEFT JOIN made ON made.day = days.day
ORDER BY days.day
""")


def count_days(connection: Connection, *, tenant_id: UUID, days: int) -> list[Day]:
    """The last days, oldest first, today included."""
    return [Day(**row._mapping) for row in connection.execute(_DAYS, {"tenant_id": tenant_id, "days": days})]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long things took in the last 24 hours, in seconds; None where nothing happened."""

    remembered_p50: float | None  # from accepted to searchable and gated
    remembered_p95: float | None
    prompt_p50: float | None
    prompt_p95: float | None


_PACE = text("""
SELECT lag.p50 AS remembered_p50, lag.p95 AS remembered_p95, made.p50 / 1000 AS prompt_p50, made.p95 / 1000 AS prompt_p95
FROM (
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM updated_at - accepted_at)) AS p50,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM updated_at - accepted_at)) AS p95
    FROM work WHERE tenant_id = :tenant_id AND stage = 'done' AND accepted_at >= now() - interval '24 hours'
) AS lag, (
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (receipt #>> '{timings_ms,total}')::double precision) AS p50,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY (receipt #>> '{timings_ms,total}')::double precision) AS p95
    FROM assemblies WHERE tenant_id = :tenant_id AND made_at >= now() - interval '24 hours'
) AS made
""")


def measure_pace(connection: Connection, *, tenant_id: UUID) -> Pace:
    """How quick the pipeline and the prompts were."""
    return Pace(**connection.execute(_PACE, {"tenant_id": tenant_id}).one()._mapping)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """What waits at one stage of the pipeline."""

    name: str
    waiting: int
    retrying: int  # of those, tried before
    lag_seconds: float


PENDING: Final = ("accepted", "ingested", "embedded")
_STAGES = text("""
SELECT stage AS name, count(*) AS waiting, count(*) FILTER (WHERE last_error IS NOT NULL) AS retrying,
       greatest(extract(epoch FROM clock_timestamp() - min(accepted_at)), 0)::double precision AS lag_seconds
FROM work WHERE tenant_id = :tenant_id AND stage IN ('accepted', 'ingested', 'embedded') GROUP BY stage
""")


def count_stages(connection: Connection, *, tenant_id: UUID) -> list[Stage]:
    """Every stage that turns wait at, in their order, empty ones too."""
    found = {row.name: Stage(**row._mapping) for row in connection.execute(_STAGES, {"tenant_id": tenant_id})}
    empty = {name: Stage(name=name, waiting=0, retrying=0, lag_seconds=0.0) for name in PENDING}
    return list((empty | found).values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """A row that failed and is tried again."""

    item_id: UUID
    kind: str
    stage: str
    attempts: int
    not_before: datetime
    last_error: str


def list_retries(connection: Connection, *, tenant_id: UUID, count: int) -> list[Retry]:
    """What failed at least once and waits for another attempt, the next one first."""
    rows = connection.execute(
        text(
            "SELECT item_id, kind, stage, attempts, not_before, last_error FROM work WHERE tenant_id = :tenant_id "
            "AND stage IN ('accepted', 'ingested', 'embedded') AND last_error IS NOT NULL "
            "ORDER BY not_before, item_id LIMIT :count"
        ),
        {"tenant_id": tenant_id, "count": count},
    )
    return [Retry(**row._mapping) for row in rows]
