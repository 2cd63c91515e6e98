"""Bringing the server's documents in step with a folder: what differs is sent, what is gone is deleted.

What to do is always worked out anew from the disk and the ledger, never kept as a list of events: a change that
could not be sent is found again at the next look, also after a restart.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from api.watching.folder import Listing, Selection, list_folder
from api.watching.ledger import Ledger, Sent
from models.errors import Forbidden, NotFound, PermanentError, Unauthorized

# A file whose status changed this lately may change again without its status telling.
FRESH_SECONDS = 2.0
NO_WORDS = ""  # the hash of a file without a word, which says as much as one that is not there

EventKind = Literal["loaded", "renamed", "deleted", "refused", "unreadable"]


def hash_body(body: bytes) -> str:
    """What two versions of a file are compared by."""
    return hashlib.sha256(body).hexdigest() if body.strip() else NO_WORDS


class DocumentStore(Protocol):
    """What is asked of a server: `api.client.ServiceClient` is one."""

    def put_document(self, name: str, markdown: str | bytes, **parameters: str) -> dict[str, Any]: ...

    def delete_document(self, name: str, **parameters: str) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened to one file."""

    event: EventKind
    name: str
    kind: str | None = None
    from_name: str | None = None  # of a renamed one
    detail: str | None = None
    remedy: str | None = None
    code: str | None = None
    answer: dict[str, Any] | None = None  # of a loaded one: how it was partitioned


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file with words in it, by the hash of its bytes."""

    name: str
    kind: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What has to be done: first deletions, so that a renamed file does not pay its hard rules twice."""

    gone: tuple[str, ...]
    changed: tuple[File, ...]
    unchanged: int
    unreadable: tuple[Event, ...]

    @property
    def size(self) -> int:
        return len(self.gone) + len(self.changed)


