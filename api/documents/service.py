"""Authored documents: decode, partition, check the hard reserve, store; list, read, take away."""

from functools import partial
from typing import Final, Literal
from uuid import UUID

from api.access.decisions import choose_binding
from api.documents.schemas import (
    ConflictOut,
    DocumentOut,
    DocumentPageOut,
    LoadedDocumentOut,
    NodeOut,
    PartitionOut,
)
from api.routing.cursors import read_cursor, write_cursor
from api.runtime import Runtime
from api.screening import SecretOut, screen_text
from models.documents.markdown import partition_document
from models.domain.prompt.tokens import CharsCounter
from models.domain.records import read_identity
from models.domain.rules.tiers import (
    DocumentKind,
    HardReserveExceeded,
    Partition,
    Tier,
    enforce_hard_reserve,
    read_as_notes,
)
from models.errors import InvalidInput, NotFound, TooLarge
from models.store.documents import (
    AuthoredDocument,
    delete_document,
    find_document,
    list_documents,
    list_nodes,
    replace_document,
    sum_hard_tokens,
)
from models.store.engine import repeat_if_overtaken, tenant_transaction
from models.store.tenancy.tokens import Caller

TIER_NAMES: Final[dict[Tier, Literal["hard", "soft", "lore"]]] = {
    Tier.HARD: "hard",
    Tier.SOFT: "soft",
    Tier.LORE: "lore",
}


def page_documents(
    runtime: Runtime,
    caller: Caller,
    *,
    user_id: str | None,
    agent_id: str | None,
    cursor: str | None,
    limit: int,
) -> DocumentPageOut:
    """A page of documents by binding and name; those of one user or agent, if one is named."""
    if user_id is None and agent_id is None and caller.namespace is not None:
        own = read_identity(caller.namespace)
        user_id, agent_id = own.user_id, own.agent_id
    is_narrow = user_id is not None or agent_id is not None
    binding = choose_binding(caller, user_id=user_id, agent_id=agent_id) if is_narrow else None
    after = read_cursor(cursor, parts=2) if cursor else ("", "")
    with runtime.transaction(caller) as connection:
        found = list_documents(
            connection,
            tenant_id=caller.tenant_id,
            binding=binding,
            after=(after[0], after[1]),
            count=limit + 1,
        )
    last = found[limit - 1] if len(found) > limit else None
    return DocumentPageOut(
        documents=[_show(one) for one in found[:limit]],
        next_cursor=write_cursor(last.binding, last.name) if last else None,
    )


def read_document(
    runtime: Runtime, caller: Caller, name: str, *, user_id: str | None, agent_id: str | None
) -> LoadedDocumentOut:
    """One document, word for word as it was loaded."""
    binding = choose_binding(caller, user_id=user_id, agent_id=agent_id)
    with tenant_transaction(runtime.engine, caller) as connection:
        found = find_document(connection, tenant_id=caller.tenant_id, binding=binding, name=name)
    if found is None:
        raise _no_document(name, binding)
    return _show(found)


def read_partition(
    runtime: Runtime, caller: Caller, name: str, *, user_id: str | None, agent_id: str | None
) -> PartitionOut:
    """One document node by node: its tier as it was loaded, what it costs, and where its rules contradict each other."""
    document = read_document(runtime, caller, name, user_id=user_id, agent_id=agent_id)
    with tenant_transaction(runtime.engine, caller) as connection:
        nodes = list_nodes(connection, tenant_id=caller.tenant_id, document_id=UUID(document.id))
    counter = CharsCounter()
    partition = partition_document(document.text or "", count_tokens=counter.count, tokenizer_id=counter.id)
    return PartitionOut(
        document=document,
        nodes=[
            NodeOut(
                id=str(node.id),
                position=node.position,
                kind=node.kind,
                tier=TIER_NAMES[node.tier],
                text=node.body,
                heading_path=list(node.heading_path),
                modalities=list(node.modalities),
                tokens=counter.count(node.body),
            )
            for node in nodes
        ],
        conflicts=_show_conflicts(partition),
    )


def remove_document(
    runtime: Runtime, caller: Caller, name: str, *, user_id: str | None, agent_id: str | None
) -> None:
    """Take a document away: its rules leave every prompt, its lore leaves recall."""
    binding = choose_binding(caller, user_id=user_id, agent_id=agent_id)

    def delete() -> bool:
        with tenant_transaction(runtime.engine, caller) as connection:
            return delete_document(connection, tenant_id=caller.tenant_id, binding=binding, name=name)

    if not repeat_if_overtaken(delete):
        raise _no_document(name, binding)
    runtime.rules.drop(caller.tenant_id, [binding])


def _no_document(name: str, binding: str) -> NotFound:
    return NotFound(
        f"no document '{name}' is bound to {binding}",
        remedy="GET /v1/documents lists them; send user_id or agent_id as it was loaded",
    )


