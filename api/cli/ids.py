"""Ids that are typed: one that cannot be any is refused before anything is asked, with the command that shows them."""

from uuid import UUID

from models.errors import InvalidInput


def read_id(given: str, *, noun: str = "", remedy: str) -> UUID:
    """The id that was typed; `noun` says of what, where that helps.

    >>> read_id("7", noun="of a summary", remedy="'longtail history SESSION' shows them")
    Traceback (most recent call last):
    models.errors.InvalidInput: '7' is no id of a summary
    """
    try:
        return UUID(given)
    except ValueError as error:
        raise InvalidInput(f"'{given[:64]}' is no id{noun and ' '}{noun}", remedy=remedy) from error
