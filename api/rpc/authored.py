"""Nodes of authored documents as clients of the older daemon know them: its numbers, kinds, plain words and hop targets."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from models.documents.outline import KIND_OF_NODE, OTHER_KIND, Outline, make_plain, read_outline
from models.store.collections.views import Entry, Scope, list_entries
from models.store.documents import load_bodies

CHARS_PER_TOKEN = 4
MOST_ENTRIES = 100_000


def present(
    connection: Connection,
    *,
    tenant_id: UUID,
    scope: Scope,
    entries: Sequence[Entry],
    with_headings: bool = False,
) -> list[Entry]:
    """Entries of our nodes under the daemon's ids; headings are nodes too, where a whole collection is listed."""
    names = None if with_headings else {str(entry.metadata["source_doc"]) for entry in entries}
    bodies = load_bodies(connection, tenant_id=tenant_id, bindings=scope.bindings, names=names)
    outlines = {key: read_outline(body) for key, body in bodies.items()}
    shown: list[Entry] = []
    for entry in entries:
        outline = outlines.get((str(entry.metadata["binding"]), str(entry.metadata["source_doc"])))
        found = _present_node(entry, outline) if outline is not None else None
        if found is not None:
            shown.append(found)
    if not with_headings:
        return shown
    if scope.tier == 0:
        shown += [one for (_, name), outline in outlines.items() for one in _list_headings(name, outline)]
    return sorted(shown, key=lambda one: one.id)


def find_authored(
    connection: Connection, *, tenant_id: UUID, scope: Scope, ids: Sequence[str]
) -> list[Entry]:
    """The entries with these ids, the daemon's or ours."""
    entries = list_entries(connection, tenant_id=tenant_id, scope=scope, count=MOST_ENTRIES)
    wanted = set(ids)
    found = present(connection, tenant_id=tenant_id, scope=scope, entries=entries)
    return [entry for entry in found if entry.id in wanted or entry.key in wanted]


def _present_node(entry: Entry, outline: Outline) -> Entry | None:
    """One of our nodes; None for one that says nothing, as a line across the page does."""
    kind = str(entry.metadata["node_kind"])
    words = make_plain(kind, entry.body)
    block = outline.find(int(entry.metadata["position"]))
    if not words or block is None:
        return None
    facts: dict[str, Any] = _describe(block.ordinal, KIND_OF_NODE.get(kind, OTHER_KIND), words)
    links = [target for target in entry.metadata.get("hop_targets", ()) if target]
    targets = list(dict.fromkeys([*outline.hop_targets, *links])) if entry.metadata["tier"] == 0 else []
    metadata = {key: value for key, value in entry.metadata.items() if key not in ("hop_targets", "binding")}
    metadata |= facts | ({"hop_targets": targets} if targets else {})
    name = str(entry.metadata["source_doc"])
    within = (
        int(entry.metadata["position"]) - block.start
    )  # a nested item: the daemon had it inside its parent
    node_id = _name_node(name, block.ordinal) + (f".{within}" if within > 0 else "")
    return replace(entry, id=node_id, body=words, metadata=metadata)


def _list_headings(name: str, outline: Outline) -> list[Entry]:
    headings = []
    for block in outline.blocks:
        if block.kind != "Heading":
            continue
        metadata: dict[str, Any] = {
            "type": "authored",
            "authored": True,
            "source_doc": name,
            "tier": 0,
            "position": block.start,
            "provenance_class": "authored",
            "stability_weight": 1,
            "access_count": 0,
            **_describe(block.ordinal, block.kind, block.text),
        }
        if outline.hop_targets:
            metadata["hop_targets"] = list(outline.hop_targets)
        key = _name_node(name, block.ordinal)
        headings.append(Entry(id=key, key=key, item_id=None, body=block.text, metadata=metadata))
    return headings


def _describe(ordinal: int, kind: str, words: str) -> dict[str, Any]:
    return {
        "ordinal": ordinal,
        "node_kind": kind,
        "token_estimate": max(1, math.ceil(len(words) / CHARS_PER_TOKEN)),
    }


def _name_node(name: str, ordinal: int) -> str:
    return f"{name}#{ordinal:06d}"