def _show(found: AuthoredDocument) -> LoadedDocumentOut:
    return LoadedDocumentOut(
        id=str(found.id),
        name=found.name,
        binding=found.binding,
        bytes=found.body_bytes,
        hard_tokens=found.hard_tokens,
        nodes=found.nodes,
        hard=found.hard,
        soft=found.soft,
        lore=found.lore,
        loaded_at=found.loaded_at,
        text=found.body,
    )


def load_document(
    runtime: Runtime,
    caller: Caller,
    *,
    name: str,
    body: bytes,
    user_id: str | None,
    agent_id: str | None,
    policy: Literal["refuse", "demote"],
    kind: DocumentKind = "authored",
) -> DocumentOut:
    """Partition and store a document; refused, with both numbers, when its hard rules exceed their reserve."""
    binding = choose_binding(caller, user_id=user_id, agent_id=agent_id)
    check_size(runtime, body)
    text, secrets = screen_text(decode(body), "text")
    counter = CharsCounter()
    partition = partition_document(text, count_tokens=counter.count, tokenizer_id=counter.id)
    if kind == "note":
        partition = read_as_notes(partition)
    cap = hard_cap(runtime)
    document_id, partition = repeat_if_overtaken(
        partial(
            _store,
            runtime,
            caller,
            name=name,
            binding=binding,
            text=text,
            partition=partition,
            cap=cap,
            policy=policy,
        )
    )
    runtime.rules.drop(caller.tenant_id, [binding])
    return _describe(str(document_id), name, binding, partition, cap, secrets)


def _store(
    runtime: Runtime,
    caller: Caller,
    *,
    name: str,
    binding: str,
    text: str,
    partition: Partition,
    cap: int,
    policy: Literal["refuse", "demote"],
) -> tuple[UUID, Partition]:
    """Check the reserve against the other documents and replace the former version, in one transaction."""
    with tenant_transaction(runtime.engine, caller) as connection:
        others = sum_hard_tokens(connection, tenant_id=caller.tenant_id, binding=binding, but_not=name)
        try:
            partition = enforce_hard_reserve(partition, hard_cap_tokens=cap - others, policy=policy)
        except HardReserveExceeded as error:
            raise InvalidInput(
                f"hard rules of '{name}' cost {error.hard_tokens} tokens; {cap - others} of the hard reserve of "
                f"{cap} are free",
                code="hard_reserve_exceeded",
                remedy="shorten its lists, load it with ?policy=demote, or raise LONGTAIL_HARD_RESERVE "
                "or LONGTAIL_BUDGET_TOKENS_CONFIGURED",
            ) from error
        document_id = replace_document(
            connection, tenant_id=caller.tenant_id, name=name, binding=binding, body=text, partition=partition
        )
    return document_id, partition


def hard_cap(runtime: Runtime) -> int:
    """How many tokens the hard rules of a prompt may cost together."""
    return int(runtime.settings.hard_reserve * runtime.settings.budget_tokens_configured)


def check_size(runtime: Runtime, body: bytes) -> None:
    """Refuse a file that is larger than one may be."""
    limit = runtime.settings.max_document_bytes
    if len(body) > limit:
        raise TooLarge(
            f"the document has {len(body)} bytes; a document may have {limit}",
            code="document_too_large",
            remedy="split it, or raise LONGTAIL_MAX_DOCUMENT_BYTES",
        )


def decode(body: bytes) -> str:
    """The text of a file, or why it is none."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"the document is not UTF-8: byte {error.start} cannot be read",
            code="not_utf8",
            remedy="save it as UTF-8",
        ) from error
    if not text.strip():
        raise InvalidInput("the document is empty", code="empty_text", remedy="send its Markdown as the body")
    if "\x00" in text:
        raise InvalidInput("the document holds a NUL character", code="nul_character", remedy="remove it")
    return text


def _describe(
    document_id: str, name: str, binding: str, partition: Partition, cap: int, secrets: list[SecretOut]
) -> DocumentOut:
    return DocumentOut(
        id=document_id,
        name=name,
        binding=binding,
        nodes=len(partition.nodes),
        hard=len(partition.hard),
        soft=len(partition.soft),
        lore=len(partition.lore),
        hard_tokens=partition.hard_tokens,
        soft_tokens=partition.soft_tokens,
        lore_tokens=partition.lore_tokens,
        hard_cap_tokens=cap,
        demotions=[f"{demotion.excerpt}: {demotion.reason}" for demotion in partition.demotions],
        conflicts=_show_conflicts(partition),
        secrets=secrets,
    )


def _show_conflicts(partition: Partition) -> list[ConflictOut]:
    return [
        ConflictOut(
            action=conflict.action, obligation=conflict.obligation.cue, prohibition=conflict.prohibition.cue
        )
        for conflict in partition.conflicts
    ]
