"""Pages: templates that escape everything, headers that let nothing foreign in, and errors in words."""

from collections.abc import Callable, Coroutine
from importlib.metadata import version
from typing import Any, Final, TypeVar
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined

from api.inspector import charts, wording
from api.inspector.visitors import LoginNeeded
from api.routing.problems import STATUS_OF_ERROR
from models.errors import DeadlineExceeded, ServiceError, TransientError

Found = TypeVar("Found")
ROOT: Final = "/inspector"
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
VIEWS: Final = (
    ("overview", "Overview", ROOT),
    ("sessions", "Sessions", f"{ROOT}/sessions"),
    ("prompt", "Prompt", f"{ROOT}/prompt"),
    ("gate", "Gate", f"{ROOT}/gate"),
    ("rules", "Rules", f"{ROOT}/rules"),
    ("work", "Work", f"{ROOT}/work"),
)

_templates = Environment(
    loader=PackageLoader("api.inspector", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.globals.update(charts=charts, views=VIEWS, root=ROOT, version=version("longtail"))
_templates.filters.update(wording.FILTERS)


def render(template: str, *, http_status: int = 200, **values: Any) -> HTMLResponse:
    """A page or a part of one."""
    values.setdefault("visitor", None)
    values.setdefault("view", None)
    return HTMLResponse(_templates.get_template(template).render(**values), status_code=http_status)


def try_to_read(read: Callable[[], Found]) -> Found | str:
    """What was read, or why it could not be: one slow number leaves the rest of a page standing."""
    try:
        return read()
    except DeadlineExceeded:
        return "there is too much to count in the time a page has; 'longtail report' takes longer"
    except TransientError as error:
        return error.detail


class PageRoute(APIRoute):
    """A route that answers people: every error is a page, whoever is not logged in is sent to the login."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            response: Response
            try:
                response = await handle(request)
            except LoginNeeded:
                response = _send_to_login(request)
            except ServiceError as error:
                status = next(status for kind, status in STATUS_OF_ERROR if isinstance(error, kind))
                response = render_problem(request, status, error.detail, error.remedy)
            except RequestValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"][1:])
                response = render_problem(
                    request, 422, f"{where}: {first['msg']}", "correct it and try again"
                )
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        return answer


def render_problem(request: Request, status: int, detail: str, remedy: str | None) -> HTMLResponse:
    """An error as a page, or as a part where a part was asked for."""
    return render(
        "problem.html",
        http_status=status,
        problem={"status": status, "detail": detail, "remedy": remedy},
        is_part=_wants_part(request),
        visitor=getattr(request.state, "visitor", None),
    )


def _wants_part(request: Request) -> bool:
    return request.headers.get("x-part") == "1"


def _send_to_login(request: Request) -> Response:
    if _wants_part(request):
        return render_problem(request, 401, "you are logged out", "reload the page and log in")
    target = f"{ROOT}/login"
    if request.method == "GET" and request.url.path != ROOT:
        asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        target += f"?next={quote(asked, safe='')}"
    return RedirectResponse(target, status_code=303)
