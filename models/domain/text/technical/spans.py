"""Technical spans in free text: what they are, where they stand, and how an identifier is compared.

A turn is found by meaning or by name (memory-model.md, section 7), so a path, an error code or a
hash must survive tokenising whole. The gate (section 5) counts the same spans.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from models.domain.text.technical.expressions import (
    CODE,
    ENDPOINT,
    ERROR_CODE,
    FLAG,
    FOLD_SEPARATOR,
    GIT_REFERENCE,
    GLUED_IDEOGRAPHS,
    HEX,
    MAIL,
    PART_SEPARATOR,
    POSIX_PATH,
    QUANTITY,
    RELATIVE_PATH,
    TOKEN,
    URL,
    UUID,
    VERSION,
    WINDOWS_PATH,
)
from models.domain.text.technical.shapes import (
    SpanKind,
    classify_token,
    has_extension,
    is_bare_url,
    is_hash_like,
    is_relative_path,
    trim_punctuation,
)

# Longer runs are payload (base64, minified code), not something a person would ask for by name.
MAX_IDENTIFIER_CHARS: Final = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class TechnicalSpan:
    """One technical expression: text[start:end] and the kind of thing it names."""

    kind: SpanKind
    text: str
    start: int
    end: int


# A claim is (start, end, kind): spans are built only for the claims that survive, because a hostile
# megabyte can hold half a million of them.
Claim = tuple[int, int, SpanKind]
ClaimFinder = Callable[[str], Iterator[Claim]]


def _claim_matches(kind: SpanKind, pattern: re.Pattern[str]) -> ClaimFinder:
    def find(text: str) -> Iterator[Claim]:
        for match in pattern.finditer(text):
            start, end = match.span()
            if not text[end - 1].isalnum():
                end = start + len(trim_punctuation(match.group()))
            yield start, end, kind

    return find


def _claim_relative_paths(text: str) -> Iterator[Claim]:
    for match in RELATIVE_PATH.finditer(text):
        if match.end() - match.start() > MAX_IDENTIFIER_CHARS:
            continue
        found = trim_punctuation(match.group())
        # Ideographs glued to a Latin folder name are the sentence around it: "见src/app.py".
        start = match.start() + (glued.end() if (glued := GLUED_IDEOGRAPHS.match(found)) else 0)
        found = found[start - match.start() :]
        if is_relative_path(found):
            yield start, start + len(found), "path"
        elif is_bare_url(found):
            yield start, start + len(found), "url"


def _claim_hashes(text: str) -> Iterator[Claim]:
    for match in HEX.finditer(text):
        found = match.group()
        if is_hash_like(found):
            # Git prints 7 to 12 digits, or all 40; other lengths are digests of something else.
            is_git = found.isalnum() and not found.startswith("0x") and (len(found) <= 12 or len(found) == 40)
            yield match.start(), match.end(), "git_hash" if is_git else "hex_id"


def _is_plain_word(token: str) -> bool:
    return token.isalnum() and (token.islower() or token.isupper() or token.istitle() or token.isdigit())


def _claim_tokens(text: str) -> Iterator[Claim]:
    for match in TOKEN.finditer(text):
        start, end = match.span()
        token = match.group()
        if end - start > MAX_IDENTIFIER_CHARS or (_is_plain_word(token) and text[end : end + 2] != "()"):
            continue
        if has_extension(token):
            yield start, end, "path"
            continue
        for piece in token.split("-"):
            kind = classify_token(piece, text[start + len(piece) : start + len(piece) + 2])
            if kind is not None:
                yield start, start + len(piece), kind
            start += len(piece) + 1


# Order matters only where two kinds claim the same characters: the earlier one wins.
_FINDERS: Final[tuple[ClaimFinder, ...]] = (
    _claim_matches("url", URL),
    _claim_matches("endpoint", ENDPOINT),
    _claim_matches("mail", MAIL),
    _claim_matches("error_code", ERROR_CODE),
    _claim_matches("git_reference", GIT_REFERENCE),
    _claim_matches("uuid", UUID),
    _claim_matches("path", WINDOWS_PATH),
    _claim_matches("path", POSIX_PATH),
    _claim_relative_paths,
    _claim_hashes,
    _claim_matches("version", VERSION),
    _claim_matches("quantity", QUANTITY),
    _claim_matches("flag", FLAG),
    _claim_tokens,
    _claim_matches("code", CODE),
)


def find_technical_spans(text: str) -> tuple[TechnicalSpan, ...]:
    """Return the technical expressions of a text in reading order, none overlapping another.

    Where claims overlap, the one that starts first wins, then the longer, then the more specific kind.

    >>> [(s.kind, s.text) for s in find_technical_spans("GET /v1/turns gave HTTP 500 in api/app.py")]
    [('endpoint', 'GET /v1/turns'), ('error_code', 'HTTP 500'), ('path', 'api/app.py')]
    """
    claims = sorted(
        (start, -end, rank, kind)
        for rank, find in enumerate(_FINDERS)
        for start, end, kind in find(text)
        if end - start <= MAX_IDENTIFIER_CHARS
    )
    kept: list[TechnicalSpan] = []
    reached = 0
    for start, negative_end, _, kind in claims:
        if start >= reached:
            reached = -negative_end
            kept.append(TechnicalSpan(kind=kind, text=text[start:reached], start=start, end=reached))
    return tuple(kept)


def extract_identifiers(text: str) -> tuple[str, ...]:
    """Return the distinct identifiers of a text, verbatim, in order of first appearance.

    Paths, error codes, git references, hashes, UUIDs, dotted, camelCase and snake_case names, URLs,
    versions, and numbers with their unit.

    >>> extract_identifiers("ORA-00942 in src/db.py after 250 ms, see os.path and userId")
    ('ORA-00942', 'src/db.py', '250 ms', 'os.path', 'userId')
    """
    return tuple(dict.fromkeys(span.text for span in find_technical_spans(text)))


def split_camel_case(word: str) -> tuple[str, ...]:
    """Return the humps of a word; a run of capitals is one hump, digits stay with what precedes them.

    >>> split_camel_case("parseHTTPResponse2")
    ('parse', 'HTTP', 'Response2')
    """
    parts: list[str] = []
    start = 0
    for i in range(1, len(word)):
        after_lower = word[i].isupper() and not word[i - 1].isupper()
        ends_capitals = (
            word[i - 1].isupper() and word[i].isupper() and i + 1 < len(word) and word[i + 1].islower()
        )
        if (after_lower and not word[i - 1].isdigit()) or ends_capitals:
            parts.append(word[start:i])
            start = i
    parts.append(word[start:])
    return tuple(part for part in parts if part)


def _is_telling(part: str) -> bool:
    """A part worth comparing: two characters with a letter, or a number of three digits."""
    return len(part) >= 2 and (any(c.isalpha() for c in part) or len(part) >= 3)


def fold_identifier(identifier: str) -> tuple[str, ...]:
    """Return the lower-cased whole of an identifier, then its distinct parts, coarse to fine.

    Path segments, then dotted parts, then snake_case and kebab-case parts, then camelCase humps. A hash,
    a UUID, a version or an overlong run has no parts. A quantity also yields its form without blanks.

    >>> fold_identifier("models/domain/gatePolicy.py")
    ('models/domain/gatepolicy.py', 'models', 'domain', 'gatepolicy.py', 'gatepolicy', 'py', 'gate', 'policy')
    >>> fold_identifier("3.5 GB")
    ('3.5 gb', '3.5gb')
    """
    whole = identifier.strip()
    lowered = whole.lower()
    if not whole:
        return ()
    if len(whole) > MAX_IDENTIFIER_CHARS:
        return (lowered,)
    if UUID.fullmatch(whole) or (HEX.fullmatch(whole) and is_hash_like(whole)) or VERSION.fullmatch(whole):
        return (lowered,)
    if QUANTITY.fullmatch(whole):
        return tuple(dict.fromkeys((lowered, "".join(lowered.split()))))
    folded = [lowered]
    segments = [segment.strip(".") for segment in FOLD_SEPARATOR.split(whole)]
    dotted = [part for segment in segments for part in segment.split(".")]
    words = [word for part in dotted for word in PART_SEPARATOR.split(part)]
    humps = [hump for word in words for hump in split_camel_case(word)]
    folded += [part.lower() for part in (*segments, *dotted, *words, *humps) if _is_telling(part)]
    return tuple(dict.fromkeys(folded))
