"""Keys, tokens and passwords in a text: where they stand, of which kind, and the text without them.

A compact rule set in four parts: shapes that providers give their tokens, key blocks, credentials in addresses and headers,
and values that a name announces ("password is …", `API_KEY=…`). A bare random-looking string is no secret here: commit
hashes, ids and checksums look the same. Every pattern is bounded and starts at most once a run of characters, so that
the time is linear in the text. docs/security.md has what was measured.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

MASK_OPENING: Final = "[masked: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """Where a secret stands, and what it is."""

    start: int
    end: int
    kind: str  # private key, token, password, api key


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """A text without its secrets, and the kind of each that was found, in order."""

    text: str
    kinds: tuple[str, ...]


# What providers begin or shape their tokens with. A run of token characters is tried once, at its beginning.
_SHAPES: Final = (
    r"(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS access key id
    r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{22,}",  # GitHub
    r"gl(?:pat|rt|dt|cbt|soat)-[\w-]{20,}",  # GitLab
    r"xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,}",  # Slack
    r"sk-(?=[\w-]{0,200}\d)[\w-]{20,}",  # OpenAI, Anthropic, OpenRouter and their like
    r"[rs]k_(?:live|test)_\w{16,}|whsec_\w{16,}",  # Stripe
    r"AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}",  # Google
    r"hf_[A-Za-z]{30,}|npm_[A-Za-z0-9]{36}|pypi-AgEI[\w-]{50,}",  # Hugging Face, npm, PyPI
    r"dop_v1_[a-f0-9]{64}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|dckr_pat_[\w-]{20,}|glsa_\w{32,}",
    r"SG\.[\w-]{16,32}\.[\w-]{16,64}",  # SendGrid
    r"lt_(?=[\w-]{0,200}\d)[\w-]{20,}",  # our own
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}",
    r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}",  # a signed JSON web token
    r"\d{8,10}:AA[\w-]{33}(?![\w-])",  # Telegram
)
_SHAPED: Final = re.compile(r"(?<![\w-])(?:" + "|".join(_SHAPES) + ")", re.ASCII)
_WEBHOOK: Final = re.compile(
    r"(?<=hooks\.slack\.com/services/)T\w{6,20}/B\w{6,20}/\w{16,40}"
    r"|(?<=discord\.com/api/webhooks/)\d{15,22}/[\w-]{40,100}",
    re.ASCII,
)
_KEY_BLOCK: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.ASCII)
_KEY_BLOCK_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.ASCII)
_KEY_BODY: Final = re.compile(r"(?:[\s\\n]{0,8}[A-Za-z0-9+/=:,-]{1,200}){0,200}", re.ASCII)
_ADDRESS: Final = re.compile(
    r"(?<![\w+.-])[A-Za-z][\w+.-]{1,24}://[^\s:/@'\"<>]{0,100}:(?P<value>[^\s/@'\"<>]{2,200})@(?=[\w\[.-])",
    re.ASCII,
)
_HEADER: Final = re.compile(
    r"(?:(?<![\w-])(?:proxy-)?authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:(?:bearer|basic|token|digest|bot)\s{1,4})?"
    r"|(?<![\w-])bearer\s{1,4})(?P<value>[A-Za-z0-9._~+/-]{12,4000}={0,2})",
    re.ASCII | re.IGNORECASE,
)
_LOGIN_OPTION: Final = re.compile(
    r"(?<!\S)(?:-u|--user)[ =]{1,3}[\"']?(?P<user>[\w.@-]{1,64}):(?P<value>[^\s\"']{3,128})", re.ASCII
)

# A name that announces a value. Its stem is looked for as plain text, the rest is matched where the stem stands.
_STEMS: Final = ("pass", "pwd", "pin", "secret", "token", "credential", "key")
_CODE_NAMES: Final = r"pass(?:word|wd|phrase|code)|pwd|pin(?:[ _-](?:code|number))?"
_NAME: Final = re.compile(
    rf"(?P<password>{_CODE_NAMES}|pass)|(?P<key>secret(?:[ _-]?(?:access[ _-]?)?(?:key|token))?|token|credentials?|key)",
    re.ASCII | re.IGNORECASE,
)
_KEY_OPENING: Final = re.compile(
    r"(?:api|access|auth|secret|private|signing|encryption|master|license|subscription|account)[ _-]?\Z",
    re.ASCII | re.IGNORECASE,
)
# `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, password: …
_ASSIGNED: Final = re.compile(
    r"(?:[_-]?(?:\d{1,2}|value|base|dev|prod|production|test|staging|live))?"
    r"(?:[\"'\]`*]{0,3}[ \t]{0,4}(?:=>|:=|==?|:)[*]{0,2}[ \t]{0,4}"
    r"|(?<=--password) |(?<=--token) |(?<=--api-key) |(?<=--secret) )"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{4,200})(?P=quote)|(?P<value>[^\s\"'`,;<>(){}\[\]|]{4,512}))",
    re.ASCII | re.IGNORECASE,
)
# "the password for the staging database is …", "my PIN was changed to …"
_SAID: Final = re.compile(
    r"(?: (?:for|of|to|on|in|at|from)(?: (?!(?:is|are|was)\b)[^\s.:;?!,]{1,40}){1,6}?)?,?[ ]{1,2}"
    r"(?:(?:is|was|are)(?: (?:now|still|just|currently|simply|again|set to|called|changed to|probably)){0,2}"
    r"|(?:(?:set|changed|reset|updated|equals?) )?to|equals)[ :]{1,3}"
    r"(?:[\"'`“‘«](?P<quoted>[^\"'`”’»\n]{4,200})[\"'`”’»]|(?P<value>[^\s\"'`“”‘’<>]{4,512}))",
    re.IGNORECASE,
)
# "user admin, password hunter2"
_BESIDE: Final = re.compile(r"[ ]{1,2}[\"'`“‘]?(?P<value>[^\s\"'`“”‘’<>,;]{6,128})")
# "hunter2 is the password", "use hunter2 as the password": what stands between the two, read backward from the name
_CALLED: Final = re.compile(
    r"(?<![^\s\"'`“‘(])(?P<value>[^\s\"'`“”‘’<>,;]{4,128})[\"'`”’]? (?:is|was|as) "
    r"(?:(?:the|my|our|your|his|her|their|its|a|new|old|current|root|admin|wifi|wi-fi|staging|login|api|access) ){1,3}\Z",
    re.IGNORECASE,
)
_TRAILING: Final = ".,;:!?)]}…*_`"
_REFERENCE: Final = re.compile(
    r"\$|%[A-Za-z_]+%|\{\{|<|(?:process\.|os\.)?env(?:iron)?\b|getenv|/(?:run|etc|var|home|tmp|usr|opt|dev)/|~/|\./|[A-Za-z]:\\"
    r"|https?://|vault:|arn:|op://|(?:self|this|settings|config|request|req|params|props|user|data|options|args|form|event|body)\.",
    re.IGNORECASE | re.ASCII,
)
_PLACEHOLDER: Final = re.compile(
    r"[x*.•·_#?-]+|\W*(?:your|my|the|some|example|sample|dummy|fake|placeholder|changeme|change[-_ ]me|redacted|masked|"
    r"hidden|none|null|nil|undefined|true|false|empty|optional|required|string|str|bytes|text|any|int|integer|number|bool|boolean|"
    r"object|password|passwd|secret|token|key|value|todo|tbd|n/a)\b.*|.*(?:[-_]here|\.\.\.|…|xxxx|\*\*\*).*",
    re.IGNORECASE | re.DOTALL,
)
_IDENTIFIER: Final = re.compile(
    r"[A-Za-z_][A-Za-z_]*(?:\.[A-Za-z_]\w*)*(?:\(.*)?|[a-z]+(?:[A-Z][a-z]+)+\d?|[A-Z][A-Z_]+"
)
_SENSITIVE_KEY: Final = re.compile(
    rf"(?:{_CODE_NAMES}|(?:api|access|auth|secret|private|signing|encryption)[_-]?key|secret|token|credentials?|authorization|cookie)\Z",
    re.IGNORECASE,
)
# What must stand in a text, in lower case, before a part of the rules is tried: most turns hold none of it.
_SHAPE_HINTS: Final = (
    *(
        "akia",
        "asia",
        "agpa",
        "aida",
        "aroa",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat",
        "glpat-",
        "glrt-",
        "gldt-",
    ),
    *(
        "glcbt-",
        "glsoat-",
        "xox",
        "xapp-",
        "sk-",
        "sk_",
        "rk_",
        "whsec_",
        "aiza",
        "ya29.",
        "gocspx-",
        "hf_",
        "npm_",
        "pypi-",
    ),
    *(
        "dop_v1",
        "shp",
        "dckr_pat",
        "glsa_",
        "sg.",
        "lt_",
        "age-secret",
        "eyj",
        ":aa",
        "hooks.slack",
        "api/webhooks",
    ),
)
_HEADER_HINTS: Final = ("authorization", "bearer")
_LOWER: Final = {
    upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)
}  # as many characters, whatever they are


def find_secrets(text: str) -> list[Secret]:
    """Every secret of a text, in order, none inside another.

    >>> [(one.kind, one.start, one.end) for one in find_secrets("The password is hunter2-prod.")]
    [('password', 16, 28)]
    >>> find_secrets("The password is wrong, see commit 9fceb02d0ae598e95dc970b74767f19372d61af8.")
    []
    """
    found = sorted(_find_all(text), key=lambda one: (one.start, -one.end))
    kept: list[Secret] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def mask_secrets(text: str) -> Screened:
    """The text with a word in the place of each secret. What is masked is not found again.

    >>> mask_secrets("The staging database password is hunter2-prod, ask Ann.").text
    'The staging database password is [masked: password], ask Ann.'
    """
    found = find_secrets(text)
    if not found:
        return Screened(text=text, kinds=())
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], f"{MASK_OPENING}{one.kind}]"]
        at = one.end
    return Screened(text="".join(parts) + text[at:], kinds=tuple(one.kind for one in found))


def mask_values(value: Any) -> tuple[Any, tuple[str, ...]]:
    """A JSON value without the secrets in its strings, and their kinds; a name like "password" announces its value.

    >>> mask_values({"db": {"password": "swordfish", "port": 5432}})
    ({'db': {'password': '[masked: password]', 'port': 5432}}, ('password',))
    """
    kinds: list[str] = []

    def mask(inner: Any, name: str) -> Any:
        match inner:
            case str() if inner and _SENSITIVE_KEY.search(name) and not _is_nothing(inner):
                kinds.append(_kind_of_name(name))
                return f"{MASK_OPENING}{kinds[-1]}]"
            case str():
                screened = mask_secrets(inner)
                kinds.extend(screened.kinds)
                return screened.text
            case Mapping():
                return {key: mask(one, str(key)) for key, one in inner.items()}
            case list() | tuple():
                return [mask(one, name) for one in inner]
            case _:
                return inner

    return mask(value, ""), tuple(kinds)


def _kind_of_name(name: str) -> str:
    lowered = name.lower()
    if re.search(r"pass|pwd|pin", lowered):
        return "password"
    return "api key" if "key" in lowered else "token"


def _find_all(text: str) -> Iterator[Secret]:
    lowered = text.lower()

    def holds(hints: tuple[str, ...]) -> bool:
        return any(hint in lowered for hint in hints)

    if "-----BEGIN" in text:
        yield from _find_key_blocks(text)
    if holds(_SHAPE_HINTS):
        for pattern in (_SHAPED, _WEBHOOK):
            for match in pattern.finditer(text):
                yield Secret(start=match.start(), end=match.end(), kind="token")
    if "://" in text:
        for match in _ADDRESS.finditer(text):
            if not _is_nothing(match["value"]):
                yield _take_value(match, "password")
    if holds(_HEADER_HINTS):
        for match in _HEADER.finditer(text):
            if _is_strong(match["value"]) and not _is_nothing(match["value"]):
                yield _take_value(match, "token")
    if "-u" in text:
        for match in _LOGIN_OPTION.finditer(text):
            are_numbers = match["user"].isdigit() and match["value"].isdigit()  # a user and a group
            if not _is_nothing(match["value"]) and not are_numbers:
                yield _take_value(match, "password")
    yield from _find_named(text, lowered if len(lowered) == len(text) else text.translate(_LOWER))


def _take_value(match: re.Match[str], kind: str) -> Secret:
    return Secret(start=match.start("value"), end=match.end("value"), kind=kind)


def _find_key_blocks(text: str) -> Iterator[Secret]:
    """From the opening line of a private key to its closing line; without one, what looks like a key's body."""
    at = 0
    while opening := _KEY_BLOCK.search(text, at):
        closing = _KEY_BLOCK_END.search(text, opening.end())
        if closing is None:
            body = _KEY_BODY.match(text, opening.end())
            assert body is not None
            if body.end() > opening.end() + 32:
                yield Secret(start=opening.start(), end=body.end(), kind="private key")
            return  # no later one is closed either
        yield Secret(start=opening.start(), end=closing.end(), kind="private key")
        at = closing.end()


