"""What in a memory is no memory: small talk, context that a host put in, and secrets. Words only, no model."""

import re
from collections.abc import Iterator
from typing import Final

_PHATIC_LIST: Final = """
    a again all alright amazing and awesome bye cheers cool day done evening excellent fine good goodbye got great ha haha
    hello hey hi hmm how are you is it i'm for help that the this to very much so lol me morning my nice night nope no not
    problem ok okay oh perfect please right see sorry sounds sure thank thanks there today understood welcome well wow yep
    yes yeah yup you're your later everything going
"""
_PHATIC: Final = frozenset(_PHATIC_LIST.split())
_CORE_LIST: Final = """
    alright amazing awesome bye cheers cool excellent fine goodbye great haha hello hey hi hmm lol morning nice nope ok
    okay perfect sorry sure thank thanks understood welcome wow yep yes yeah yup good right no done
"""
_CORE: Final = frozenset(_CORE_LIST.split())  # one of these must be there: "you and me" is no greeting
MAX_PHATIC_WORDS: Final = 8
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

_INJECTED: Final = (
    re.compile(r"<\s{0,8}longtail-memory\s|&lt;longtail-memory\s"),
    re.compile(
        r"<(?:system-reminder|relevant[-_]memories|memory[-_]context|retrieved[-_]context|hindsight_memories)>"
    ),
    re.compile(r"(?:Conversation info|Sender|Thread starter)[^\n]{0,40}\(untrusted metadata\)"),
    re.compile(
        r"^(?:relevant|retrieved|recalled) (?:memories|context)\b[^\n]{0,60}:", re.IGNORECASE | re.MULTILINE
    ),
    re.compile(r"^\[?(?:OpenClaw heartbeat poll|HEARTBEAT_OK)\]?\s*$", re.MULTILINE),
    re.compile(r"^You are (?:a|an) [^\n]{0,80}\b(?:assistant|agent|AI)\b"),
)

_SECRETS: Final = (
    ("private key", re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")),
    ("key of a cloud", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{35}\b")),
    (
        "token",
        re.compile(
            r"\b(?:sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|xox[abprs]-[A-Za-z0-9-]{10,}"
            r"|glpat-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{30,})"
        ),
    ),
    ("signed token", re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    (
        "password",
        re.compile(
            r"\b(?:pass(?:word|phrase|wd)|api[ _-]?key|secret(?:[ _-]?key)?|access[ _-]?token)s?\b"
            r"(?:\s{0,4}[:=]\s{0,4}|\s(?:is|was)\s)[\"'`]?(?=[^\s\"'`]*[\d!@#$%^&*+_-])[^\s\"'`]{6,}",
            re.IGNORECASE,
        ),
    ),
    ("address with a password", re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,64}:[^\s/@]{3,128}@")),
)
_CARD: Final = re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d.-])")


def is_phatic(text: str) -> bool:
    """Whether a text is a greeting, thanks or assent and says nothing else.

    >>> [is_phatic(text) for text in ("Ok, thanks!", "👍", "Thanks, the code is 7741.", "Good is the enemy")]
    [True, True, False, False]
    """
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(text)]
    if not words:
        return bool(text.strip())
    return len(words) <= MAX_PHATIC_WORDS and set(words) <= _PHATIC and not _CORE.isdisjoint(words)


def is_injected(text: str) -> bool:
    """Whether a text holds what a host or a memory put into a prompt, and nobody said."""
    return any(pattern.search(text) for pattern in _INJECTED)


def find_secrets(text: str) -> Iterator[tuple[str, int, int]]:
    """Each secret: what it looks like, and where it stands.

    >>> list(find_secrets("My card is 4111 1111 1111 1111"))
    [('number of a card', 11, 30)]
    """
    for name, pattern in _SECRETS:
        for found in pattern.finditer(text):
            yield name, found.start(), found.end()
    for found in _CARD.finditer(text):
        if _is_card([int(digit) for digit in found[0] if digit.isdigit()]):
            yield "number of a card", found.start(), found.end()


def hide_secrets(text: str) -> str:
    """The text with its secrets taken out, to be shown.

    >>> hide_secrets("The password is hunter2!")
    'The [password]'
    """
    for name, start, end in sorted(find_secrets(text), key=lambda one: one[1], reverse=True):
        text = f"{text[:start]}[{name}]{text[end:]}"
    return text


def _is_card(digits: list[int]) -> bool:
    """Luhn's check, which one in ten of other numbers passes; all the same digit is none."""
    if len(set(digits)) == 1:
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
