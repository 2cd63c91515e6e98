"""Reading a receipt, and making its prompt again: same request, same moment, what is stored now."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from api.access.decisions import check_namespace
from api.assemble.blocks import make_supply
from api.assemble.formats import hash_text, measure_stable_prefix
from api.assemble.gathering import gather
from api.assemble.receipt import TERMS, Draft, describe_settings, write_receipt
from api.assemble.schemas import AssembleIn
from api.assemble.service import fit_budget
from api.assemble.visibility import Shown
from api.receipts.schemas import ChangedCandidateOut, ChangeOut, MovedCandidateOut, ReceiptOut, ReplayOut
from api.routing.trail import Trail
from api.runtime import Runtime
from models.domain.prompt.markers import keep_what_was_said
from models.errors import NotFound
from models.store.conversation.turns import load_recent_turns
from models.store.documents import load_node_texts
from models.store.engine import tenant_transaction
from models.store.index.items import load_item_texts
from models.store.receipts import ReceiptLine, StoredReceipt, find_receipt, list_receipts
from models.store.tenancy.tokens import Caller

WAIT_SECONDS: Final = 2.0  # for a receipt whose answer has just been sent
EXCERPT_CHARS: Final = 200
REPLAY_DEADLINE_MS: Final = 10_000
TOLERANCE: Final = 1e-4  # terms are kept to five digits
COMPARED: Final = ("fate", "reason", "tokens")


def read_receipt(runtime: Runtime, caller: Caller, assembly_id: UUID) -> ReceiptOut:
    """The receipt, each candidate with the beginning of its words as they are stored now."""
    stored = _find(runtime, caller, assembly_id)
    rows = unfold_candidates(stored.receipt)
    ids = {UUID(row["turn_id"] or row["id"]) for row in rows}
    with tenant_transaction(runtime.engine, caller) as connection:
        found = load_item_texts(connection, tenant_id=caller.tenant_id, ids=list(ids))
        rules = load_node_texts(
            connection,
            tenant_id=caller.tenant_id,
            ids=[UUID(row["id"]) for row in rows if row["kind"] == "rule"],
        )
    texts = {str(one.id): one.text[:EXCERPT_CHARS] for one in found}
    texts |= {str(key): words[:EXCERPT_CHARS] for key, words in rules.items()}
    described = {key: stored.receipt[key] for key in stored.receipt if key not in {"candidates", "version"}}
    return ReceiptOut.model_validate(
        {
            **described,
            "assembly_id": str(stored.id),
            "session_id": stored.session_id,
            "namespace": stored.namespace,
            "made_at": stored.made_at,
            "candidates": [{**row, "text": texts.get(row["turn_id"] or row["id"])} for row in rows],
        }
    )


def replay(runtime: Runtime, caller: Caller, assembly_id: UUID) -> ReplayOut:
    """What has changed since: settings, encoder, arithmetic, and candidate by candidate every term and fate."""
    stored = _find(runtime, caller, assembly_id)
    fresh, left_out = _make_again(runtime, caller, stored)
    return compare(stored, fresh, left_out=left_out)


def read_newest(runtime: Runtime, caller: Caller, *, session_id: str | None, count: int) -> list[ReceiptLine]:
    """The newest receipts that the token opens."""
    with runtime.transaction(caller) as connection:
        return list_receipts(connection, tenant_id=caller.tenant_id, session_id=session_id, count=count)


def compare_two(runtime: Runtime, caller: Caller, earlier: UUID, later: UUID) -> ReplayOut:
    """Where the prompts of two receipts differ, the first as it was, the second as it is."""
    was, now = _find(runtime, caller, earlier), _find(runtime, caller, later)
    return compare(was, now.receipt, left_out=0)


def unfold_candidates(receipt: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a receipt by the names of their fields."""
    packed = receipt["candidates"]
    unfolded = []
    for values in packed["rows"]:
        row = dict(zip(packed["fields"], values, strict=True))
        row["terms"] = {name: row.pop(name) for name in TERMS if name in row}
        row["reason"] = None if row["reason"] is None else packed["reasons"][row["reason"]]
        unfolded.append(row)
    return unfolded


