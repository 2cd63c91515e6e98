"""Prose without code: what is left of a turn when program text is taken out.

Code must not raise the conversational load of the gate (memory-model.md, section 5): a birthday in a
test fixture is nobody's birthday.

Each line is judged by its first few hundred characters with expressions anchored at its start, so the
cost grows with the number of lines, not with what a hostile line holds.
"""

from __future__ import annotations

import re
from typing import Final

FENCE: Final = re.compile(r"`{3,}|(?m:^ {0,3}~{3,})")
QUOTED_LINE: Final = re.compile(r"(?m)^[ \t]*>[^\n]*")
INLINE_CODE: Final = re.compile(r"(?<!`)(?:`(?!`)[^`\n]{1,400}`|``(?!`)[^`\n]{1,400}``)(?!`)")

_DEFINITION: Final = (
    r"(?:async )?def \w{1,80} ?\(|class \w{1,80} ?[(:{<]|(?:export )?(?:async )?function\*? ?\w{0,80} ?\("
    r"|(?:pub )?(?:fn|struct|enum|trait|impl|mod) [\w<]|func (?:\w|\()|(?:template|typedef|namespace) ?[\w<]{1,80}"
    r"|(?:export )?(?:const|let|var) [\w{\[][\w, {}\[\]:<>|.]{0,200}="
    r"|(?:public|private|protected|static|final|abstract)(?: [\w<>\[\],]{1,80}){1,5} ?[({=;]"
)
_IMPORT: Final = (
    r"from [\w.]{1,120} import |import [\w.]{1,120}(?: as \w{1,40})?;?$|import [\w{*\"'][\w{}*, ]{0,120}? from ['\"]"
    r"|import ['\"(]|package (?:main$|[\w.]{1,80};)|use [\w:{}, *]{1,120};|using [\w.]{1,80};"
    r"|#(?:include|define|ifdef|ifndef|endif|pragma|!/|\[)"
)
_STATEMENT: Final = (
    r"(?:return|pass|break|continue|end|fi"
    r"|done|esac);?$|(?:else|try|finally|begin|do):?$|\}? ?(?:else|try|finally|do) ?\{|@\w[\w.]{0,80}(?:\(|$)"
    r"|[A-Za-z_][\w.]{0,80}(?:\[[^\]\n]{0,80}\])?(?:: ?[\w\[\], .|]{1,60}?)? ?[-+*/|&:]?=(?!=) ?\S"
    r"|(?:await )?[A-Za-z_][\w.]{0,80}\([^\n]{0,400}$"
)
_QUERY: Final = (
    r"SELECT\b|select \*|(?i:insert into |update \w{1,80} set |delete from "
    r"|create (?:table|unique|index|view|function|or replace)|alter table |drop table )"
    r"|(?:FROM|WHERE|(?:LEFT |RIGHT |INNER |OUTER )?JOIN|GROUP BY|ORDER BY|LIMIT|VALUES|HAVING|UNION)\b"
)
_DATA: Final = r"[\"'][\w .-]{1,80}[\"'] ?: ?\S|[\[\]{}(),;:]{1,40}$|[)\]}] ?(?:->|=>|[;,.{:])|</?[A-Za-z!][^<>\n]{0,300}>"
_OUTPUT: Final = (
    r"\$ [a-z./]|>>> |\.\.\. \w|\[?\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}"
    r"|\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|TRACE)\]?[: ]|at [\w.$<>/]{1,200} ?\(|File \"|Traceback \("
    r"|[\w.]{0,120}?(?:Error|Exception): |Caused by: |diff --git |@@ |[+-]{3} [ab]/"
)
_COMMENT: Final = r"//|/\*|\*/|<!--|;;"
CODE_HEAD: Final = re.compile("|".join((_DEFINITION, _IMPORT, _STATEMENT, _QUERY, _DATA, _OUTPUT, _COMMENT)))
# Lines that open a block are code when something on them is not a sentence.
BLOCK_HEAD: Final = re.compile(
    r"(?:\} ?)?(?:if|elif|for|while|with|except|switch|catch|case|do|else if|match|unless|until)\b"
)
KEYWORD_HEAD: Final = re.compile(r"(?:return|yield|await|throw|raise|assert|del|echo|new|go|defer)\b")
CALL: Final = re.compile(r"\w[(\[]")
LOOP_HEAD: Final = re.compile(r"for \w{1,40}(?:, ?\w{1,40}){0,4} in ")
# Comments and continued lines say nothing alone: "# heading" is prose among prose, code among code.
COMMENT_HEAD: Final = re.compile(r"#(?!#)|--|\*|%|\"|'")

