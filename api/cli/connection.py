"""How every command reaches the API."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.client import ServiceClient

REACH_SECONDS = 1.0  # with the last attempt, nothing typed is silent for more than two


def open_client(*, retry_seconds: float = 30.0) -> "ServiceClient":
    """A client for this machine's settings; where nothing runs, it says so at once."""
    from api.client import ServiceClient
    from models.settings import get_settings

    return ServiceClient.from_settings(
        get_settings(), retry_seconds=retry_seconds, reach_seconds=min(REACH_SECONDS, retry_seconds)
    )


def walk_pages(ask: Callable[[str | None], dict[str, Any]], key: str) -> Iterator[Any]:
    """The rows of a list that comes in pages, each page asked for when it is wanted."""
    cursor: str | None = None
    while True:
        page = ask(cursor)
        yield from page[key]
        cursor = page["next_cursor"]
        if cursor is None:
            return
