"""Style, script and mark of the pages, from the package; nothing is fetched from elsewhere."""

import hashlib
from importlib import resources
from typing import Final

from fastapi import APIRouter, Request, Response

from api.inspector.pages import ROOT, PageRoute
from models.errors import NotFound

TYPES: Final = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
ASSETS: Final = {
    entry.name: entry.read_bytes() for entry in resources.files("api.inspector").joinpath("static").iterdir()
}
router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get(ROOT + "/static/{name}")
async def get_asset(name: str, request: Request) -> Response:
    """One file; a browser that has it already is told so."""
    if name not in ASSETS:
        raise NotFound(f"there is no asset '{name[:64]}'")
    tag = f'"{hashlib.sha256(ASSETS[name]).hexdigest()[:16]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    media_type = TYPES[name.rsplit(".", 1)[-1]]
    return Response(ASSETS[name], media_type=media_type, headers=headers)
