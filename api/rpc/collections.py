"""Collection names of the older daemon, as places in our tables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import AfterValidator

from api.routing.schemas import Name, refuse
from models.domain.records import GLOBAL_NAMESPACE
from models.errors import InvalidInput
from models.store.collections.views import View
from models.tables import MAX_NAME_LENGTH

TIER_OF_AUTHORED: Final = {"authored:hard": 1, "authored:soft": 2, "authored:variant": 0}
# The longest prefix decides: `session_raw:` is not `session:`.
VIEW_OF_PREFIX: Final[dict[str, View]] = {
    "session": "active",
    "session_raw": "raw",
    "session_summary": "summaries",
    "turns": "turns",
    "user": "memories",
}
# Nobody's own: rules and lore live there, and what all users share has a name of its own.
CLOSED_NAMESPACES: Final = ("authored:", "elevated:", GLOBAL_NAMESPACE)
OF_A_SESSION: Final = frozenset({"session_recall", "session_edge", "session_state"})
OF_A_NAMESPACE: Final = frozenset({"dream"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a collection lies: what is looked at, and of which session or namespace."""

    collection: str
    view: View
    session_id: str | None = None
    namespace: str | None = None
    tier: int | None = None

    @property
    def is_derived(self) -> bool:
        """Whether its rows are made by the service alone, so that no client puts any in."""
        return self.view in ("raw", "summaries", "authored")


def find_place(collection: str) -> Place:
    """The place a name means; any other name is a collection of the client's own.

    >>> find_place("user:session-key:main").namespace, find_place("global").namespace
    ('session-key:main', 'global')
    >>> find_place("notes").view
    'own'
    """
    if len(collection) > MAX_NAME_LENGTH:
        raise InvalidInput(
            f"the collection's name has {len(collection)} characters; it may have {MAX_NAME_LENGTH}",
            field="collection",
            remedy="use shorter ids",
        )
    if collection == GLOBAL_NAMESPACE:
        return Place(collection=collection, view="memories", namespace=GLOBAL_NAMESPACE)
    prefix, _, rest = collection.partition(":")
    if prefix == "authored":
        if collection not in TIER_OF_AUTHORED:
            known = ", ".join(TIER_OF_AUTHORED)
            raise InvalidInput(
                f"there is no collection '{collection[:64]}'",
                code="unknown_value",
                field="collection",
                remedy=f"use one of {known}",
            )
        return Place(collection=collection, view="authored", tier=TIER_OF_AUTHORED[collection])
    if prefix == "elevated":
        kind, _, key = rest.partition(":")
        if kind not in ("user", "session") or not key:
            raise InvalidInput(
                f"there is no collection '{collection[:64]}'",
                code="unknown_value",
                field="collection",
                remedy="use elevated:user:<namespace> or elevated:session:<id>",
            )
        is_user = kind == "user"
        if is_user:
            _check_namespace(key)
        return Place(
            collection=collection,
            view="guidance",
            namespace=key if is_user else None,
            session_id=None if is_user else key,
        )
    if prefix in VIEW_OF_PREFIX or prefix in OF_A_SESSION or prefix in OF_A_NAMESPACE:
        if not rest:
            raise InvalidInput(
                f"'{collection}' names nobody",
                code="empty_text",
                field="collection",
                remedy=f"write {prefix}:<id>",
            )
        view = VIEW_OF_PREFIX.get(prefix, "own")
        is_session = prefix.startswith("session")
        if not is_session:
            _check_namespace(rest)
        return Place(
            collection=collection,
            view=view,
            session_id=rest if is_session else None,
            namespace=None if is_session else rest,
        )
    return Place(collection=collection, view="own")


def _check_namespace(namespace: str) -> str:
    for closed in CLOSED_NAMESPACES:
        if namespace.startswith(closed):
            raise InvalidInput(
                f"no user's memory is called '{closed}…'",
                code="reserved_name",
                field="collection",
                remedy="choose another user id",
            )
    return namespace


def _as_validator(check: Callable[[str], object]) -> AfterValidator:
    """The check as a model of parameters wants it: its code and remedy travel with the error."""

    def validate(text: str) -> str:
        try:
            check(text)
        except InvalidInput as error:
            raise refuse(error.code, error.detail, error.remedy or "") from error
        return text

    return AfterValidator(validate)


Collection = Annotated[Name, _as_validator(find_place)]
Namespace = Annotated[Name, _as_validator(_check_namespace)]  # a user id, session-key:<key>, agent-id:<id> …
