"""Work: what waits, what is tried again, what was given up and why, and what runs on a clock."""

from typing import Final
from uuid import UUID

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from api.access.decisions import RuntimeOf
from api.inspector.pages import ROOT, PageRoute, render
from api.inspector.visitors import Form, Operating, Visiting
from api.status.service import replay_dead_letters
from models.schedule import list_ticks
from models.store.reporting.overview import count_stages, list_retries
from models.store.reporting.runs import list_runs
from models.store.work import count_dead_letters, list_dead_letters

router = APIRouter(route_class=PageRoute, include_in_schema=False)
ROWS_LISTED: Final = 100


@router.get(ROOT + "/work")
def get_work(runtime: RuntimeOf, visitor: Visiting) -> Response:
    """The pipeline, its failures, and the schedule."""
    tenant_id = visitor.caller.tenant_id
    with runtime.transaction(visitor.caller) as connection:
        stages = count_stages(connection, tenant_id=tenant_id)
        retries = list_retries(connection, tenant_id=tenant_id, count=ROWS_LISTED)
        dead = list_dead_letters(connection, tenant_id=tenant_id, count=ROWS_LISTED)
        dead_count = count_dead_letters(connection, tenant_id=tenant_id)
        runs = list_runs(connection)
    return render(
        "work.html",
        view="work",
        visitor=visitor,
        stages=stages,
        retries=retries,
        dead=dead,
        dead_count=dead_count,
        most_attempts=runtime.settings.max_attempts,
        ticks=[(tick, runs.get(tick.task)) for tick in list_ticks(runtime.settings)],
    )


@router.post(ROOT + "/dead-letters/{item_id}/replay")
def post_replay(item_id: UUID, runtime: RuntimeOf, visitor: Operating, _form: Form) -> Response:
    """Give one row to the workers again."""
    replay_dead_letters(runtime, visitor.caller, item_id)
    return RedirectResponse(f"{ROOT}/work#dead", status_code=303)


@router.post(ROOT + "/dead-letters/replay")
def post_replay_all(runtime: RuntimeOf, visitor: Operating, _form: Form) -> Response:
    """Give all of them to the workers again."""
    replay_dead_letters(runtime, visitor.caller, None)
    return RedirectResponse(f"{ROOT}/work#dead", status_code=303)
