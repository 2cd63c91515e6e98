"""What to say while PostgreSQL is away: the rules of each binding, and whose this machine's token is, as last read.

Kept in memory and in private files under the home, so that a process which has not assembled before knows them too. What is
erased or removed leaves both; a thread of the runtime compares the rest with PostgreSQL now and then (decision 45).
"""

import contextlib
import hashlib
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import structlog

from models.domain.rules.tiers import Tier
from models.store.documents import Rule
from models.store.tenancy.tokens import Caller

log = structlog.get_logger(__name__)
MOST_BINDINGS: Final = 1000  # the tenant, agents and users; the one used longest ago goes first
MOST_CHARS: Final = 16 * 1024 * 1024  # of all rules in memory; likewise
MOST_BYTES: Final = 64 * 1024  # of one binding's rules; soft ones that go beyond are left out
CALLER_FILE: Final = "caller.json"

Key = tuple[UUID, str]  # a tenant, and a binding of its documents


class LastKnown:
    """Rules by tenant and binding; files are named by a digest, hold what they are, and are their owner's alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._rules: OrderedDict[Key, tuple[Rule, ...]] = OrderedDict()
        self._wanted: set[Key] = set()  # dropped, and to be read again
        self._changes = 0
        for key, rules in sorted(self._read_files(), key=lambda one: str(one[0])):
            self._rules[key] = rules
        self._chars = sum(map(_measure, self._rules.values()))

    @property
    def changes(self) -> int:
        """How often something was dropped so far: to be asked before rules are read that are to be kept."""
        return self._changes

    def keep(self, tenant_id: UUID, bindings: Sequence[str], rules: Iterable[Rule], *, changes: int) -> None:
        """These are all the rules of these bindings. Costs a comparison where nothing is new.

        Nothing is kept where something was dropped since they were read: it may be among them.
        """
        found: dict[str, list[Rule]] = {binding: [] for binding in bindings}
        for rule in rules:
            found[rule.binding].append(rule)
        with self._lock:
            if changes != self._changes:
                return
            for binding, its in found.items():
                key = (tenant_id, binding)
                self._wanted.discard(key)
                known = self._rules.get(key)
                if not its:
                    if known is not None:
                        self._drop(key)
                    continue
                if known is None or [one.id for one in known] != [one.id for one in its]:
                    self._rules[key] = tuple(its)
                    self._chars += _measure(its) - _measure(known or ())
                    self._write(self._file(key), _to_json(key, its))
                self._rules.move_to_end(key)
            while len(self._rules) > MOST_BINDINGS or (self._chars > MOST_CHARS and len(self._rules) > 1):
                self._drop(next(iter(self._rules)))

    def recall(self, tenant_id: UUID, bindings: Sequence[str]) -> list[Rule]:
        """The rules of these bindings, in their order, as they were last read."""
        with self._lock:
            return [rule for binding in bindings for rule in self._rules.get((tenant_id, binding), ())]

    def drop(self, tenant_id: UUID, bindings: Iterable[str]) -> None:
        """Documents of these bindings came or went: nothing of their rules stays here until they are read again."""
        with self._lock:
            self._changes += 1
            for binding in bindings:
                self._drop((tenant_id, binding))
                self._wanted.add((tenant_id, binding))

    def bindings(self) -> dict[UUID, list[str]]:
        """What is kept, and what was dropped and not read again, by tenant."""
        with self._lock:
            found: dict[UUID, list[str]] = {}
            for tenant_id, binding in {*self._rules, *self._wanted}:
                found.setdefault(tenant_id, []).append(binding)
            return found

    def keep_caller(self, digest: bytes, caller: Caller) -> None:
        """Whose this machine's own token is; of the token itself only the digest is written."""
        kept = {
            "digest": digest.hex(),
            "token_id": str(caller.token_id),
            "tenant_id": str(caller.tenant_id),
            "scopes": sorted(caller.scopes),
            "namespaces": sorted(caller.namespaces) if caller.namespaces is not None else None,
            "marker": caller.marker,
            "expires_at": caller.expires_at.isoformat() if caller.expires_at else None,
        }
        if self.recall_caller(digest) != caller:
            self._write(self._folder / CALLER_FILE, kept)

    def recall_caller(self, digest: bytes) -> Caller | None:
        """Whose token that was, if it is the one that was kept."""
        kept = _read(self._folder / CALLER_FILE)
        if kept is None or kept.get("digest") != digest.hex():
            return None
        try:
            return Caller(
                token_id=UUID(kept["token_id"]),
                tenant_id=UUID(kept["tenant_id"]),
                scopes=frozenset(kept["scopes"]),
                namespaces=frozenset(kept["namespaces"]) if kept["namespaces"] is not None else None,
                marker=kept["marker"],
                expires_at=datetime.fromisoformat(kept["expires_at"]) if kept["expires_at"] else None,
            )
        except (KeyError, TypeError, ValueError):
            return None

    def drop_caller(self, digest: bytes) -> None:
        """That token opens nothing any more."""
        kept = _read(self._folder / CALLER_FILE)
        if kept is not None and kept.get("digest") == digest.hex():
            (self._folder / CALLER_FILE).unlink(missing_ok=True)

    def _drop(self, key: Key) -> None:
        self._chars -= _measure(self._rules.pop(key, ()))
        with contextlib.suppress(OSError):
            self._file(key).unlink(missing_ok=True)

    def _file(self, key: Key) -> Path:
        name = hashlib.sha256(f"{key[0]}\n{key[1]}".encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / f"{name[:32]}.rules.json"

    def _read_files(self) -> Iterable[tuple[Key, tuple[Rule, ...]]]:
        for file in list(self._folder.glob("*.rules.json"))[:MOST_BINDINGS]:
            kept = _read(file)
            try:
                if kept is not None:
                    yield _from_json(kept)
            except (KeyError, TypeError, ValueError):
                log.warning("last_known.unreadable", file=file.name)

    def _write(self, file: Path, content: Any) -> None:
        """Replace the file in one step; a disk that takes none costs the next process this knowledge, nothing else."""
        fresh = file.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with open(descriptor, "w", encoding="utf-8") as opened:
                json.dump(content, opened)
            fresh.replace(file)
        except OSError as error:
            log.warning("last_known.not_written", error=error.strerror)
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)
                file.unlink(missing_ok=True)  # rather nothing than rules that hold no more


