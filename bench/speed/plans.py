"""The plans of one assembly's statements, those inside its functions too, as the server runs them for the service's role.

The role is told to load `auto_explain` into its new connections; a real assembly then runs on such connections, and
the server tells the client each plan.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import sql
from sqlalchemy import event, make_url

from api.assemble.schemas import AssembleIn
from api.assemble.service import assemble_prompt
from api.runtime import Runtime
from api.stack.throwaway import ThrowawayStack
from models.settings import sqlalchemy_url

ROLE: Final = "longtail_api"
SUPERUSER: Final = "postgres"  # only one may say what others load
LINE_CHARS: Final = 160
TELLING: Final = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_buffers": "on",
    "client_min_messages": "log",
}


@contextmanager
def telling_plans(stack: ThrowawayStack) -> Iterator[None]:
    """New connections of the service's role tell the plan of whatever they run."""
    url = make_url(sqlalchemy_url(stack.owner_url)).set(drivername="postgresql", username=SUPERUSER)
    role = sql.Identifier(ROLE)
    with psycopg.connect(url.render_as_string(hide_password=False), autocommit=True) as connection:
        connection.execute("LOAD 'auto_explain'")  # so that its settings are known
        for name, value in TELLING.items():
            setting = sql.SQL(".").join(map(sql.Identifier, name.split(".")))
            connection.execute(sql.SQL("ALTER ROLE {} SET {} = {}").format(role, setting, sql.Literal(value)))
        try:
            yield
        finally:
            connection.execute(sql.SQL("ALTER ROLE {} RESET ALL").format(role))


def explain_assembly(stack: ThrowawayStack, request: AssembleIn) -> Sequence[str]:
    """The plans of all statements of one assembly, with their times and the pages they read."""
    told: list[str] = []

    def listen(driver: Any, _record: Any) -> None:
        driver.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))

    with telling_plans(stack):
        runtime = Runtime(stack.settings)
        event.listen(runtime.engine, "connect", listen)
        try:
            while runtime.encoder is None:
                time.sleep(0.05)
            caller = runtime.identify(stack.settings.client_token() or "")
            assemble_prompt(runtime, caller, request)  # the second one finds its statements planned
            told.clear()
            assemble_prompt(runtime, caller, request)
        finally:
            runtime.close()
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
