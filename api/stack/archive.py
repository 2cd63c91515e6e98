"""The file of a backup: a tar of `database.dump` (pg_dump's custom format) and `manifest.json`, private, whole or not there.

Anybody can take it apart without Longtail: `tar xf`, then `pg_restore`.
"""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from models.errors import InvalidInput

DUMP, MANIFEST = "database.dump", "manifest.json"
FORMAT = 1
PIECE_BYTES = 1 << 20
OnBytes = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup holds, and the checksum that proves it."""

    format: int
    version: str  # of the Longtail that wrote it
    revision: str  # of its schema
    created_at: str
    dump_bytes: int
    dump_sha256: str
    rows: dict[str, int]


@contextmanager
def new_archive(path: Path) -> Iterator[IO[bytes]]:
    """A file that only its owner reads, under another name until it is whole."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    file = os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b")
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_dump(file: IO[bytes], source: IO[bytes], on_bytes: OnBytes) -> tuple[int, str]:
    """Copy a dump behind the room for its header; how long it is, and its SHA-256."""
    file.write(bytes(tarfile.BLOCKSIZE))
    digest, size = hashlib.sha256(), 0
    while piece := source.read(PIECE_BYTES):
        file.write(piece)
        digest.update(piece)
        size += len(piece)
        on_bytes(size)
    return size, digest.hexdigest()


def write_manifest(file: IO[bytes], manifest: Manifest) -> None:
    """The header of the dump, now that its length is known, and the manifest behind it."""
    file.write(bytes(-manifest.dump_bytes % tarfile.BLOCKSIZE))
    said = json.dumps(asdict(manifest), indent=2).encode() + b"\n"
    file.write(_header(MANIFEST, len(said)) + said + bytes(-len(said) % tarfile.BLOCKSIZE))
    file.write(bytes(2 * tarfile.BLOCKSIZE))
    file.seek(0)
    file.write(_header(DUMP, manifest.dump_bytes))
    file.seek(0, io.SEEK_END)


def _header(name: str, size: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    return member.tobuf(tarfile.GNU_FORMAT)


def read_manifest(path: Path) -> Manifest:
    """What the backup says of itself; refused where it is none, or is cut short."""
    try:
        with tarfile.open(path, "r:") as archive:
            names = archive.getnames()
            said = archive.extractfile(MANIFEST) if names == [DUMP, MANIFEST] else None
            if said is None:
                raise _no_backup(path, "it lacks its manifest")
            found = Manifest(**json.load(said))
            size = archive.getmember(DUMP).size
    except (tarfile.TarError, ValueError, TypeError, EOFError, RecursionError) as error:
        raise _no_backup(path, "it cannot be read as one") from error
    if found.format != FORMAT:
        raise InvalidInput(
            f"{path} has format {found.format}, this Longtail reads {FORMAT}",
            remedy="restore it with the version that wrote it",
        )
    if found.dump_bytes != size:
        raise _no_backup(path, "its manifest belongs to another dump")
    return found


def check_dump(path: Path, manifest: Manifest, on_bytes: OnBytes) -> None:
    """Refuse a dump whose bytes are not those that were written."""
    digest = hashlib.sha256()
    with open_dump(path) as dump:
        while piece := dump.read(PIECE_BYTES):
            digest.update(piece)
            on_bytes(dump.tell())
    if digest.hexdigest() != manifest.dump_sha256:
        raise InvalidInput(
            f"{path} is damaged: its SHA-256 is not the one it was written with",
            code="backup_damaged",
            remedy="take another copy of it, or an older backup",
        )


@contextmanager
def open_dump(path: Path) -> Iterator[IO[bytes]]:
    """The dump inside the archive."""
    with tarfile.open(path, "r:") as archive:
        dump = archive.extractfile(DUMP)
        assert dump is not None
        with dump:
            yield dump


def _no_backup(path: Path, why: str) -> InvalidInput:
    return InvalidInput(
        f"{path} is no backup of Longtail: {why}",
        code="backup_damaged",
        remedy="name a file that 'longtail backup' wrote, whole",
    )