def _measure(rules: Iterable[Rule]) -> int:
    return sum(len(rule.body) for rule in rules)


def _to_json(key: Key, rules: Sequence[Rule]) -> dict[str, Any]:
    """One binding's rules within their bound: every hard one, then soft ones from the first on."""
    size, kept = 0, set()
    for rule in sorted(rules, key=lambda one: one.tier is not Tier.HARD):
        size += len(rule.body.encode()) + sum(map(len, rule.heading_path))
        if rule.tier is not Tier.HARD and size > MOST_BYTES:
            break
        kept.add(rule.id)
    return {
        "tenant_id": str(key[0]),
        "binding": key[1],
        "rules": [
            [str(one.id), int(one.tier), one.kind, one.body, list(one.heading_path), one.document]
            for one in rules
            if one.id in kept
        ],
    }


def _from_json(kept: dict[str, Any]) -> tuple[Key, tuple[Rule, ...]]:
    binding = str(kept["binding"])
    rules = tuple(
        Rule(
            id=UUID(node_id),
            tier=Tier(tier),
            kind=kind,
            body=body,
            heading_path=tuple(heading_path),
            document=document,
            binding=binding,
        )
        for node_id, tier, kind, body, heading_path, document in kept["rules"]
    )
    return (UUID(kept["tenant_id"]), binding), rules


def _read(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
