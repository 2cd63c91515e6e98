"""Addresses that lead nowhere: a page says so."""

from fastapi import APIRouter, Response

from api.inspector.pages import ROOT, PageRoute
from api.inspector.visitors import Visiting
from models.errors import NotFound

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get(ROOT + "/{path:path}")
async def get_nothing(path: str, _visitor: Visiting) -> Response:
    """Every other address below the Inspector's."""
    raise NotFound(f"there is no page '{path[:80]}'", remedy="choose one of the views above")
