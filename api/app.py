"""The application: routes, errors, limits, and a documentation page that fetches nothing from outside."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi_offline import FastAPIOffline

from api.access.callers import KnownCallers
from api.assemble.routes import router as assemble_router
from api.compaction.routes import router as compaction_router
from api.documents.routes import router as documents_router
from api.feedback.routes import router as feedback_router
from api.guidance.routes import router as guidance_router
from api.idempotency import HEADER, MOST_KEY_CHARS, takes_key
from api.inspector.logins import Logins
from api.inspector.routes import ROUTERS as INSPECTOR_ROUTERS
from api.inspector.visitors import has_login
from api.journal.routes import router as journal_router
from api.lineage.routes import router as lineage_router
from api.memories.routes import router as memories_router
from api.middleware.bodies import BodyLimit
from api.middleware.lanes import Lanes
from api.middleware.rates import RateLimit, RateLimiter
from api.middleware.timing import Timing
from api.namespaces.routes import router as namespaces_router
from api.profile.routes import router as profile_router
from api.receipts.routes import router as receipts_router
from api.routing.parameters import refuse_unknown_parameters
from api.routing.problems import add_problem_handlers
from api.rpc.dispatcher import Dispatcher
from api.rpc.lines import LineServer
from api.rpc.methods.registry import METHODS
from api.rpc.routes import router as rpc_router
from api.runtime import Runtime
from api.search.routes import router as search_router
from api.sessions.routes import router as sessions_router
from api.status.metrics import router as metrics_router
from api.status.routes import router as status_router
from api.summaries.routes import router as summaries_router
from api.tokens.routes import router as tokens_router
from api.transfer.routes import router as transfer_router
from api.turns.routes import router as turns_router
from models.logs import configure_logging
from models.meters import Tally
from models.settings import Settings, get_settings

DESCRIPTION = "Memory for long-running agents: every turn kept, every prompt within its budget."
# FastAPI's own would send paths, which hold names of sessions, and messages of errors; ours tells neither (decision 44).
NO_TELEMETRY: dict[str, bool] = dict.fromkeys(
    ("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False
)
PROBLEM_SCHEMA: dict[str, Any] = {
    "title": "Problem",
    "description": "RFC 9457 problem details.",
    "type": "object",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "Stable; what a program should look at."},
        "detail": {"type": "string"},
        "field": {"type": "string"},
        "remedy": {"type": "string"},
    },
}


ROUTERS = (
    turns_router,
    assemble_router,
    search_router,
    documents_router,
    feedback_router,
    status_router,
    compaction_router,
    summaries_router,
    journal_router,
    lineage_router,
    memories_router,
    guidance_router,
    profile_router,
    sessions_router,
    namespaces_router,
    transfer_router,
    tokens_router,
    rpc_router,
    receipts_router,
    metrics_router,
    *INSPECTOR_ROUTERS,
)
KEY_PARAMETER: dict[str, Any] = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": "A call sent again with the same key and the same content gets the first answer again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MOST_KEY_CHARS, "pattern": "^[!-~]+$"},
}


def create_app(settings: Settings | None = None) -> FastAPI:
    """A new application over the given settings."""
    settings = settings or get_settings()
    tally = Tally()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        configure_logging(settings.log_level)
        app.state.runtime = Runtime(settings, tally)
        limiter = None
        if settings.rate_limit_per_second > 0:
            limiter = RateLimiter(per_second=settings.rate_limit_per_second, burst=settings.rate_limit_burst)
        app.state.dispatcher = Dispatcher(
            app.state.runtime, METHODS, limiter=limiter, most_values=settings.max_body_values
        )
        lines = LineServer(settings, app.state.dispatcher, is_ready=app.state.runtime.is_settled)
        await lines.start()
        yield
        await lines.stop()
        app.state.runtime.close()

    app: FastAPI = FastAPIOffline(
        title="Longtail",
        version=version("longtail"),
        description=DESCRIPTION,
        lifespan=lifespan,
        dependencies=[Depends(refuse_unknown_parameters)],
        telemetry=NO_TELEMETRY,
    )
    app.state.logins = Logins()
    # The last one added is passed first: how often, who, how much, and then a place in a lane.
    app.add_middleware(Lanes)
    app.add_middleware(
        BodyLimit,
        max_bytes=settings.max_body_bytes,
        max_values=settings.max_body_values,
        streamed=frozenset({"/v1/import"}),
    )
    app.add_middleware(KnownCallers, is_visitor=has_login)
    if settings.rate_limit_per_second > 0:
        app.add_middleware(
            RateLimit, per_second=settings.rate_limit_per_second, burst=settings.rate_limit_burst
        )
    app.add_middleware(Timing, tally=tally)
    for part in ROUTERS:
        app.include_router(part)
    routes = [route for part in ROUTERS for route in part.routes if isinstance(route, APIRoute)]
    add_problem_handlers(app, routes)
    generate = app.openapi

    def with_problem() -> dict[str, Any]:
        document = generate()
        document.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM_SCHEMA
        _name_keys(routes, document)
        return document

    app.openapi = with_problem  # type: ignore[method-assign]
    return app


def _name_keys(routes: Sequence[APIRoute], document: dict[str, Any]) -> None:
    """Every write that keeps its answer says that it takes an idempotency key."""
    for route in routes:
        if takes_key(route):
            for method in route.methods or ():
                operation = document["paths"][route.path_format][method.lower()]
                named = operation.setdefault("parameters", [])
                if KEY_PARAMETER not in named:
                    named.append(KEY_PARAMETER)
