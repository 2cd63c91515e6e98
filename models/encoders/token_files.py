"""Exact token counts through a Hugging Face tokenizer.json, and the loading that the encoder shares.

Nothing here imports `tokenizers` before a file is loaded.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from models.domain.prompt.tokens import CharsCounter, TokenCounter

MINILM_TOKENIZER_PATH: Final = Path(__file__).parent / "assets" / "minilm_tokenizer.json"
BUILT_IN_NAMES: Final = ("chars", "minilm")
CACHED_COUNTS: Final = 8192  # about 1 MB: keys are digests, so a cached count never keeps its text alive
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")


class UnknownTokenizer(ValueError):
    """No tokenizer goes by this name. The message lists the known ones."""


class BrokenTokenizerFile(ValueError):
    """The file is missing, unreadable, or no tokenizer.json. The message names it and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFile:
    """A loaded tokenizer and the digest of the bytes it came from."""

    tokenizer: Any  # tokenizers.Tokenizer, which has no type information
    sha256: str


def make_encodable(text: str) -> str:
    """Returns the text with surrogate pairs joined and lone surrogates replaced by U+FFFD.

    >>> make_encodable("caf\\u00e9"), make_encodable("a\\ud800b"), make_encodable("\\ud83d\\ude00")
    ('café', 'a\\ufffdb', '😀')
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def load_tokenizer_file(path: Path) -> TokenizerFile:
    """Loads a tokenizer.json that neither cuts, pads, nor takes text for a control token."""
    from tokenizers import Tokenizer

    remedy = "put a Hugging Face tokenizer.json there, or name another tokenizer"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BrokenTokenizerFile(
            f"tokenizer file {path} cannot be read ({error.strerror}); {remedy}"
        ) from error
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises its own bare Exception
        raise BrokenTokenizerFile(
            f"tokenizer file {path} is not a tokenizer.json ({error}); {remedy}"
        ) from error
    # Files keep the limits of the run that saved them; a count that stops at 128 is no count.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # "[SEP]" typed by a user is five characters, never the separator itself.
    tokenizer.encode_special_tokens = True
    return TokenizerFile(tokenizer=tokenizer, sha256=hashlib.sha256(content).hexdigest())


class FileTokenCounter:
    """Counts the tokens of a tokenizer.json exactly, without control tokens. Safe to share by threads.

    The id is the given name, else `file:` and the start of the file's SHA-256: a changed file is
    another counter, and no cached count of the old one is used.
    """

    __slots__ = ("_cache", "_cached_counts", "_id", "_lock", "_tokenizer", "sha256")

    def __init__(self, path: Path, *, name: str | None = None, cached_counts: int = CACHED_COUNTS) -> None:
        loaded = load_tokenizer_file(path)
        self.sha256 = loaded.sha256
        self._tokenizer = loaded.tokenizer
        self._id = name or f"file:{loaded.sha256[:12]}"
        self._cached_counts = cached_counts
        self._cache: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def id(self) -> str:
        return self._id

    def count(self, text: str) -> int:
        """Tokens of the text under this tokenizer, 0 for the empty text."""
        if not text:
            return 0
        text = make_encodable(text)
        key = hashlib.blake2b(text.encode(), digest_size=16).digest()
        with self._lock:
            known = self._cache.get(key)
            if known is not None:
                self._cache.move_to_end(key)
                return known
        # Outside the lock: two threads may count one text twice, none waits for another's megabyte.
        counted = len(self._tokenizer.encode(text, add_special_tokens=False))
        with self._lock:
            self._cache[key] = counted
            if len(self._cache) > self._cached_counts:
                self._cache.popitem(last=False)
        return counted


def load_token_counter(name: str, *, folder: Path | None) -> TokenCounter:
    """Returns the counter of that name: `chars`, `minilm`, else the file `<name>.json` in the folder.

    Reads the file anew on every call: load once and keep it. Names are letters, digits, `.`, `_` and
    `-`, so that none leads out of the folder.
    """
    if name == "chars":
        return CharsCounter()
    if name == "minilm":
        return FileTokenCounter(MINILM_TOKENIZER_PATH, name="minilm")
    if folder is not None and _NAME.fullmatch(name):
        path = folder / f"{name}.json"
        if path.is_file():
            return FileTokenCounter(path)
    where = (
        f"; put {name}.json there" if folder is not None else "; set LONGTAIL_TOKENIZER_FOLDER to use files"
    )
    raise UnknownTokenizer(
        f"tokenizer {name!r} is unknown, known are {', '.join(list_token_counters(folder))}{where}"
    )


def list_token_counters(folder: Path | None) -> list[str]:
    """Returns every name that load_token_counter takes, the built-in ones first."""
    if folder is None or not folder.is_dir():
        return list(BUILT_IN_NAMES)
    files = {path.stem for path in folder.glob("*.json") if _NAME.fullmatch(path.stem) and path.is_file()}
    return [*BUILT_IN_NAMES, *sorted(files.difference(BUILT_IN_NAMES))]
