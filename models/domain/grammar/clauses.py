"""Cuts a text into clauses and hides what is mentioned rather than said: code, quotations, asides.

Every step keeps the length of the text, so an offset found here is an offset in the original.
"""

import re
from typing import Final

from models.domain.grammar.lexicon import OBJECT_OPENERS, join_by_letter

MASK: Final = "ª"  # a letter that starts no English word: a hidden stretch reads as one noun

_FENCE: Final = re.compile(r"(```|~~~)[^\n]*")  # and nothing but _FENCE_INDENT before it on its line
_FENCE_INDENT: Final = " \t>"
_CODE_SPAN: Final = re.compile(r"(?<!`)(?:`[^`]+`(?!`)|``[^`]*(?:`(?!`)[^`]*)*``(?!`))")
_COMMENT_OPEN: Final = "<!--"
_COMMENT_CLOSE: Final = "-->"
# A quotation of at most 300 characters; a lone inch mark or an unbalanced quote must not hide a page.
# Like most expressions here it starts with characters, not with a look behind: the search then skips from one
# such character to the next.
_QUOTATION: Final = re.compile(r'[ \n(](?<=[^\s.!?][ \n(])["“][^"“”\n]{1,300}["”]')
_SPOKEN: Final = re.compile(r'(?<!\w)["“][^"“”\n]{1,300}["”]')
_QUOTED_LINE: Final = re.compile(r"^[ \t]*>[^\n]*", re.MULTILINE)
_ASIDE: Final = re.compile(r"\((?:(?<=[^\s.!?:;]\()|(?<=[^\s.!?:;] \())[^()]*\)")
_LINK_TARGET: Final = re.compile(r"\]\([^()\s]*\)")

# A line break inside a paragraph is a blank; one before a list item, quote, table row or fence is not.
_SOFT_BREAK: Final = re.compile(
    r"\n(?<!\n\n)(?=[ \t]*(?!\n|[-*+#]{1,6}[ \t]|[>|]|\d{1,3}[.)][ \t]|```|~~~)\S)"
)

# A word with its hyphens and apostrophes, unless it goes on as an identifier (a_b, a1). Written as branches that
# exclude each other rather than as optional groups: the engine drops a branch on its first character.
_LETTERS: Final = r"[^\W\d_]+"
_GOES_ON: Final = r"[^\W_]|_[^\W_]"
_WHOLE_WORD: Final = (
    rf"{_LETTERS}(?:['-]{_LETTERS}(?:['-]{_LETTERS})*(?!{_GOES_ON}|['-][^\W\d_])|(?!{_GOES_ON}|['-][^\W\d_]))"
)

# Group 1: the edge that opened the clause; group 2: its first word, markup skipped; group 3: the object
# opener behind that word, if one follows.
_SKIPPED: Final = r"[\s*_~>#\"'“‘(+|-]*(?:\d\d{0,2}[.)]\s+|)(?:\[[ x]\]\s|)[*_\"“\[]*"
_FIRST_WORD: Final = rf"({_WHOLE_WORD}|)(?:(?= ({join_by_letter(sorted(OBJECT_OPENERS))})\b)|)"
_TEXT_OPENING: Final = re.compile(f"(){_SKIPPED}{_FIRST_WORD}")
_CLAUSE_OPENING: Final = re.compile(
    r"([.!?:;,—–\n](?:(?<=[.!?])(?<![.!?]{2})(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)[.!?]*[*_)\]\"'”]*(?=\s|\Z)"
    r"|(?<=[:;])[*_)\]\"'”]*(?=\s)|(?<=[,–])(?=\s)|(?<=—)—*"
    r"|(?<=\n)))"
    f"{_SKIPPED}{_FIRST_WORD}"
)
_WORD: Final = re.compile(rf"[ \t*_~\"“'(\[]*({_WHOLE_WORD})")

# Called as read_word(folded, position): the word there (group 1), markup before it skipped; None at
# punctuation or the end.
read_word: Final = _WORD.match


