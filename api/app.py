"""The application: routes, errors, limits, and a documentation page that fetches nothing from outside."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi_offline import FastAPIOffline

from api.history_routes import router as history_router
from api.idempotency import HEADER, MOST_KEY_CHARS, takes_key
from api.limits import BodyLimit
from api.memory_routes import router as memory_router
from api.metrics_routes import router as metrics_router
from api.place_routes import router as place_router
from api.problems import add_problem_handlers
from api.rates import RateLimit, RateLimiter
from api.receipt_routes import router as receipt_router
from api.routes import router
from api.rpc.dispatcher import Dispatcher
from api.rpc.lines import LineServer
from api.rpc.methods import METHODS
from api.rpc.routes import router as rpc_router
from api.runtime import Runtime
from api.transfer_routes import router as transfer_router
from models.logs import configure_logging
from models.settings import Settings, get_settings

DESCRIPTION = "Memory for long-running agents: every turn kept, every prompt within its budget."
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
    *(router, history_router, memory_router, place_router, transfer_router),
    *(rpc_router, receipt_router, metrics_router),
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

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        configure_logging(settings.log_level)
        app.state.runtime = Runtime(settings)
        limiter = None
        if settings.rate_limit_per_second > 0:
            limiter = RateLimiter(per_second=settings.rate_limit_per_second, burst=settings.rate_limit_burst)
        app.state.dispatcher = Dispatcher(app.state.runtime, METHODS, limiter=limiter)
        lines = LineServer(settings, app.state.dispatcher)
        await lines.start()
        yield
        await lines.stop()
        app.state.runtime.close()

    app: FastAPI = FastAPIOffline(
        title="Longtail", version=version("longtail"), description=DESCRIPTION, lifespan=lifespan
    )
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes, streamed=frozenset({"/v1/import"}))
    if settings.rate_limit_per_second > 0:
        app.add_middleware(
            RateLimit, per_second=settings.rate_limit_per_second, burst=settings.rate_limit_burst
        )
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
