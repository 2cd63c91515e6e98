"""A dream diary loaded like a document: its proved entries become memories of the user it is bound to."""

from api.access.decisions import choose_binding
from api.documents.schemas import DocumentOut
from api.documents.service import check_size, decode, hard_cap, remove_document
from api.dreams.diary import MIN_QUERIES, MIN_RECALLS, MIN_SCORE, read_diary
from api.dreams.service import promote, withdraw
from api.runtime import Runtime
from models.domain.prompt.tokens import CharsCounter
from models.errors import InvalidInput, NotFound
from models.store.tenancy.tokens import Caller

EXCERPT_CHARS = 60


def load_diary(
    runtime: Runtime, caller: Caller, *, name: str, body: bytes, user_id: str | None, agent_id: str | None
) -> DocumentOut:
    """Promote a diary in place of its former version; an entry that has not proved itself is named."""
    binding = choose_binding(caller, user_id=user_id, agent_id=agent_id)
    namespace = name_namespace(user_id=user_id, agent_id=agent_id)
    if namespace is None:
        raise InvalidInput(
            "a diary is somebody's",
            field="user_id",
            remedy="name the user or the agent whose dreams these are",
        )
    check_size(runtime, body)
    entries = read_diary(decode(body))
    outcome = promote(
        runtime,
        caller,
        namespace=namespace,
        source_doc=name,
        entries=[(entry, {}) for entry in entries],
        facts={},
    )
    counter = CharsCounter()
    unproved = [
        f"{entry.text[:EXCERPT_CHARS]}: score {entry.score:g}, {entry.recalls} recalls, {entry.queries} queries; "
        f"{MIN_SCORE:g}, {MIN_RECALLS} and {MIN_QUERIES} are needed"
        for entry in entries
        if not entry.is_proved
    ]
    return DocumentOut(
        id=name,
        name=name,
        binding=binding,
        nodes=len(entries),
        hard=0,
        soft=0,
        lore=outcome.promoted,
        hard_tokens=0,
        soft_tokens=0,
        lore_tokens=sum(counter.count(entry.text) for entry in entries if entry.is_proved),
        hard_cap_tokens=hard_cap(runtime),
        demotions=unproved,
        conflicts=[],
    )


def remove_document_or_diary(
    runtime: Runtime, caller: Caller, name: str, *, user_id: str | None, agent_id: str | None
) -> None:
    """Take away whatever was loaded under this name."""
    namespace = name_namespace(user_id=user_id, agent_id=agent_id)
    had_dreams = namespace is not None and withdraw(runtime, caller, namespace=namespace, source_doc=name)
    try:
        remove_document(runtime, caller, name, user_id=user_id, agent_id=agent_id)
    except NotFound:
        if not had_dreams:
            raise


def name_namespace(*, user_id: str | None, agent_id: str | None) -> str | None:
    """Whose memory a binding is about; nobody's where it is the tenant's."""
    return user_id or (f"agent-id:{agent_id}" if agent_id else None)