def _find(runtime: Runtime, caller: Caller, assembly_id: UUID) -> StoredReceipt:
    runtime.receipts.wait_for(assembly_id, seconds=WAIT_SECONDS)
    with tenant_transaction(runtime.engine, caller) as connection:
        found = find_receipt(connection, tenant_id=caller.tenant_id, assembly_id=assembly_id)
    if found is None:
        raise NotFound(
            f"no receipt of assembly {assembly_id} in this tenant",
            remedy="receipts are sampled (LONGTAIL_RECEIPT_SHARE) and the newest are kept; "
            "assemble with explain=true always leaves one",
        )
    check_namespace(caller, found.namespace)
    return found


def _make_again(runtime: Runtime, caller: Caller, stored: StoredReceipt) -> tuple[Mapping[str, Any], int]:
    """The receipt of the same request over today's data. The tail is the one of then: raw turns never change."""
    receipt = stored.receipt
    now = datetime.fromisoformat(receipt["now"])
    request = AssembleIn.model_validate(receipt["request"])
    trail = Trail()
    read = gather(runtime, caller, request, trail, deadline_ms=REPLAY_DEADLINE_MS, now=now)
    through = receipt["tail"]["through_position"]
    with tenant_transaction(runtime.engine, caller) as connection:
        turns = load_recent_turns(
            connection,
            tenant_id=caller.tenant_id,
            session_id=stored.session_id,
            count=receipt["tail"]["read_turns"],
            before=-1 if through is None else through + 1,
        )
    known = {row["id"] for row in unfold_candidates(receipt)}
    made_at = stored.made_at.timestamp()
    of_then = [one for one in read.recalled if one.candidate.id in known or one.candidate.said_at <= made_at]
    got = replace(read, turns=keep_what_was_said(turns, caller.marker), recalled=of_then)
    visible = frozenset(receipt["visible"])
    in_tail = frozenset(str(turn.id) for turn in got.turns)
    supply, _ = make_supply(got, Shown(tail=visible & in_tail, older=visible - in_tail))
    held = receipt["tail"].get("from_position")
    assembly = fit_budget(runtime, request, supply, marker=caller.marker, held=held)
    draft = Draft(
        id=stored.id,
        tenant_id=caller.tenant_id,
        namespace=stored.namespace,
        request=request,
        now=now,
        made_at=stored.made_at,
        got=got,
        trail=trail,
        assembly=assembly,
        stable_sha256=hash_text(assembly.stable),
        stable_prefix_chars=measure_stable_prefix(assembly),
        serving=got.serving or runtime.serving,
    )
    fresh = write_receipt(draft, describe_settings(runtime.settings))
    return fresh, len(read.recalled) - len(of_then)


def compare(stored: StoredReceipt, fresh: Mapping[str, Any], *, left_out: int) -> ReplayOut:
    """Where two receipts of one request differ; times and what waits are no difference."""
    was = {(row["tier"], row["id"]): row for row in unfold_candidates(stored.receipt)}
    now = {(row["tier"], row["id"]): row for row in unfold_candidates(fresh)}
    changed = []
    for key in was.keys() & now.keys():
        changes = _compare_flat(_flatten(was[key]), _flatten(now[key]))
        if changes:
            row = now[key]
            changed.append(
                ChangedCandidateOut(id=row["id"], tier=row["tier"], kind=row["kind"], changes=changes)
            )
    parts = {
        name: _compare_flat(stored.receipt[name], fresh[name])
        for name in ("settings", "encoder", "budget", "stable")
    }
    appeared = [_to_moved(now[key]) for key in now if key not in was]
    vanished = [_to_moved(was[key]) for key in was if key not in now]
    order = {key[1]: place for place, key in enumerate(now)}
    return ReplayOut(
        assembly_id=str(stored.id),
        is_same=not (any(parts.values()) or appeared or vanished or changed),
        **parts,
        appeared=appeared,
        vanished=vanished,
        changed=sorted(changed, key=lambda one: order[one.id]),
        left_out=left_out,
        degraded=fresh["degraded"],
    )


def _flatten(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: row[name] for name in COMPARED}, **row["terms"]}


def _compare_flat(was: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, ChangeOut]:
    return {
        name: ChangeOut(was=was.get(name), now=now.get(name))
        for name in dict.fromkeys((*was, *now))
        if not _is_alike(was.get(name), now.get(name))
    }


def _is_alike(one: Any, other: Any) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return bool(abs(one - other) <= TOLERANCE)
    return bool(one == other)


def _to_moved(row: Mapping[str, Any]) -> MovedCandidateOut:
    return MovedCandidateOut(
        id=row["id"], tier=row["tier"], kind=row["kind"], fate=row["fate"], score=row["terms"].get("score")
    )
