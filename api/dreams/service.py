"""Promoting a diary: its proved entries are memories of their user, found by recall and by the diary's own collection.

Nobody signed them: they are untrusted like everything recalled, and state no rule, for the assistant is who says them.
"""

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from api.access.decisions import check_namespace
from api.dreams.diary import DreamEntry
from api.memories.direct import remember
from api.runtime import Runtime, Serving
from api.screening import screen_text, screen_values
from api.turns.schemas import TurnIn
from models.store.collections.records import NewRecord, delete_records_by_meta, list_named_items, put_record
from models.store.collections.views import find_memory_of_turn
from models.store.engine import repeat_if_overtaken, tenant_transaction
from models.store.memory.forgetting import forget_memory
from models.store.memory.memories import find_memory
from models.store.tenancy.tokens import Caller

COLLECTION: Final = "dream:"
ENCODING_SECONDS: Final = 2.0  # of one entry; one without a vector is compared when it is searched


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """How many entries were kept, and how many had not proved themselves."""

    promoted: int
    rejected: int


def name_dreams(namespace: str) -> str:
    """The collection of a user's dreams."""
    return COLLECTION + namespace


def promote(
    runtime: Runtime,
    caller: Caller,
    *,
    namespace: str,
    source_doc: str,
    entries: Sequence[tuple[DreamEntry, Mapping[str, Any]]],
    facts: Mapping[str, Any],
) -> Promotion:
    """Keep the proved entries of a diary in place of its former ones; each comes with metadata of its client.

    A diary whose entries have all still to prove themselves changes nothing; one without entries is withdrawn.
    """
    check_namespace(caller, namespace)
    proved = [
        (
            replace(entry, text=screen_text(entry.text, "entries")[0]),
            screen_values(dict(given), "metadata")[0],
        )
        for entry, given in entries
        if entry.is_proved
    ]
    facts = screen_values(dict(facts), "metadata")[0]
    outcome = Promotion(promoted=len(proved), rejected=len(entries) - len(proved))
    if entries and not proved:
        return outcome
    records: list[NewRecord] = []
    for ordinal, (entry, given) in enumerate(proved):
        metadata = {
            **given,
            **facts,
            "source_doc": source_doc,
            "source_kind": facts.get("source_kind") or "dream",
            "source_type": "dream",
            "type": "dream_promotion",
            "dream_score": entry.score,
            "dream_recall_count": entry.recalls,
            "dream_unique_queries": entry.queries,
            "dream_section": entry.section,
            "dream_line": entry.line,
        }
        serving = runtime.serving
        vector = _encode(runtime, entry.text, serving)
        records.append(
            NewRecord(
                collection=name_dreams(namespace),
                id=f"{source_doc[:490]}#dream#{ordinal:06d}",
                namespace=namespace,
                item_id=_remember(runtime, caller, namespace, source_doc, entry),
                body=entry.text,
                encoder=None if vector is None else serving.name,
                vector=vector,
                metadata=metadata,
            )
        )
    _replace(runtime, caller, namespace, source_doc, records)
    return outcome


def withdraw(runtime: Runtime, caller: Caller, *, namespace: str, source_doc: str) -> bool:
    """Forget what a diary gave; returns whether it had given anything."""
    check_namespace(caller, namespace)
    return _replace(runtime, caller, namespace, source_doc, []) > 0


def _remember(runtime: Runtime, caller: Caller, namespace: str, source_doc: str, entry: DreamEntry) -> UUID:
    """The turn that the entry's memory rests on; what was forgotten stays so, an entry that came back is a new one."""
    digest = hashlib.sha256(entry.text.encode()).hexdigest()[:12]
    number = 0
    while True:
        suffix = f"#dream#{digest}" + (f"#{number}" if number else "")
        turn = TurnIn(role="assistant", content=entry.text, id=source_doc[:440] + suffix)
        turn_id, memory_id = remember(
            runtime,
            caller,
            namespace=namespace,
            turn=turn,
            score=min(max(entry.score, 0.0), 1.0),
            collection=name_dreams(namespace),
        )
        with tenant_transaction(runtime.engine, caller) as connection:
            memory = find_memory(connection, tenant_id=caller.tenant_id, memory_id=memory_id)
        if memory is None or memory.forgotten_at is None:
            return turn_id
        number += 1


def _replace(
    runtime: Runtime, caller: Caller, namespace: str, source_doc: str, records: Sequence[NewRecord]
) -> int:
    """Put these records in place of the diary's former ones, and forget what it no longer says; how many it had."""
    collection, tenant_id = name_dreams(namespace), caller.tenant_id
    kept = {record.item_id for record in records}

    def change() -> int:
        with tenant_transaction(runtime.engine, caller) as connection:
            known: dict[str, Any] = {
                "tenant_id": tenant_id,
                "collection": collection,
                "key": "source_doc",
                "value": source_doc,
            }
            for turn_id in list_named_items(connection, **known):
                memory_id = find_memory_of_turn(connection, tenant_id=tenant_id, turn_id=turn_id)
                if turn_id not in kept and memory_id is not None:
                    reason = f"left the diary {source_doc}"
                    forget_memory(connection, tenant_id=tenant_id, memory_id=memory_id, reason=reason)
            removed = delete_records_by_meta(connection, **known)
            for record in records:
                put_record(connection, tenant_id=tenant_id, record=record)
        return removed

    return repeat_if_overtaken(change)


def _encode(runtime: Runtime, text: str, serving: Serving) -> Any:
    encoding = runtime.start_encoding([text], serving, as_passages=True)
    with contextlib.suppress(FutureTimeout):
        return encoding.result(timeout=ENCODING_SECONDS)[0] if encoding is not None else None
    return None
