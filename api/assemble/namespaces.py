"""Whose memory a call is about, and whether the caller's token opens it."""

from models.domain.records import Identity, durable_namespace
from models.errors import Forbidden
from models.store.sessions import SessionFacts
from models.store.tokens import Caller


def resolve_namespace(
    caller: Caller, identity: Identity, session_id: str, session: SessionFacts | None
) -> str:
    """The durable namespace of a call: who the caller says it is for, else what the session is known by."""
    if identity.is_empty and session is not None and session.namespace:
        return check_namespace(caller, session.namespace)
    return check_namespace(caller, durable_namespace(identity, session_id))


def check_namespace(caller: Caller, namespace: str) -> str:
    """The namespace, if the caller's token opens it."""
    if caller.namespace is not None and caller.namespace != namespace:
        raise Forbidden(
            f"the token opens namespace '{caller.namespace}' only",
            remedy="name that identity in the request, or use a token of the whole tenant",
        )
    return namespace
