"""The plans of one assembly's statements, those inside its functions too, as the server runs them for the service's role.

The statements are noted while a real assembly runs, then sent again on a connection whose `auto_explain` tells each plan
to the client.
"""

import time
from collections.abc import Sequence
from typing import Any, Final
from unittest.mock import patch
from uuid import UUID

import psycopg
from pgvector.psycopg import register_vector
from sqlalchemy import make_url

from api.assembling import assemble_prompt
from api.runtime import Runtime
from api.schemas import AssembleIn
from api.stack.throwaway import ThrowawayStack
from models.settings import sqlalchemy_url
from models.store.engine import GRAPH_BREADTH, Cursors

ROLE: Final = "longtail_api"
SUPERUSER: Final = "postgres"  # only one may load auto_explain
_PREPARE: Final = (
    "LOAD 'auto_explain'",
    "SET auto_explain.log_min_duration = 0",
    "SET auto_explain.log_nested_statements = on",
    "SET auto_explain.log_analyze = on",
    "SET auto_explain.log_buffers = on",
    "SET client_min_messages = log",
    "SET search_path = longtail, public",
    "SET plan_cache_mode = force_generic_plan",
    f"SET hnsw.ef_search = {GRAPH_BREADTH}",
    "SET hnsw.iterative_scan = relaxed_order",
)
LINE_CHARS: Final = 160
Statement = tuple[str, dict[str, Any]]


def record_statements(stack: ThrowawayStack, request: AssembleIn) -> tuple[UUID, list[Statement]]:
    """What one assembly sends, in order."""
    runtime = Runtime(stack.settings)
    try:
        while runtime.encoder is None:
            time.sleep(0.05)
        caller = runtime.identify(stack.settings.client_token() or "")
        sent: list[Statement] = []
        send = Cursors.send

        def note(self: Cursors, statement: str, parameters: Any, **options: Any) -> Any:
            sent.append((statement, dict(parameters)))
            return send(self, statement, parameters, **options)

        with patch.object(Cursors, "send", note):
            assemble_prompt(runtime, caller, request)
        return caller.tenant_id, sent
    finally:
        runtime.close()


def explain_assembly(stack: ThrowawayStack, request: AssembleIn) -> Sequence[str]:
    """The plans of all statements of one assembly, with their times and the pages they read."""
    tenant_id, statements = record_statements(stack, request)
    url = make_url(sqlalchemy_url(stack.owner_url)).set(drivername="postgresql", username=SUPERUSER)
    told: list[str] = []
    with psycopg.connect(url.render_as_string(hide_password=False)) as connection:
        register_vector(connection)
        for statement in _PREPARE:
            connection.execute(statement)
        connection.execute(f"SET ROLE {ROLE}")
        connection.execute("SELECT set_config('longtail.tenant_id', %s, true)", (str(tenant_id),))
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
        for sql, parameters in statements:
            connection.execute(sql, parameters, prepare=True)
    return [_shorten(plan) for plan in told if "Query Text:" in plan and "set_config(" not in plan]


def render_plans(plans: Sequence[str], *, memories: int) -> str:
    """The plans as a page."""
    head = (
        f"# Query plans of one assembly, {memories:,} memories\n\n"
        "Written by `longtail bench scale --plans FILE`: every statement of one `POST /v1/assemble`, those inside\n"
        "functions too, in the order in which they ended, as the service's role runs them. What is read from end to end\n"
        "holds a few rows.\n"
    )
    return head + "".join(f"\n```text\n{plan}\n```\n" for plan in plans)


def _shorten(plan: str) -> str:
    """A plan without the numbers of a vector and the ids of rows, which fill pages, and without our margins."""
    lines = (line.rstrip() for line in plan.splitlines() if not line.startswith("Query Parameters:"))
    return "\n".join(line if len(line) <= LINE_CHARS else line[:LINE_CHARS] + " …" for line in lines if line)
