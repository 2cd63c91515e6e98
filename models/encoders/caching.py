"""Vectors kept by the hash of their text: what was encoded once, by any process, is not encoded again.

For benchmarks and trials, where the same conversations are read many times. The file holds digests and vectors,
no text; still it tells who holds a text whether it was encoded, so nobody but its owner may read it.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from models.encoders.protocol import EncoderFingerprint, EncoderUnavailable

if TYPE_CHECKING:
    from models.encoders.protocol import Encoder, Vectors

Kind = Literal["whole", "windows", "phrasing"]
KEYS_PER_QUERY: Final = 500  # SQLite takes at most 999 values in a statement of an old build
BUSY_SECONDS: Final = 30.0  # several workers write to one file


class CachingEncoder:
    """An encoder that looks texts up before it reads them; same vectors, same identity. Safe to share by threads."""

    def __init__(self, inner: Encoder, path: Path) -> None:
        self._inner = inner
        self._path = path
        # The fingerprint is part of every key: another model, or another tokenizer, finds nothing of this one's.
        self._prefix = inner.fingerprint.digest().encode()
        self._lock = threading.Lock()
        with self._open() as file:
            file.execute("PRAGMA journal_mode = WAL")
            file.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, rows BLOB NOT NULL) WITHOUT ROWID"
            )

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dimensions(self) -> int:
        return self._inner.dimensions

    @property
    def fingerprint(self) -> EncoderFingerprint:
        return self._inner.fingerprint

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit row per text, (n, d) float32."""
        return self._look_up_rows("whole", texts, self._inner.encode)

    def encode_windows(self, texts: Sequence[str]) -> list[Vectors]:
        """Returns (w, d) unit rows per text, one for each window."""
        return self._look_up("windows", texts, self._inner.encode_windows)

    def encode_phrasing(self, texts: Sequence[str]) -> Vectors:
        """Returns one unit row per text, (n, d) float32, of how it is put."""
        return self._look_up_rows("phrasing", texts, self._inner.encode_phrasing)

    def _look_up_rows(
        self, kind: Kind, texts: Sequence[str], encode: Callable[[list[str]], Vectors]
    ) -> Vectors:
        """One row of every text."""
        found = self._look_up(kind, texts, lambda missing: list(encode(missing)[:, np.newaxis]))
        return np.concatenate(found) if found else np.empty((0, self.dimensions), dtype=np.float32)

    def _look_up(
        self, kind: Kind, texts: Sequence[str], encode: Callable[[list[str]], list[Vectors]]
    ) -> list[Vectors]:
        """The rows of every text: from the file, or made now and written there."""
        keys = [self._key(kind, text) for text in texts]
        known = self._read(list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = dict(zip(missing, encode(list(missing.values())), strict=True))
            self._write(made)
            known.update(made)
        return [known[key] for key in keys]

    def _key(self, kind: Kind, text: str) -> bytes:
        # surrogatepass: a lone surrogate is a text like any other.
        return hashlib.sha256(
            b"\0".join((self._prefix, kind.encode(), text.encode("utf-8", "surrogatepass")))
        ).digest()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        known: dict[bytes, Vectors] = {}
        with self._open() as file:
            for start in range(0, len(keys), KEYS_PER_QUERY):
                some = keys[start : start + KEYS_PER_QUERY]
                marks = ",".join("?" * len(some))
                for key, rows in file.execute(f"SELECT key, rows FROM vectors WHERE key IN ({marks})", some):  # noqa: S608
                    known[key] = np.frombuffer(rows, dtype="<f4").reshape(-1, self.dimensions).copy()
        return known

    def _write(self, made: dict[bytes, Vectors]) -> None:
        rows = [(key, np.ascontiguousarray(vectors, dtype="<f4").tobytes()) for key, vectors in made.items()]
        with self._open() as file:
            # Two processes may have encoded one text at once: the first vector stays, they are equal.
            file.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """One transaction on the file. Opened for each: a connection must not be carried into another process."""
        try:
            with self._lock:
                if not self._path.exists():
                    self._path.touch(mode=0o600)
                file = sqlite3.connect(self._path, timeout=BUSY_SECONDS)
                try:
                    with file:
                        yield file
                finally:
                    file.close()
        except (OSError, sqlite3.Error) as error:
            raise EncoderUnavailable(
                f"the vector cache {self._path} cannot be used ({error}); delete it, or unset LONGTAIL_ENCODER_CACHE"
            ) from error
