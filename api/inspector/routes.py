"""Every page of the Inspector."""

from typing import Final

from fastapi import APIRouter

from api.inspector.assets import router as assets_router
from api.inspector.entrance import router as entrance_router
from api.inspector.gate import router as gate_router
from api.inspector.overview import router as overview_router
from api.inspector.prompts import router as prompts_router
from api.inspector.rules import router as rules_router
from api.inspector.sessions import router as sessions_router
from api.inspector.strays import router as strays_router
from api.inspector.work import router as work_router

ROUTERS: Final[tuple[APIRouter, ...]] = (
    *(assets_router, entrance_router, overview_router, sessions_router, prompts_router),
    *(gate_router, rules_router, work_router),
    strays_router,  # last: it takes what nobody else does
)
