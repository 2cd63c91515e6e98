"""Which requests come from a web page that has no business here: the proxy asks for no token, and browsers have many pages.

A page anywhere on the web can make its visitor's browser send requests to loopback, and can have a name of its own point
there, so that it reads the answers too. Browsers say where a request comes from (`Origin`) and to which name it was
sent (`Host`).
"""

from urllib.parse import urlsplit

from models.settings import is_loopback


def find_foreign(host: str, origin: str | None, *, is_public: bool) -> str | None:
    """What is wrong with where a request comes from; None where it may go on.

    `is_public`: it is reached by other names than those of this machine, as behind a proxy with TLS.

    >>> find_foreign("127.0.0.1:8766", None, is_public=False), find_foreign("localhost", "app://notes", is_public=False)
    (None, None)
    >>> find_foreign("evil.example:8766", None, is_public=False)
    "it was sent to 'evil.example', which is no name of this machine"
    >>> find_foreign("127.0.0.1:8766", "https://evil.example", is_public=False)
    "it was sent by a page of 'https://evil.example'"
    """
    name = _host_of(f"//{host}")
    if not (is_public or _is_here(name)):
        return f"it was sent to '{name[:80]}', which is no name of this machine"
    if origin is None or (origin != "null" and not origin.lower().startswith(("http://", "https://"))):
        return None  # a program, or a desktop application's own pages
    its = _host_of(origin)
    return None if its and (its == name or _is_here(its)) else f"it was sent by a page of '{origin[:80]}'"


def _host_of(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_here(name: str) -> bool:
    return is_loopback(name) or name.endswith(".localhost")
