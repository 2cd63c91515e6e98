"""The first page: whether all is well, how much there is, how quick it is, how it grows."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, Response

from api.access.decisions import RuntimeOf
from api.inspector.charts import Part
from api.inspector.pages import ROOT, PageRoute, render, try_to_read
from api.inspector.visitors import Visiting
from api.runtime import Runtime
from api.status.service import check_parts, read_status
from models.messages import SWEEP
from models.store.engine import plain_transaction, tenant_transaction
from models.store.reporting.overview import Day, Pace, Stage, count_days, count_stages, measure_pace
from models.store.reporting.runs import list_runs
from models.store.tenancy.tokens import Caller

router = APIRouter(route_class=PageRoute, include_in_schema=False)
DAYS: Final = 14
COUNT_TIMEOUT_MS: Final = 2000
PARTS: Final = {"postgres": "PostgreSQL", "encoder": "Encoder", "redis": "Redis"}
LATE_SWEEPS: Final = 4  # a sweep that has not run for so many of its periods: no worker serves it


@router.get(ROOT)
def get_overview(runtime: RuntimeOf, visitor: Visiting) -> Response:
    """Health, counts, pace and growth."""
    caller = visitor.caller
    days = try_to_read(lambda: _read_days(runtime, caller))
    return render(
        "overview.html",
        view="overview",
        visitor=visitor,
        parts=_name_parts(runtime),
        uptime_seconds=runtime.uptime_seconds(),
        status=try_to_read(lambda: read_status(runtime, caller, counts=False, timeout_ms=COUNT_TIMEOUT_MS)),
        kept=try_to_read(lambda: _count_kept(runtime, caller)),
        stages=try_to_read(lambda: _read_stages(runtime, caller)),
        pace=try_to_read(lambda: _read_pace(runtime, caller)),
        days=days,
        totals=_sum_days(days) if isinstance(days, list) else None,
        series=_draw_days(days) if isinstance(days, list) else None,
    )


def _name_parts(runtime: Runtime) -> list[tuple[str, str]]:
    parts = [(PARTS[name], state) for name, state in sorted(check_parts(runtime).items())]
    return [*parts, ("Workers", try_to_read(lambda: _check_workers(runtime)))]


def _check_workers(runtime: Runtime) -> str:
    """The sweep runs every few seconds: when it last did says whether beat and workers are there."""
    with plain_transaction(runtime.engine, timeout_ms=1000) as connection:
        last = list_runs(connection).get(SWEEP)
    if last is None:
        return "no scheduled task has run yet"
    age = (datetime.now(UTC) - last.began_at).total_seconds()
    if age > LATE_SWEEPS * runtime.settings.sweep_seconds + 60:
        return f"the sweep last ran {age:.0f} s ago; it is due every {runtime.settings.sweep_seconds:g} s"
    return "ok"


def _count_kept(runtime: Runtime, caller: Caller) -> dict[str, int] | None:
    return read_status(runtime, caller, counts=True, timeout_ms=COUNT_TIMEOUT_MS).counts


def _read_days(runtime: Runtime, caller: Caller) -> list[Day]:
    with tenant_transaction(runtime.engine, caller, timeout_ms=COUNT_TIMEOUT_MS) as connection:
        return count_days(connection, tenant_id=caller.tenant_id, days=DAYS)


def _read_stages(runtime: Runtime, caller: Caller) -> list[Stage]:
    with tenant_transaction(runtime.engine, caller, timeout_ms=COUNT_TIMEOUT_MS) as connection:
        return count_stages(connection, tenant_id=caller.tenant_id)


def _read_pace(runtime: Runtime, caller: Caller) -> Pace:
    with tenant_transaction(runtime.engine, caller, timeout_ms=COUNT_TIMEOUT_MS) as connection:
        return measure_pace(connection, tenant_id=caller.tenant_id)


def _sum_days(days: list[Day]) -> dict[str, Any]:
    """Over all days: what the gate kept of what it decided, and which share of prompts lacked something."""
    sums = {
        name: sum(asdict(day)[name] for day in days) for name in ("decided", "kept", "prompts", "degraded")
    }
    return sums | {
        "keep_rate": sums["kept"] / sums["decided"] if sums["decided"] else None,
        "degraded_share": sums["degraded"] / sums["prompts"] if sums["prompts"] else None,
    }


def _draw_days(days: list[Day]) -> list[dict[str, Any]]:
    """The small charts: a title, what it says in one number, and a column a day."""
    drawn: list[dict[str, Any]] = []
    for title, name in (("Turns", "turns"), ("New memories", "memories"), ("Prompts", "prompts")):
        values = [(day.day, getattr(day, name)) for day in days]
        points = [Part(f"{day:%d %b}: {value:,}", value) for day, value in values]
        drawn.append(
            {"title": title, "sum": sum(value for _, value in values), "points": points, "top": None}
        )
    rates = [(day.day, day.kept, day.decided) for day in days]
    points = [
        Part(f"{day:%d %b}: {kept} of {decided} kept", kept / decided if decided else 0)
        for day, kept, decided in rates
    ]
    drawn.append({"title": "Gate keep rate", "sum": None, "points": points, "top": 1.0})
    return drawn
