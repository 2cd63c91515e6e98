"""Who looks at a page: the login behind the cookie, and what its token may do, as `api/access/decisions.py` decides."""

import hmac
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import parse_qsl, urlsplit

from fastapi import Depends, Request
from starlette.types import Scope

from api.access.decisions import RuntimeOf, identify_token
from api.inspector.logins import Login, Logins
from models.errors import DatabaseUnavailable, Forbidden, InvalidInput, ServiceError, Unauthorized
from models.store.tenancy.tokens import Caller

COOKIE: Final = "longtail_inspector"
MOST_FIELDS: Final = 50


class LoginNeeded(ServiceError):
    """Nobody is logged in here."""

    code = "unauthorized"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Whoever is logged in: what the token opens, and the word their forms carry."""

    caller: Caller
    form_key: str

    def may(self, scope: str) -> bool:
        """Whether the token has a scope: what it has not, pages do not offer."""
        return scope in self.caller.scopes

    @property
    def sees(self) -> str:
        """What the token opens, in words."""
        if self.caller.namespaces is None:
            return "whole tenant"
        return ", ".join(sorted(self.caller.namespaces))


def logins_of(request: Request) -> Logins:
    """The logins of this process."""
    found: Logins = request.app.state.logins
    return found


def has_login(scope: Scope) -> bool:
    """Whether the request carries the cookie of a login of ours."""
    try:
        _find_login(Request(scope))
    except LoginNeeded:
        return False
    return True


def _find_login(request: Request) -> Login:
    key = request.cookies.get(COOKIE)
    login = logins_of(request).find(key) if key else None
    if login is None:
        raise LoginNeeded("nobody is logged in")
    return login


async def visit(request: Request, runtime: RuntimeOf) -> Visitor:
    """A visitor who may read. While PostgreSQL is away, one whom this process knows still sees what it can show."""
    login = _find_login(request)
    try:
        caller = await identify_token(runtime, login.token, "read")
    except Unauthorized as error:
        raise LoginNeeded("the token was revoked") from error
    except DatabaseUnavailable:
        known = runtime.recall_caller(login.token)
        if known is None:
            raise
        caller = known
    return _welcome(request, caller, login)


def _welcome(request: Request, caller: Caller, login: Login) -> Visitor:
    """The visitor, also for the page that shows an error."""
    request.state.visitor = Visitor(caller=caller, form_key=login.form_key)
    found: Visitor = request.state.visitor
    return found


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form that came from a page of ours; anything else is refused."""
    check_origin(request)
    try:
        body = (await request.body()).decode()
        return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"))
    except ValueError as error:
        raise InvalidInput("the form cannot be read", remedy="send it from the page") from error


def check_origin(request: Request) -> None:
    """Refuse a form that another site sent."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    is_ours = origin is None or urlsplit(origin).netloc == request.headers.get("host")
    if site is not None:
        is_ours = site in {"same-origin", "none"}
    if not is_ours:
        raise Forbidden("the form came from another site", remedy="use the Inspector's own pages")


Visiting = Annotated[Visitor, Depends(visit)]
Form = Annotated[dict[str, str], Depends(read_form)]


def _acting(scope: str) -> object:
    async def act(request: Request, runtime: RuntimeOf, form: Form) -> Visitor:
        login = _find_login(request)
        if not hmac.compare_digest(form.get("form_key", "").encode(), login.form_key.encode()):
            raise Forbidden("the form is not from this login", remedy="reload the page and try again")
        return _welcome(request, await identify_token(runtime, login.token, scope), login)

    return Depends(act)


Replaying = Annotated[Visitor, _acting("read")]
Writing = Annotated[Visitor, _acting("write")]
Operating = Annotated[Visitor, _acting("admin")]
