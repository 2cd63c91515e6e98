"""Logging in with a token, and out again."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from api.access.decisions import RuntimeOf, identify_token
from api.inspector.pages import ROOT, PageRoute, render
from api.inspector.visitors import COOKIE, Form, Replaying, logins_of
from models.errors import Forbidden, Unauthorized

router = APIRouter(route_class=PageRoute, include_in_schema=False)
MOST_TOKEN_CHARS: Final = 4096


@router.get(ROOT + "/login")
async def get_login(next: Annotated[str, Query()] = ROOT) -> Response:
    """The form that asks for a token."""
    return render("login.html", target=_stay_here(next), problem=None)


@router.post(ROOT + "/login")
async def post_login(request: Request, runtime: RuntimeOf, form: Form) -> Response:
    """A login, if the token may read; the cookie holds a random id, which no script can read."""
    target = _stay_here(form.get("next", ROOT))
    token = form.get("token", "").strip()[:MOST_TOKEN_CHARS]
    try:
        await identify_token(runtime, token, "read")
    except (Unauthorized, Forbidden) as error:
        return render("login.html", http_status=401, target=target, problem=error.detail)
    response = RedirectResponse(target, status_code=303)
    response.set_cookie(
        COOKIE,
        logins_of(request).open(token),
        path=ROOT,
        httponly=True,
        samesite="strict",
        secure=_came_by_tls(request),
    )
    return response


@router.post(ROOT + "/logout")
async def post_logout(request: Request, _visitor: Replaying) -> Response:
    """The login ends here and in the browser."""
    logins_of(request).close(request.cookies.get(COOKIE, ""))
    response = RedirectResponse(f"{ROOT}/login", status_code=303)
    response.delete_cookie(COOKIE, path=ROOT, httponly=True, samesite="strict")
    return response


def _came_by_tls(request: Request) -> bool:
    """Whether the browser speaks https: to us, or to the proxy before us, as the form's origin says."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")


def _stay_here(target: str) -> str:
    """A page of ours, whatever the address said."""
    is_ours = target == ROOT or target.startswith((f"{ROOT}/", f"{ROOT}?"))
    return target if is_ours and "\\" not in target and "//" not in target.split("?", 1)[0] else ROOT
