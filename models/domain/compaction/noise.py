"""What the summariser does not need to read: payloads and transport noise (memory-model.md section 8).

Only the summariser's view is changed, never the store. Every pattern is linear: a run is matched from its
first character, and what follows it can begin nowhere inside it.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

NoiseKind = Literal["control", "headers", "pem", "data_url", "base64", "hex"]

MIN_BASE64_CHARS: Final = 80  # section 8, step 4
MIN_HEX_CHARS: Final = 64  # section 8, step 4

# Terminal colours and titles, and characters that print nothing; a line feed and a tab are text.
_CONTROL: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2060\ufeff]"
)
_LINE_END: Final = re.compile(r"\r+\n?")
# Two lines at least: a single "Connection: …" may be a note that somebody wrote.
_HEADERS: Final = re.compile(
    r"(?:^(?:content-(?:type|length|transfer-encoding|disposition|encoding|id)|mime-version|transfer-encoding"
    r"|x-[\w-]{1,64}|cache-control|accept-(?:encoding|ranges)|connection|keep-alive|etag|vary|via|date|server)"
    r":[ \t][^\n]*(?:\n|\Z)){2,}",
    re.IGNORECASE | re.MULTILINE,
)
_PEM: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{1,64}-----[^-]*-----END [A-Z0-9 ]{1,64}-----")
_PARAMETER: Final = r"[a-z0-9=.+-]{1,64}"
_DATA_URL: Final = re.compile(
    rf"(?<![a-z0-9])data:(?:[a-z]{{1,32}}/[a-z0-9.+-]{{1,96}}(?:;{_PARAMETER}){{0,4}}"
    rf"|(?:;(?!base64,){_PARAMETER}){{0,3}};base64)"
    r",[^\s\"'<>()\[\]{}|\\^`]+",
    re.IGNORECASE,
)
# Mail and PEM wrap base64 at 64 or 76: no single line is a long run, the block is.
_B64: Final = "[A-Za-z0-9+/]"
_WRAPPED_BASE64: Final = re.compile(
    rf"(?<!{_B64}){_B64}{{60,79}}(?:\n{_B64}{{60,79}}(?!{_B64}))+(?:\n{_B64}{{1,79}}(?=={{0,2}}(?:\n|\Z)))?={{0,2}}"
)
_RUN: Final = "[A-Za-z0-9+/_-]"  # both alphabets of base64
_BASE64: Final = re.compile(rf"(?<!{_RUN}){_RUN}{{{MIN_BASE64_CHARS},}}={{0,2}}")
_HEX: Final = re.compile(rf"(?<![0-9A-Fa-f])[0-9A-Fa-f]{{{MIN_HEX_CHARS},}}")
_ALL_HEX: Final = re.compile(r"[0-9A-Fa-f]+")

_SEPARATOR: Final = re.compile(r"[/_-]")
_CHUNK: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
# Words change between letters, capitals and digits about every five characters, base64 every two.
_MIN_CHUNK_CHARS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """How often a kind of noise was taken out of the view, and how many characters that saved it."""

    kind: NoiseKind
    count: int
    chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SanitizedText:
    """The summariser's view of a text, never longer than the text, and what it leaves out."""

    text: str
    replaced: tuple[Replacement, ...]


def sanitize_text(text: str) -> SanitizedText:
    """Replace payloads and transport noise by short placeholders; plain prose comes back unchanged.

    base64 runs of 80 characters, hex runs of 64, data URLs, PEM blocks, MIME and HTTP headers; control
    characters go without a trace. Applying it twice changes nothing more.

    >>> sanitize_text("key " + "QUJD" * 30 + " ends").text
    'key [base64, 120 chars] ends'
    """
    tally: dict[NoiseKind, list[int]] = {}

    def note(kind: NoiseKind, match: re.Match[str]) -> None:
        counts = tally.setdefault(kind, [0, 0])
        counts[0] += 1
        counts[1] += len(match.group())

    def put(kind: NoiseKind, match: re.Match[str], placeholder: str) -> str:
        note(kind, match)
        return placeholder

    def put_headers(match: re.Match[str]) -> str:
        return put("headers", match, "[headers]\n" if match.group().endswith("\n") else "[headers]")

    def put_run(match: re.Match[str]) -> str:
        run = match.group()
        if _is_readable(run):
            return run
        kind: NoiseKind = "hex" if _ALL_HEX.fullmatch(run) else "base64"
        return put(kind, match, f"[{kind}, {len(run)} chars]")

    # Control characters first: one inside a payload would otherwise hide it.
    view = _CONTROL.sub(lambda match: put("control", match, ""), text)
    view = _LINE_END.sub("\n", view)
    view = _HEADERS.sub(put_headers, view)
    view = _PEM.sub(lambda match: put("pem", match, "[pem block]"), view)
    view = _DATA_URL.sub(lambda match: put("data_url", match, "[data url]"), view)
    view = _WRAPPED_BASE64.sub(
        lambda match: put("base64", match, f"[base64, {len(match.group())} chars]"), view
    )
    view = _BASE64.sub(put_run, view)
    view = _HEX.sub(lambda match: put("hex", match, f"[hex, {len(match.group())} chars]"), view)
    return SanitizedText(
        text=view,
        replaced=tuple(
            Replacement(kind=kind, count=count, chars=chars) for kind, (count, chars) in tally.items()
        ),
    )


def _is_readable(run: str) -> bool:
    """Whether a long run is a path, a slug or a ruler: pieces between separators that are words or ids."""
    pieces = _SEPARATOR.split(run)
    if len(pieces) == 1 or "+" in run or run.endswith("="):
        return False
    return all(not piece or _is_readable_piece(piece) for piece in pieces)


def _is_readable_piece(piece: str) -> bool:
    if _ALL_HEX.fullmatch(piece):
        return True  # an id inside a path; a long one is replaced as hex
    chunks = sum(1 for _ in _CHUNK.finditer(piece))
    return len(piece) < MIN_HEX_CHARS and (chunks - 1) * _MIN_CHUNK_CHARS <= len(piece)
