"""Hindsight's memory units, as its list and recall endpoints give them.

Facts were written by a model, so they are turns of role `assistant`. Observations are made from other facts by Hindsight
and would say everything twice; what was invalidated there stays out.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from api.importers.reading import keep_said, text_of
from api.importers.records import Dropped, Finding, Source, Unit
from api.importers.sources.fact_files import find_fact_units, name_fact, read_facts

HOST: Final = "hindsight"
LISTS: Final = ("items", "results", "memories", "memory_units")
WORDS: Final = ("text", "content", "original_text")
DERIVED: Final = frozenset({"observation", "mental_model"})
TIMES: Final = ("occurred_start", "mentioned_at", "date", "event_date", "created_at")


def find_units(path: Path) -> list[Unit]:
    """The files of an export."""
    return find_fact_units(path, read_units)


SOURCE: Final = Source(kind=HOST, find_units=find_units, agent_id=HOST)


def read_units(file: Path) -> Iterator[Finding]:
    """The memory units of a file."""
    for where, fact in read_facts(file, LISTS):
        if isinstance(fact, Dropped):
            yield fact
        else:
            yield from _read_unit(fact, where)


def _read_unit(fact: dict[str, Any], where: str) -> Iterator[Finding]:
    text = next(filter(None, map(text_of, map(fact.get, WORDS))), None)
    kind = fact.get("fact_type") or fact.get("type")
    if text is None:
        yield Dropped("memory without words", where)
    elif kind in DERIVED:
        yield Dropped("observation: derived from other facts")
    elif fact.get("state") == "invalidated":
        yield Dropped("invalidated there")
    else:
        metadata: dict[str, Any] = {"host": HOST, "kind": "fact"}
        for key in ("context", "document_id"):
            if text_of(fact.get(key)):
                metadata[key] = fact[key][:1000]
        if text_of(kind):
            metadata["fact_type"] = kind
        yield from keep_said(
            session_id=f"{HOST}/{text_of(fact.get('bank_id')) or 'bank'}",
            role="assistant",
            text=text,
            id=f"hindsight:{name_fact(fact, text)}",
            time=next(filter(None, map(fact.get, TIMES)), None),
            metadata=metadata,
        )
