"""Technical spans in free text: what they are, where they stand, and how an identifier is compared.

A turn is found by meaning or by name (memory-model.md, section 7), so a path, an error code or a
hash must survive tokenising whole. The gate (section 5) counts the same spans.

Every pattern runs in linear time: repetition is possessive or bounded, neighbouring repetitions
have disjoint alphabets, and a look-behind keeps a match from starting inside a run that a match
one character earlier has already refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

SpanKind = Literal[
    "url",
    "endpoint",
    "mail",
    "path",
    "error_code",
    "git_reference",
    "git_hash",
    "hex_id",
    "uuid",
    "version",
    "quantity",
    "code",
    "flag",
    "function",
    "name",
]

# Longer runs are payload (base64, minified code), not something a person would ask for by name.
MAX_IDENTIFIER_CHARS: Final = 2_048

# Letters of scripts that put spaces between words. Ideographs are left out on purpose: in
# "函数get_user返回" the name ends where the Latin letters end.
_W: Final = r"0-9A-Za-z_\u00c0-\u1fff"
_SEGMENT: Final = r"[\w.@+~%=$-]"


@dataclass(frozen=True, slots=True, kw_only=True)
class TechnicalSpan:
    """One technical expression: text[start:end] and the kind of thing it names."""

    kind: SpanKind
    text: str
    start: int
    end: int


URL: Final = re.compile(
    rf"(?<![{_W}+.-])(?:[A-Za-z][A-Za-z0-9+.-]{{1,19}}://|www\.)[^\s<>\"'`|\\^{{}}。，、；：！？）】》」]{{3,2048}}+"
)
ENDPOINT: Final = re.compile(
    r"(?<![A-Za-z])(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /[\w./{}:?=&%~-]{0,512}+"
    r"|(?<![A-Za-z0-9.-])(?:localhost|\d{1,3}(?:\.\d{1,3}){3}):\d{2,5}(?!\d)(?:/[\w./{}:?=&%~-]{0,512}+)?"
)
MAIL: Final = re.compile(rf"(?<![{_W}.+-])[{_W}.+-]{{1,64}}+@[{_W}-]{{1,63}}+(?:\.[{_W}-]{{1,63}}+){{1,8}}+")

# "/etc" and "/tmp" stand alone; other absolute paths need a second segment, or "/s" and "/shrug" would count.
_ROOTS: Final = "etc|tmp|usr|var|home|opt|bin|sbin|dev|proc|sys|mnt|srv|root|boot|Users|Library|Applications"
POSIX_PATH: Final = re.compile(
    rf"(?<![{_W}./~:<\\-])(?:"
    rf"(?:~|\.{{1,2}})(?:/{_SEGMENT}{{1,255}}+)++/?"
    rf"|(?:/{_SEGMENT}{{1,255}}+){{2,}}+/?"
    rf"|/(?:{_ROOTS})(?![{_W}-])/?"
    rf"|\.(?:env|gitignore|dockerignore|bashrc|zshrc|npmrc|editorconfig)(?![{_W}])"
    rf"|(?:Dockerfile|Makefile|Jenkinsfile|Procfile)(?![{_W}]))"
)
# A segment may hold blanks only when a backslash still follows: "C:\Program Files\app and" ends at "app".
_WIN: Final = r"[^\\/:*?\"<>|\r\n\t ]{1,255}+"
WINDOWS_PATH: Final = re.compile(
    rf"(?<![{_W}])(?:[A-Za-z]:[\\/](?![\\/])|\\\\[\w.$-]{{1,255}}+\\)"
    rf"(?:{_WIN}(?: {_WIN}){{0,4}}+[\\/])*+(?:{_WIN})?"
)
RELATIVE_PATH: Final = re.compile(rf"(?<![\w./\\@:~<-])@?[\w.+-]{{1,128}}+(?:[/\\]{_SEGMENT}{{1,255}}+)++")

_ERRNO: Final = (
    "CONNREFUSED|CONNRESET|CONNABORTED|ACCES|PERM|NOENT|EXIST|INVAL|ADDRINUSE|ADDRNOTAVAIL|TIMEDOUT|PIPE|AGAIN|"
    "NOMEM|BUSY|NOTFOUND|NOTDIR|ISDIR|NOTEMPTY|MFILE|NFILE|NOSPC|ROFS|HOSTUNREACH|NETUNREACH|RESOLVE|LOOP|INTR|IO"
)
ERROR_CODE: Final = re.compile(
    rf"(?<![{_W}-])(?:"
    r"E\d{4}|TS\d{4,5}|(?:MSB|NETSDK|LNK|CS|SC)\d{4}|NU1\d{3}|AADSTS\d{4,6}"
    r"|(?:ORA|PLS|TNS|SP2|RMAN)-\d{4,5}|CVE-\d{4}-\d{4,7}|CWE-\d{1,4}|GHSA(?:-[0-9a-z]{4}){3}"
    r"|SQLSTATE[ \[:=(]{1,3}[0-9A-Z]{5}\]?"
    r"|HTTP(?:/\d(?:\.\d)?)? (?:status )?(?:code )?[1-5]\d{2}"
    r"|[45]\d{2} (?:[Ee]rror|Not Found|Internal Server Error|Bad Request|Unauthorized|Forbidden|Bad Gateway"
    r"|Service Unavailable|Too Many Requests|Gateway Timeout|Conflict)"
    r"|(?:[Ee]rror|ERROR|[Ee]rrno|[Ee]xit|[Ss]tatus)(?: (?:code|status|number))?[ :=#(]{1,3}-?\d{1,6}"
    rf"|0x[0-9A-Fa-f]{{8}}|ERR_[A-Z0-9_]{{2,64}}|E(?:{_ERRNO})"
    r"|SIG(?:SEGV|KILL|TERM|INT|ABRT|BUS|FPE|ILL|PIPE|HUP|QUIT)"
    r"|CrashLoopBackOff|ImagePullBackOff|OOMKilled"
    rf")(?![{_W}])"
)
GIT_REFERENCE: Final = re.compile(
    rf"(?<![{_W}/.-])(?:"
    r"HEAD(?:[~^]\d{0,3}|@\{\d{1,4}\})(?:[~^]\d{0,3}){0,4}"
    r"|(?:origin|upstream|refs/(?:heads|tags|remotes))/[\w./-]{1,200}+"
    r"|(?:feature|feat|fix|bugfix|hotfix|release|chore)/(?=[\w.]{0,64}[-\d_])[\w./-]{2,200}+"
    r"|(?:PR|MR|[Pp]ull [Rr]equest|[Mm]erge [Rr]equest|[Ii]ssue|GH)[ -]?[#!]?\d{1,7}"
    rf")(?![{_W}])"
)
UUID: Final = re.compile(
    rf"(?<![{_W}-])[0-9A-Fa-f]{{8}}(?:-[0-9A-Fa-f]{{4}}){{3}}-[0-9A-Fa-f]{{12}}(?![{_W}-])"
)
HEX: Final = re.compile(
    rf"(?<![{_W}-])(?:0x[0-9A-Fa-f]{{2,64}}+|(?:sha(?:1|256|512)|md5)[:-][0-9a-f]{{7,128}}+"
    rf"|[0-9a-f]{{7,64}}+|[0-9A-F]{{8,64}}+)(?![{_W}-])"
)
VERSION: Final = re.compile(
    rf"(?<![{_W}.-])(?:v\d{{1,4}}(?:\.\d{{1,6}}){{1,4}}+|\d{{1,4}}(?:\.\d{{1,6}}){{2,4}}+"
    rf"|(?:[A-Z][A-Za-z+#]{{1,20}}+|python|node|npm|pip|java|go|ruby|php)[ @/]"
    rf"v?\d{{1,4}}\.\d{{1,6}}(?:\.\d{{1,6}}){{0,2}}+)"
    rf"(?:[-+][0-9A-Za-z]{{1,16}}+(?:\.[0-9A-Za-z]{{1,16}}+){{0,4}}+)?(?![{_W}])"
)
_UNITS: Final = (
    r"%|°[CF]|[KMGTP]i?B(?:/s)?|kB|[kmgt]b(?:ps)?|[KMG]bps|bytes?|bits?|ns|µs|μs|us|ms|seconds?|secs?|s|minutes?|mins?"
    r"|hours?|hrs?|h|days?|weeks?|months?|years?|yrs?|km/h|kph|mph|km|cm|mm|m|miles?|mi|meters?|metres?|feet|ft|inch(?:es)?"
    r"|kg|g|mg|lbs?|pounds?|oz|ounces?|tons?|liters?|litres?|ml|l|gallons?|cups?|tbsp|tsp|kcal|cal(?:ories)?|degrees?"
    r"|[kMG]?Hz|k?Wh?|mAh|volts?|V|amps?|px|dpi|fps|rpm|bpm|tokens?|rows?|users?|dollars?|bucks|euros?|USD|EUR|GBP|[kKxX]"
    r"|people|steps|pages|points|times|元|円|公里|公斤|小时|分钟"
)
_NUMBER: Final = r"(?:\d{1,3}/\d{1,3}(?![\d/])|\d{1,3}(?:,\d{3}){1,8}+|\d{1,15}+)(?:\.\d{1,9}+)?"
QUANTITY: Final = re.compile(
    rf"(?<![{_W}.,/])(?:[$€£¥₹] ?{_NUMBER}(?:[kKmMbB](?![{_W}]))?|{_NUMBER}[ -]?(?:{_UNITS})(?![{_W}]))"
)
CODE: Final = re.compile(
    rf"(?<![{_W}-])(?:[A-Z]{{2,10}}-\d{{1,8}}|[A-Z]{{1,10}}\d{{2,8}})[A-Za-z]{{0,3}}(?![{_W}])"
)
FLAG: Final = re.compile(rf"(?<![{_W}-])--[A-Za-z][A-Za-z0-9]*+(?:-[A-Za-z0-9]++)*+")
# Word characters joined by single dots, hyphens or "::"; what the token means is decided by classify_token.
TOKEN: Final = re.compile(rf"[{_W}]++(?:(?:[.-]|::)[{_W}]++)*+")

_CODE_EXTENSION: Final = re.compile(
    "py|pyi|m?js|cjs|tsx?|jsx|go|rs|java|kts?|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|bash|zsh|ps1|bat|sql|jsonl?"
    "|ya?ml|toml|ini|cfg|conf|xml|html|s?css|less|vue|svelte|md|rst|txt|csv|tsv|log|lock|env|ipynb|proto|tf|gradle"
    "|dart|lua|r|jl|exs?|erl|hs|ml|clj|service|onnx|db|sqlite|parquet|pem|key|crt|so|dll|exe|jar|whl"
)
_DOCUMENT_EXTENSION: Final = re.compile(
    "pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|webp|mp[34]|mov|wav|zip|tar|t?gz|bz2|7z|rar|iso|epub"
)
_PRODUCT_STEM: Final = re.compile("node|vue|next|nuxt|express|react|three|d3|p5|chart|moment|ember|backbone")
_SOURCE_ROOT: Final = re.compile(
    r"src|lib|pkg|cmd|internal|node_modules|vendor|\.github|\.git|tests|scripts|packages|crates"
)
_TOP_DOMAIN: Final = re.compile("com|org|net|io|dev|ai|app|edu|gov|co|uk|de|fr|jp|cn|eu|me")
_ERROR_SUFFIXES: Final = ("Exception", "Error", "Warning", "Fault")
_NAME_SEPARATOR: Final = re.compile(r"\.|::")
_FOLD_SEPARATOR: Final = re.compile(r"[^\w.]+")
_PART_SEPARATOR: Final = re.compile(r"[\W_]+")
_GLUED_IDEOGRAPHS: Final = re.compile(r"\A[\u2e80-\ud7ff]++(?=[A-Za-z])")
_CLOSERS: Final = {")": "(", "]": "[", "}": "{"}


def trim_punctuation(text: str) -> str:
    """Return the text without the sentence punctuation that clings to its end.

    A closing bracket stays when its opener is inside.

    >>> trim_punctuation("https://example.org/a_(b)).")
    'https://example.org/a_(b)'
    """
    end = len(text)
    # Counted once and adjusted, since counting anew for each of a million brackets would be quadratic.
    surplus = {closer: text.count(closer) - text.count(opener) for closer, opener in _CLOSERS.items()}
    while end:
        last = text[end - 1]
        if last in surplus and surplus[last] > 0:
            surplus[last] -= 1
        elif last not in ".,;:!?'\"…*":
            break
        end -= 1
    return text[:end]


def has_extension(name: str, *, documents: bool = True) -> bool:
    """Say whether a file name ends in a known extension.

    >>> has_extension("gating.py"), has_extension("Node.js"), has_extension("e.g")
    (True, False, False)
    """
    stem, dot, extension = name.rpartition(".")
    lowered = extension.lower()
    is_known = _CODE_EXTENSION.fullmatch(lowered) or (documents and _DOCUMENT_EXTENSION.fullmatch(lowered))
    return bool(dot and is_known) and not (lowered == "js" and _PRODUCT_STEM.fullmatch(stem.lower()))


def is_relative_path(text: str) -> bool:
    """Say whether slash-joined words are a path rather than "and/or".

    True with a known extension at the end, a known source folder at the start, or a package scope.

    >>> is_relative_path("src/app/main"), is_relative_path("he/she"), is_relative_path("docs/guide.md")
    (True, False, True)
    """
    first, *_, last = re.split(r"[/\\]", text)
    return (
        has_extension(last)
        or bool(_SOURCE_ROOT.fullmatch(first))
        or (first.startswith("@") and len(first) > 1)
    )


def is_bare_url(text: str) -> bool:
    """Say whether slash-joined words begin with a host name: "example.org/docs"."""
    host = text.split("/", 1)[0]
    return "." in host and bool(_TOP_DOMAIN.fullmatch(host.rpartition(".")[2].lower())) and "/" in text


def is_camel_case(word: str) -> bool:
    """Say whether an upper-case letter directly follows a lower-case one, in any script.

    >>> is_camel_case("größeBerechnen"), is_camel_case("London"), is_camel_case("NASA")
    (True, False, False)
    """
    return any(left.islower() and right.isupper() for left, right in pairwise(word))


def is_snake_case(word: str) -> bool:
    """Say whether an underscore joins letters or digits, or the word is a dunder name.

    >>> is_snake_case("user_id"), is_snake_case("__init__"), is_snake_case("_emphasis_")
    (True, True, False)
    """
    inner = word.strip("_")
    return "_" in inner or (bool(inner) and word.startswith("__") and word.endswith("__"))


def is_dotted_name(word: str) -> bool:
    """Say whether dots or "::" join names, one of them of three letters at least ("e.g", "p.m" do not).

    >>> is_dotted_name("os.path.join"), is_dotted_name("e.g"), is_dotted_name("3.14")
    (True, False, False)
    """
    parts = _NAME_SEPARATOR.split(word)
    return (
        len(parts) > 1
        and all(part[:1].isalpha() or part.startswith("_") for part in parts)
        and max(len(part) for part in parts) >= 3
    )


def classify_token(token: str, following: str) -> SpanKind | None:
    """Decide what a joined run of word characters names, or None for an ordinary word.

    `following` is the text right after the token (two characters are enough): a call is a function
    reference when the name is a technical one or its brackets are empty.

    >>> classify_token("gating.py", ""), classify_token("TypeError", ":"), classify_token("item", "(s")
    ('path', 'error_code', None)
    """
    if has_extension(token):
        return "path"
    last = _NAME_SEPARATOR.split(token)[-1]
    if last[:1].isupper() and last.endswith(_ERROR_SUFFIXES) and last not in _ERROR_SUFFIXES:
        return "error_code"
    technical = is_dotted_name(token) or is_snake_case(token) or is_camel_case(token)
    is_call = following.startswith("()") or (technical and following.startswith("("))
    if is_call and not token[0].isdigit():
        return "function"
    return "name" if technical else None


def is_hash_like(text: str) -> bool:
    """Say whether a run of hex digits holds both a digit and a letter ("facade", "1234567" do not)."""
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


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
        start = match.start() + (glued.end() if (glued := _GLUED_IDEOGRAPHS.match(found)) else 0)
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

PATTERNS: Final[dict[str, re.Pattern[str]]] = {
    "url": URL,
    "endpoint": ENDPOINT,
    "mail": MAIL,
    "posix_path": POSIX_PATH,
    "windows_path": WINDOWS_PATH,
    "relative_path": RELATIVE_PATH,
    "error_code": ERROR_CODE,
    "git_reference": GIT_REFERENCE,
    "uuid": UUID,
    "hex": HEX,
    "version": VERSION,
    "quantity": QUANTITY,
    "code": CODE,
    "flag": FLAG,
    "token": TOKEN,
    "fold_separator": _FOLD_SEPARATOR,
    "part_separator": _PART_SEPARATOR,
    "glued_ideographs": _GLUED_IDEOGRAPHS,
    "name_separator": _NAME_SEPARATOR,
}


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
    segments = [segment.strip(".") for segment in _FOLD_SEPARATOR.split(whole)]
    dotted = [part for segment in segments for part in segment.split(".")]
    words = [word for part in dotted for word in _PART_SEPARATOR.split(part)]
    humps = [hump for word in words for hump in split_camel_case(word)]
    folded += [part.lower() for part in (*segments, *dotted, *words, *humps) if _is_telling(part)]
    return tuple(dict.fromkeys(folded))