def fold_text(text: str, *, unwrap: bool = True) -> str:
    """Return the text in lower case, apostrophes straight, dashes long, lines unwrapped, length unchanged.

    Lines stay as they are with `unwrap=False`: in chat a new line starts a new sentence.

    >>> fold_text("Don’T")
    "don't"
    """
    folded = text if text.isascii() else text.replace("’", "'").replace("ʼ", "'")
    if unwrap and "\n" in folded:
        folded = _SOFT_BREAK.sub(" ", folded)
    if " -" in folded:
        folded = folded.replace(" - ", " — ").replace(" -- ", "  — ")
    lowered = folded.lower()
    if len(lowered) == len(text):
        return lowered
    # A few capitals (İ) grow when lowered and would shift every later offset: those stay as they are.
    return "".join(low if len(low := char.lower()) == 1 else char for char in folded)


def hide_mentions(folded: str) -> str:
    """Return the text with code, quotations, link targets and asides blanked out, length unchanged.

    Code and quotations become one noun, an aside becomes spaces: `use "git push" (see below) daily`
    still reads as "use <noun> daily".
    """
    if "```" in folded or "~~~" in folded:
        folded = _hide_fences(folded)
    if "`" in folded:
        folded = _CODE_SPAN.sub(_as_noun, folded) if "``" in folded else _hide_simple_code(folded)
    if _COMMENT_OPEN in folded:
        folded = _hide_comments(folded)
    if '"' in folded or "“" in folded:
        folded = _QUOTATION.sub(_as_quoted_noun, folded)
    if "(" in folded:
        if "](" in folded:
            folded = _LINK_TARGET.sub(_as_blank, folded)
        folded = _ASIDE.sub(_as_blank, folded)
    return folded


def hide_quoted_speech(folded: str) -> str:
    """Return a chat turn with every quotation and every quoted line blanked out, length unchanged."""
    if '"' in folded or "“" in folded:
        folded = _SPOKEN.sub(_as_noun, folded)
    if ">" in folded:
        folded = _QUOTED_LINE.sub(_as_blank, folded)
    return folded


def list_openings(folded: str) -> list[re.Match[str]]:
    """Return every clause opening in order.

    Group 1 is the edge before it ("" at the start), group 2 its first word ("" if it opens with none),
    group 3 the determiner or pronoun right behind that word, or None.
    """
    first = _TEXT_OPENING.match(folded)
    assert first is not None  # every part of the expression is optional
    return [first, *_CLAUSE_OPENING.finditer(folded, first.end())]


def _hide_simple_code(folded: str) -> str:
    """Hide code spans where no run of two backticks occurs; a last unpaired backtick stays."""
    parts = folded.split("`")
    last = len(parts) - 1
    for index in range(1, last, 2):
        parts[index] = MASK * (len(parts[index]) + 2)
    if last % 2:
        parts[last] = "`" + parts[last]
    return "".join(parts)


def _as_noun(match: re.Match[str]) -> str:
    return MASK * (match.end() - match.start())


def _as_quoted_noun(match: re.Match[str]) -> str:
    return " " + MASK * (match.end() - match.start() - 1)


def _as_blank(match: re.Match[str]) -> str:
    return " " * (match.end() - match.start())


def _hide_fences(folded: str) -> str:
    """Blank fenced code; a fence that nobody closes runs to the end, as in CommonMark."""
    parts: list[str] = []
    done = 0
    opened_at, mark = -1, ""
    for fence in _FENCE.finditer(folded):
        line = folded.rfind("\n", done, fence.start()) + 1 or done
        if fence.start() > line and folded[line : fence.start()].strip(_FENCE_INDENT):
            continue  # backticks within a line
        if opened_at < 0:
            opened_at, mark = line, fence[1]
        elif fence[1] == mark:
            parts += folded[done:opened_at], "\n" * (fence.end() - opened_at)
            done, opened_at = fence.end(), -1
    if opened_at >= 0:
        parts += folded[done:opened_at], "\n" * (len(folded) - opened_at)
        done = len(folded)
    parts.append(folded[done:])
    return "".join(parts)


def _hide_comments(folded: str) -> str:
    parts: list[str] = []
    done = 0
    while (start := folded.find(_COMMENT_OPEN, done)) >= 0:
        end = folded.find(_COMMENT_CLOSE, start)
        end = len(folded) if end < 0 else end + len(_COMMENT_CLOSE)
        parts += folded[done:start], " " * (end - start)
        done = end
    parts.append(folded[done:])
    return "".join(parts)
