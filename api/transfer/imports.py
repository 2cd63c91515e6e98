"""Import: lines of an export into a tenant, all of them or none, errors by the number of their line."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from types import TracebackType
from typing import Any, Self
from uuid import uuid5

from pydantic import ValidationError
from sqlalchemy import Connection
from sqlalchemy.exc import DataError, IntegrityError, InternalError

from api.routing.problems import VALIDATION_CODES
from api.runtime import Runtime
from api.screening import screen_values
from api.transfer.export import TRANSFER_TIMEOUT_MS, transfer_slot
from api.transfer.schemas import RECORDS, EndRecord, HeaderRecord, ImportOut, NamedRecord, Record
from models.errors import Conflict, InvalidInput, PermanentError, ServiceError, TooLarge
from models.messages import INGEST
from models.store.engine import tenant_transaction
from models.store.tenancy.erasure import find_buried
from models.store.tenancy.tokens import Caller
from models.store.transfer.imports import import_records

Line = tuple[int, str, dict[str, Any]]  # its number, its kind, its record
ID_FIELDS = ("id", "turn_id", "memory_id", "item_id", "superseded_by")
ID_LISTS = ("prior_ids", "children")
NESTED = ("sources", "revisions", "turns", "nodes")


class Importer:
    """One import: takes lines as they come, keeps them in one transaction, and ends it well or not at all."""

    def __init__(self, runtime: Runtime, caller: Caller, *, makes_ids: bool) -> None:
        self._runtime = runtime
        self._caller = caller
        self._rename: Callable[[str], str] | None = (
            (lambda found: str(uuid5(caller.tenant_id, found))) if makes_ids else None
        )
        self._stack = ExitStack()
        self._connection: Connection | None = None
        self._lines = 0
        self._records: Counter[str] = Counter()
        self._new: Counter[str] = Counter()
        self._secrets: Counter[str] = Counter()
        self._erased: set[str] = set()  # sessions by name, everything else by id
        self._left: Counter[str] = Counter()
        self._end: EndRecord | None = None

    def __enter__(self) -> Self:
        self._stack.enter_context(transfer_slot(self._runtime))
        self._connection = self._stack.enter_context(
            tenant_transaction(self._runtime.engine, self._caller, timeout_ms=TRANSFER_TIMEOUT_MS)
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def take(self, lines: Sequence[bytes]) -> None:
        """The next lines, in order."""
        read = [line for given in lines if (line := self._read(given)) is not None]
        for kind, group in groupby(read, key=lambda line: line[1]):
            self._store(kind, list(group))

    def finish(self) -> ImportOut:
        """Everything came: say what it was. The transaction ends when this object is left."""
        if self._end is None:
            raise InvalidInput(
                f"the export ends after line {self._lines} without its last record",
                code="import_truncated",
                remedy="export it again; nothing was imported",
            )
        return ImportOut(
            lines=self._lines,
            records=dict(self._records),
            new=dict(self._new),
            secrets=dict(self._secrets),
            erased=dict(self._left),
        )

    def ring(self) -> None:
        """Wake the workers, after the commit."""
        self._runtime.doorbell.ring(INGEST)

    def _read(self, given: bytes) -> Line | None:
        self._lines += 1
        if not given.strip():
            return None
        limit = self._runtime.settings.max_import_line_bytes
        if len(given) > limit:
            raise TooLarge(
                f"line {self._lines} has {len(given)} bytes; a line may have {limit}",
                code="line_too_large",
                remedy="raise LONGTAIL_MAX_IMPORT_LINE_BYTES",
            )
        record = self._parse(given)
        if self._end is not None:
            raise self._refuse("the line stands behind the last record", "import_malformed")
        if isinstance(record, HeaderRecord) != (self._lines == 1):
            raise self._refuse("the first line of an export, and no other, is its header", "import_malformed")
        if isinstance(record, HeaderRecord):
            return None
        if isinstance(record, EndRecord):
            if record.counts != dict(self._records):
                raise self._refuse("records are missing: the last line counts others", "import_truncated")
            self._end = record
            return None
        self._records[record.type] += 1
        found = self._screen(record.model_dump(mode="json", exclude={"type"}))
        if self._rename is None:
            return self._lines, record.type, found
        own = (
            {"id": found["id"]} if isinstance(record, NamedRecord) else {}
        )  # a client's name, not an id of ours
        return self._lines, record.type, {**rename_ids(found, self._rename), **own}

    def _screen(self, found: dict[str, Any]) -> dict[str, Any]:
        """The record without secrets; a key that was made from the words follows them."""
        screened: dict[str, Any]
        try:
            screened, secrets = screen_values(found, f"line {self._lines}")
        except InvalidInput as error:
            raise self._refuse(error.detail, error.code) from error
        self._secrets.update({one.kind: one.count for one in secrets})
        if "dedup_key" in found and screened["content"] != found["content"]:
            old, new = (hashlib.sha256(one["content"].encode()).hexdigest() for one in (found, screened))
            for length in (32, 16):
                screened["dedup_key"] = screened["dedup_key"].replace(old[:length], new[:length])
        return screened

    def _parse(self, given: bytes) -> Record:
        try:
            return RECORDS.validate_json(given)
        except ValidationError as error:
            first = error.errors()[0]
            context = first.get("ctx") or {}
            code, remedy = VALIDATION_CODES.get(first["type"], ("invalid_value", "see docs/api.md"))
            field = ".".join(str(part) for part in first["loc"][1:])
            raise InvalidInput(
                f"line {self._lines}: {first['msg']}",
                code=context.get("code", code),
                field=f"line {self._lines}" + (f": {field}" if field else ""),
                remedy=context.get("remedy", remedy),
            ) from error

    def _refuse(self, detail: str, code: str) -> InvalidInput:
        return InvalidInput(
            f"line {self._lines}: {detail}",
            code=code,
            field=f"line {self._lines}",
            remedy="import an export as it came; nothing was imported",
        )

    def _store(self, kind: str, lines: list[Line]) -> None:
        """A batch at once; where one of them does not fit, each alone, to name it."""
        try:
            self._new[kind] += self._insert(kind, lines)
        except (IntegrityError, DataError, InternalError, PermanentError) as error:
            if len(lines) == 1:
                raise _name_line(lines[0][0], error) from error
            for line in lines:
                self._store(kind, [line])

    def _leave_erased(self, kind: str, lines: Sequence[Line]) -> list[Line]:
        """The lines without what was erased here once, and without what rests on it."""
        assert self._connection is not None
        buried = [False] * len(lines)
        if kind in {"session", "turn", "document"}:
            names = [name_buried(kind, record) for _, _, record in lines]
            buried = find_buried(self._connection, kind=kind, names=names)
        kept = []
        for line, is_buried in zip(lines, buried, strict=True):
            record = line[2]
            if is_buried or rests_on(record, self._erased):
                self._erased.add(str(record["session_id"] if kind == "session" else record.get("id")))
                self._left[kind] += 1
            else:
                kept.append(line)
        return kept

    def _insert(self, kind: str, lines: Sequence[Line]) -> int:
        assert self._connection is not None
        lines = self._leave_erased(kind, lines)
        if not lines:
            return 0
        with self._connection.begin_nested():
            return import_records(
                self._connection,
                tenant_id=self._caller.tenant_id,
                kind=kind,
                records=[record for _, _, record in lines],
            )


def name_buried(kind: str, record: Mapping[str, Any]) -> str:
    """What a session, a turn or a document is known by, if it was erased."""
    if kind == "session":
        return str(record["session_id"])
    if kind == "turn":
        return f"{record['session_id']}\n{hashlib.sha256(record['content'].encode()).hexdigest()}"
    digest = hashlib.sha256(record["body"].encode()).hexdigest()
    return f"{record['binding']}\n{record['name']}\n{digest}"


def rests_on(record: Mapping[str, Any], erased: set[str]) -> bool:
    """Whether a record is about something erased: its session, its turn, or one of those a summary covers."""
    if not erased:
        return False
    named = [record.get(field) for field in ("session_id", "turn_id", "item_id")]
    covered = [one["turn_id"] for one in record.get("turns", ())] + list(record.get("children", ()))
    confirmed = [one["turn_id"] for one in record.get("sources", ())]
    return any(str(one) in erased for one in (*named, *covered, *confirmed) if one is not None)


def rename_ids(record: Mapping[str, Any], rename: Callable[[str], str]) -> dict[str, Any]:
    """The record with every id made anew, in the same way everywhere: references still meet.

    >>> rename_ids({"id": "a", "turn_id": None, "children": ["b"], "turns": [{"turn_id": "a"}]}, str.upper)
    {'id': 'A', 'turn_id': None, 'children': ['B'], 'turns': [{'turn_id': 'A'}]}
    """

    def change(key: str, value: Any) -> Any:
        if value is None:
            return None
        if key in ID_FIELDS:
            return rename(value)
        if key in ID_LISTS:
            return [rename(one) for one in value]
        if key in NESTED:
            return [rename_ids(one, rename) for one in value]
        return value

    return {key: change(key, value) for key, value in record.items()}


def _name_line(number: int, error: Exception) -> ServiceError:
    if isinstance(error, ServiceError):
        return type(error)(
            f"line {number}: {error.detail}",
            code=error.code,
            field=f"line {number}: {error.field}" if error.field else f"line {number}",
            remedy=error.remedy,
        )
    reason = str(getattr(error, "orig", error)).strip().partition("\n")[0]
    return Conflict(
        f"line {number} does not fit what is there: {reason}",
        code="import_conflict",
        field=f"line {number}",
        remedy="import into a tenant that does not hold this session or document yet; nothing was imported",
    )


def split_lines(waiting: bytearray) -> Iterator[bytes]:
    """The whole lines of a buffer, which keeps the rest."""
    end = waiting.rfind(b"\n")
    if end < 0:
        return
    whole = bytes(waiting[:end])
    del waiting[: end + 1]
    yield from whole.split(b"\n")