class FolderSync:
    """One folder, one server, and what is known to be the same in both."""

    def __init__(
        self,
        root: Path,
        store: DocumentStore,
        ledger: Ledger,
        *,
        selection: Selection,
        policy: str = "refuse",
        binding: dict[str, str] | None = None,
    ) -> None:
        self.root = root
        self._store = store
        self._ledger = ledger
        self._selection = selection
        self._policy = policy
        self._binding = binding or {}
        self._refused: dict[
            str, str
        ] = {}  # name to the hash that was refused: asked again when it can differ
        self._hashes: dict[
            str, tuple[tuple[int, ...], str]
        ] = {}  # name to the file's status and its hash then
        self.is_behind = True  # whether something may still have to be sent

    @property
    def documents(self) -> int:
        """How many documents the server has of this folder."""
        return len(self._ledger.documents)

    @property
    def refused(self) -> tuple[str, ...]:
        """Files the server would not take as they are."""
        return tuple(sorted(self._refused))

    def plan(self) -> Plan:
        """Compare the folder with what was sent, by the hash of every file."""
        listing = list_folder(self.root, self._selection)
        changed: list[File] = []
        unreadable: list[Event] = []
        empty: set[str] = set()
        unchanged = 0
        for name in sorted(listing.names):
            file = self._look_at(name)
            if isinstance(file, Event):
                unreadable.append(file)
            elif file is None:
                empty.add(name)
            elif self._is_sent(file) or self._refused.get(name) == file.sha256:
                unchanged += 1
            else:
                changed.append(file)
        gone = self._find_gone(listing, empty)
        for name in [name for name in self._refused if name not in listing.names and listing.knows(name)]:
            del self._refused[name]
        return Plan(gone=gone, changed=tuple(changed), unchanged=unchanged, unreadable=tuple(unreadable))

    def _look_at(self, name: str) -> "File | Event | None":
        """A file as it is now; None for one without a word."""
        try:
            name.encode()
            sha256 = self._hash(name)
        except FileNotFoundError:
            return None  # gone between the look and the reading
        except UnicodeEncodeError:
            shown = name.encode(errors="surrogateescape").decode(errors="replace")
            return Event(event="unreadable", name=shown, detail="its name is not UTF-8", remedy="rename it")
        except OSError as error:
            return Event(event="unreadable", name=name, detail=error.strerror or str(error))
        if sha256 == NO_WORDS:
            return None
        return File(name=name, kind=self._selection.kind_of(name), sha256=sha256)

    def _hash(self, name: str) -> str:
        """The hash of a file; one whose status has not changed for a while is not read again."""
        found = os.stat(self.root / name)
        status = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        known = self._hashes.get(name)
        if known is not None and known[0] == status:
            return known[1]
        sha256 = hash_body((self.root / name).read_bytes())
        if time.time() - found.st_ctime > FRESH_SECONDS:
            self._hashes[name] = (status, sha256)
        return sha256

    def _is_sent(self, file: File) -> bool:
        return self._ledger.documents.get(file.name) == self._describe(file)

    def _describe(self, file: File) -> Sent:
        # The policy means something to rules alone.
        return Sent(
            sha256=file.sha256, kind=file.kind, policy=self._policy if file.kind == "authored" else ""
        )

    def _find_gone(self, listing: Listing, empty: set[str]) -> tuple[str, ...]:
        known = sorted(self._ledger.documents)
        return tuple(
            name for name in known if name in empty or (name not in listing.names and listing.knows(name))
        )

    def carry_out(self, plan: Plan, *, on_step: Callable[[], None] = lambda: None) -> Iterator[Event]:
        """Do what a plan says and tell what came of each file.

        Raises TransientError when the server is away: what was done is written down, the rest is in the next plan.
        """
        self.is_behind = True
        try:
            yield from self._carry_out(plan, on_step)
        finally:
            self._ledger.save()
        self.is_behind = False

    def _carry_out(self, plan: Plan, on_step: Callable[[], None]) -> Iterator[Event]:
        twins = self._find_renamed(plan)
        has_room = bool(plan.gone)
        for name in plan.gone:
            self._delete(name)
            if name not in twins.values():
                yield Event(event="deleted", name=name)
            on_step()
        for file in plan.changed:
            event = self._put(file, twins.get(file.name))
            has_room = has_room or event.event != "refused"
            yield event
            on_step()
        if has_room:
            yield from self._ask_again()

    def _find_renamed(self, plan: Plan) -> dict[str, str]:
        """New name to old name, where a file that is gone said the same as one that is new."""
        old = {self._ledger.documents[name].sha256: name for name in plan.gone}
        twins: dict[str, str] = {}
        for file in plan.changed:
            if file.name not in self._ledger.documents and file.sha256 in old:
                twins[file.name] = old.pop(file.sha256)
        return twins

    def _delete(self, name: str) -> None:
        with contextlib.suppress(NotFound):  # somebody else deleted it: as wanted
            self._store.delete_document(name, **self._binding)
        self._ledger.forget(name)

    def _put(self, file: File, old_name: str | None) -> Event:
        parameters = {"kind": file.kind, **self._binding}
        if file.kind == "authored":
            parameters["policy"] = self._policy
        try:
            body = (self.root / file.name).read_bytes()
        except OSError as error:  # gone or closed since the look: the next one knows what to do
            return Event(event="unreadable", name=file.name, detail=error.strerror or str(error))
        file = replace(file, sha256=hash_body(body))
        if file.sha256 == NO_WORDS:
            return Event(event="unreadable", name=file.name, detail="it has just been emptied")
        try:
            answer = self._store.put_document(file.name, body, **parameters)
        except (Unauthorized, Forbidden):
            raise  # no file is to blame: the token is
        except PermanentError as error:
            self._refused[file.name] = file.sha256
            return Event(
                event="refused",
                name=file.name,
                kind=file.kind,
                detail=error.detail,
                remedy=error.remedy,
                code=error.code,
            )
        self._refused.pop(file.name, None)
        self._ledger.record(file.name, self._describe(file))
        return Event(
            event="renamed" if old_name else "loaded",
            name=file.name,
            from_name=old_name,
            kind=file.kind,
            answer=answer,
        )

    def _ask_again(self) -> Iterator[Event]:
        """The hard reserve is shared: what was refused before may fit now that something else changed."""
        for name in self.refused:
            file = self._look_at(name)
            if isinstance(file, File) and self._refused.get(name) == file.sha256:
                event = self._put(file, None)
                if event.event != "refused":
                    yield event