def _find_named(text: str, lowered: str) -> Iterator[Secret]:
    """Values that a name announces, before or behind it."""
    for stem in _STEMS:
        at = lowered.find(stem)
        while at >= 0:
            if name := _read_name(text, at):
                yield from _find_announced(text, name)
            at = lowered.find(stem, at + len(stem))


@dataclass(frozen=True, slots=True)
class _Announcer:
    start: int
    end: int
    kind: str
    is_word: bool  # not a part of a longer one, as in `db_password`


def _read_name(text: str, at: int) -> _Announcer | None:
    name = _NAME.match(text, at)
    if name is None:
        return None
    before, after = text[at - 1 : at], text[name.end() : name.end() + 1]
    word = name.group().lower()
    if word[:3] == "pin" or word == "pass":  # parts of many words
        if before.isalpha() or after.isalpha():
            return None
    elif word == "key" and not _KEY_OPENING.search(text[max(at - 16, 0) : at]):
        return None
    is_word = (
        word != "pass"
        and not (before.isalnum() or before in ("_", "-"))
        and not (after.isalnum() or after == "_")
    )
    kind = "password" if name["password"] else "api key" if "key" in word else "token"
    return _Announcer(at, name.end(), kind, is_word or word == "key")


def _find_announced(text: str, name: _Announcer) -> Iterator[Secret]:
    if match := _ASSIGNED.match(text, name.end):
        yield from _take(match, name.kind)
    if not name.is_word:
        return
    if match := _SAID.match(text, name.end):
        yield from _take(match, name.kind)
    if name.kind == "password" and (match := _BESIDE.match(text, name.end)):
        yield from _take(match, name.kind)
    before = max(name.start - 170, 0)
    if text[name.start - 1 : name.start] == " " and (match := _CALLED.search(text[before : name.start])):
        yield from _take(match, name.kind, shift=before)


