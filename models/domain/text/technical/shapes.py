"""What a joined run of characters names, judged by its shape: a path, a function, an error, a plain word."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, Literal

from models.domain.text.technical.expressions import NAME_SEPARATOR

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
    words = re.split(r"[/\\]", text)
    return len(words) > 1 and (
        has_extension(words[-1])
        or bool(_SOURCE_ROOT.fullmatch(words[0]))
        or (words[0].startswith("@") and len(words[0]) > 1)
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
    parts = NAME_SEPARATOR.split(word)
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
    last = NAME_SEPARATOR.split(token)[-1]
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
