"""Whether a caller may look into a collection or put something in, and which rows it then means."""

from sqlalchemy import Connection

from api.access.decisions import check_namespace, check_whole_tenant
from api.rpc.collections import Place, find_place
from api.rpc.dispatcher import Call
from models.domain.records import GLOBAL_NAMESPACE, Identity
from models.store.collections.views import Scope
from models.store.conversation import sessions
from models.store.documents import bindings_of


def open_for_reading(connection: Connection, call: Call, collection: str) -> Scope:
    """The rows of a collection, if the caller's token opens them."""
    place = find_place(collection)
    own = call.caller.namespace
    if place.namespace not in (None, GLOBAL_NAMESPACE):
        check_namespace(call.caller, place.namespace or "")
    elif place.session_id is not None:
        find_home(connection, place.session_id)
    elif place.view == "own":
        check_whole_tenant(call.caller)  # a collection of the client's own, of nobody in particular
    return to_scope(place, user_id=own)


def open_for_writing(connection: Connection, call: Call, collection: str) -> Place:
    """A collection the caller may put something into."""
    place = find_place(collection)
    if place.namespace == GLOBAL_NAMESPACE:
        check_namespace(call.caller, GLOBAL_NAMESPACE)
    open_for_reading(connection, call, collection)
    return place


def find_home(connection: Connection, session_id: str, identity: Identity | None = None) -> str:
    """The namespace of a session, if the caller may see it; of an unknown one, what it would get."""
    return sessions.find_home(connection, session_id=session_id, identity=identity or Identity()).namespace


def to_scope(place: Place, *, user_id: str | None) -> Scope:
    """The place as the store knows it; authored rules are the tenant's, and a bound caller's own."""
    return Scope(
        collection=place.collection,
        view=place.view,
        session_id=place.session_id,
        namespace=place.namespace,
        tier=place.tier,
        bindings=bindings_of(user_id=user_id, agent_id=None),
    )