def _take(match: re.Match[str], kind: str, *, shift: int = 0) -> Iterator[Secret]:
    """The announced value, if it can be one: strong enough, or in quotation marks after a password's name."""
    is_quoted = bool(match.groupdict().get("quoted"))
    group = "quoted" if is_quoted else "value"
    value = match[group] if is_quoted else match[group].rstrip(_TRAILING)
    if len(value) < 4 or _is_nothing(value):
        return
    if kind != "password":
        is_secret = len(value) >= 8 and " " not in value and _is_strong(value)
    elif is_quoted:
        is_secret = " " not in value.strip() or _is_strong(value.replace(" ", ""))
    else:
        is_secret = value.isdigit() or _is_strong(value)
    if is_secret:
        start = match.start(group) + shift
        yield Secret(start=start, end=start + len(value), kind=kind)


def _is_nothing(value: str) -> bool:
    """Whether it only stands where a secret would: a placeholder, a reference to where the secret is, a name in code."""
    return (
        value.startswith(MASK_OPENING[:7])
        or _REFERENCE.match(value) is not None
        or _PLACEHOLDER.fullmatch(value) is not None
    )


def _is_strong(value: str) -> bool:
    """Whether it is no word of a language or a program: letters with digits, or with marks that words do not have.

    >>> [_is_strong(one) for one in ("hunter2", "P@ssword", "case-sensitive", "userToken", "wrong", "user.token()")]
    [True, True, False, False, False, False]
    """
    if _IDENTIFIER.fullmatch(value):
        return False
    has_letter, has_digit = any(one.isalpha() for one in value), any(one.isdigit() for one in value)
    has_mark = any(one in "+@#$%^&=!~*" for one in value)
    return (has_letter and has_digit) or (has_letter and has_mark)