_CODE_CHARACTERS: Final = frozenset("()[]{}=<>_")
_CODE_TAILS: Final = ("{", "=>", "->", "([", "},", "],")
_LINE_CHARS_READ: Final = 400


def is_code_line(line: str) -> bool:
    """Say whether a line is program text, a log line or a stack frame rather than a sentence.

    >>> is_code_line("for i in range(3):"), is_code_line("for my birthday, on Friday:")
    (True, False)
    """
    stripped = line.strip()
    head, last = stripped[:_LINE_CHARS_READ], stripped[-1:]
    if not head:
        return False
    if CODE_HEAD.match(head) or stripped.endswith(_CODE_TAILS):
        return True
    has_code_characters = not _CODE_CHARACTERS.isdisjoint(head)
    if last == ":":
        return bool(LOOP_HEAD.match(head) or (BLOCK_HEAD.match(head) and has_code_characters))
    if last == ",":
        return "=>" in head
    if last in ")]" and KEYWORD_HEAD.match(head):
        return CALL.search(head) is not None
    return last in ";}" and has_code_characters


def _drop_fences(text: str) -> str:
    """Drop fenced code. A fence closes with at least the marks that opened it; an open one runs to the end."""
    kept: list[str] = []
    opened = ""
    position = 0
    for match in FENCE.finditer(text):
        mark = match.group().strip()
        if not opened:
            kept.append(text[position : match.start()])
            opened = mark
        elif mark.startswith(opened):
            opened = ""
            position = match.end()
    if not opened:
        kept.append(text[position:])
    return "\n".join(kept)


def _drop_between(text: str, mark: str) -> str:
    """Drop what stands between pairs of a mark; an odd last mark opens nothing."""
    pieces = text.split(mark)
    if len(pieces) % 2 == 0:
        pieces[-2:] = [pieces[-2] + mark + pieces[-1]]
    return "\n".join(pieces[::2])


def _drop_block_comments(text: str) -> str:
    """Drop /* comments */; an open one runs to the end."""
    first, *pieces = text.split("/*")
    return "\n".join((first, *(piece.partition("*/")[2] for piece in pieces)))


def _drop_code_lines(text: str) -> str:
    lines = text.splitlines()
    is_code = [is_code_line(line) for line in lines]
    is_neutral = [not line.strip() or bool(COMMENT_HEAD.match(line.strip())) for line in lines]
    for i in range(1, len(lines)):
        is_code[i] = is_code[i] or (is_neutral[i] and is_code[i - 1])
    for i in range(len(lines) - 2, -1, -1):
        is_code[i] = is_code[i] or (is_neutral[i] and is_code[i + 1])
    return "\n".join(line for line, drop in zip(lines, is_code, strict=True) if not drop)


def drop_quoted_lines(text: str) -> str:
    r"""The text without lines that begin with '>': they are somebody else's words.

    >>> drop_quoted_lines("Is this right?\n> Never use more than 20.\nI doubt it.")
    'Is this right?\n\nI doubt it.'
    """
    return QUOTED_LINE.sub("", text) if ">" in text else text


def drop_pasted(text: str) -> str:
    r"""The lines of a text that its author wrote: none that are quoted, fenced, program text or output.

    >>> drop_pasted("What is `E4`?\n2026-05-01 10:00:02 ERROR E4 in flush\n> Always retry.\nIt is mine.").split("\n")
    ['What is `E4`?', 'It is mine.']
    """
    return _drop_code_lines(_drop_fences(drop_quoted_lines(text)))


def keep_own_words(text: str) -> str:
    r"""What its author says in a text: prose without code, output and quoted lines.

    >>> keep_own_words("I like `dark_mode`:\n> My wife is Ann.\nThanks").split()
    ['I', 'like', ':', 'Thanks']
    """
    return strip_code(drop_quoted_lines(text))


def strip_code(text: str) -> str:
    r"""Return the prose of a text: no fences, inline code, quoted blocks, or lines that read as code.

    >>> strip_code("I like `dark_mode`:\n```\nmy_wife = 'Ann'\n```\nThanks").split()
    ['I', 'like', ':', 'Thanks']
    """
    text = INLINE_CODE.sub(" ", _drop_fences(text))
    for mark in ('"""', "'''"):
        text = _drop_between(text, mark)
    return _drop_code_lines(_drop_block_comments(text))
