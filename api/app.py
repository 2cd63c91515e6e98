"""The application: routes, errors, limits, and a documentation page that fetches nothing from outside."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline

from api.history_routes import router as history_router
from api.limits import BodyLimit
from api.problems import add_problem_handlers
from api.receipt_routes import router as receipt_router
from api.routes import router
from api.runtime import Runtime
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


def create_app(settings: Settings | None = None) -> FastAPI:
    """A new application over the given settings."""
    settings = settings or get_settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        configure_logging(settings.log_level)
        app.state.runtime = Runtime(settings)
        yield
        app.state.runtime.close()

    app: FastAPI = FastAPIOffline(
        title="Longtail", version=version("longtail"), description=DESCRIPTION, lifespan=lifespan
    )
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.include_router(router)
    app.include_router(history_router)
    app.include_router(receipt_router)
    add_problem_handlers(app)
    generate = app.openapi

    def with_problem() -> dict[str, Any]:
        document = generate()
        document.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM_SCHEMA
        return document

    app.openapi = with_problem  # type: ignore[method-assign]
    return app
