"""Ids that are typed: one that cannot be any is refused before anything is asked, with the command that shows them."""

from uuid import UUID

from models.errors import InvalidInput


def read_id(given: str, *, noun: str = "", remedy: str) -> UUID:
    """The id that was typed; `noun` says of what, where that helps.

    >>> read_id("01a1f045-4deb-7e2a-8859-7e528249ac71", remedy="'longtail memories list' shows the ids").version
    7
    """
    try:
        return UUID(given)
    except ValueError as error:
        raise InvalidInput(f"'{given[:64]}' is no id{noun and ' '}{noun}", remedy=remedy) from error
