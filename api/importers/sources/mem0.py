"""Mem0's memories, as `get_all`, an export or a dump of its vector store gives them.

A model wrote them, so they are turns of role `assistant`. Each user's become that user's, unless `--user` names one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from api.importers.reading import keep_said, text_of
from api.importers.records import Dropped, Finding, Source, Unit
from api.importers.sources.fact_files import find_fact_units, name_fact, read_facts

HOST: Final = "mem0"
LISTS: Final = ("results", "memories", "items", "points")
WORDS: Final = ("memory", "data", "content", "text")


def find_units(path: Path) -> list[Unit]:
    """The files of an export."""
    return find_fact_units(path, read_memories)


SOURCE: Final = Source(kind=HOST, find_units=find_units, agent_id=HOST)


def read_memories(file: Path) -> Iterator[Finding]:
    """The memories of a file."""
    for where, fact in read_facts(file, (*LISTS, "relations")):
        if isinstance(fact, Dropped):
            yield fact
        else:
            yield from _read_memory(fact, where)


def _read_memory(fact: dict[str, Any], where: str) -> Iterator[Finding]:
    payload = fact.get("payload")
    if isinstance(payload, dict):  # of a vector store
        fact = {**payload, "id": fact.get("id")}
    text = next(filter(None, map(text_of, map(fact.get, WORDS))), None)
    if text is None:
        is_relation = {"source", "target"} <= fact.keys() and fact.keys() & {"relationship", "relation"}
        yield Dropped("relation of the graph") if is_relation else Dropped("memory without words", where)
        return
    if fact.get("is_deleted") or fact.get("state") in {"deleted", "archived"}:
        yield Dropped("deleted there")
        return
    user, agent, run = (text_of(fact.get(key)) for key in ("user_id", "agent_id", "run_id"))
    identity = {"user_id": user} if user else {"agent_id": agent} if agent else {}
    metadata: dict[str, Any] = {"host": HOST, "kind": "fact"}
    if isinstance(fact.get("metadata"), dict) and fact["metadata"]:
        metadata["mem0"] = fact["metadata"]
    if isinstance(fact.get("categories"), list) and fact["categories"]:
        metadata["categories"] = fact["categories"]
    yield from keep_said(
        session_id=f"{HOST}/" + "/".join(part for part in (user or agent or "all", run) if part),
        role="assistant",
        text=text,
        id=f"mem0:{name_fact(fact, text)}",
        time=fact.get("updated_at") or fact.get("created_at"),
        metadata=metadata,
        identity=identity,
    )
