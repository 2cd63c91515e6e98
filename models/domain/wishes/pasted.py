"""Where a turn holds somebody else's text: a page, a mail or a log that its speaker pasted or reports.

Nobody pasted states a wish of the speaker's. Where such a text ends cannot be told, so that a paste goes to the end of
the turn: a wish behind it is recalled as anything said is, and is no guidance.
"""

import re
from bisect import bisect_left
from typing import Final

# "The page says: …", "He told me: …"; what the speaker has said before is their own.
_REPORT: Final = re.compile(
    r"(?:^|[.!?\n]\s{0,4})(?!i\b|i['’]ve\b|as i\b|like i\b)[^.!?:\n]{0,60}\b(?:says?|said|reads?|writes?|wrote|states?"
    r"|stated|claims?|claimed|told (?:me|us|him|her|them)|according to)\b[^.!?:\n]{0,30}:",
    re.IGNORECASE,
)
_TEXT: Final = (
    r"(?:(?:web ?)?(?:page|site)|website|article|e-?mails?|mails?|messages?|letter|newsletter|blog(?: post)?|posts?|thread"
    r"|comments?|review|readme|document|docs?|files?|logs?|output|transcript|chat|conversation|text|snippet|excerpt|quote"
    r"|passage|paragraph|answer|reply|response|tickets?|issue|pull request|description|contract|policy|abstract|paper"
    r"|chapter|report|story|poem|essay|draft|manual|advert|prompt|contents?|results?|speech|tweet|caption|subtitles|code"
    r"|diff|patch|stack ?trace|traceback|error)"
)
# A line that introduces what comes below it: "Here is the page:", "Summarise this article:", "The mail in question:".
_INTRODUCTION: Final = re.compile(
    r"(?!.*\b(?:rules?|preferences?|wish(?:es)?|guidelines?|instructions?|requirements?|style|when|whenever|always|never|every"
    r"|each|all|any|from now on|don['’]?t|do not|must|should)\b)"  # the speaker's own: "Rules for messages:"
    rf"[^\n:]{{0,120}}\b{_TEXT}\b[^\n:]{{0,60}}:[*_ \t]*$",
    re.IGNORECASE,
)
_MAIL: Final = re.compile(
    r"^[ \t>*]*(?:from|to|subject|sent|date|cc|von|betreff|de|objet)[*]*:[ \t]*\S", re.IGNORECASE
)
_FORWARDED: Final = re.compile(
    r"^[ \t]*(?:-{2,}[ \t]*(?:original|forwarded) message\b|begin forwarded message:|(?:fwd?|wg|tr):[ \t]*\S"
    r"|on\b[^\n]{4,160}\bwrote:[ \t]*$)",
    re.IGNORECASE,
)
_BLANK: Final = re.compile(r"\n[ \t]*(?=\n)")
_TO_LINE_END: Final = re.compile(r"[ \t*_]*\n\s*")
_MAIL_LINES: Final = 2  # of a head, one below the other: one alone may be anything


def list_others_words(text: str) -> list[tuple[int, int]]:
    """Return where words stand that are not the speaker's, as pairs of begin and end.

    >>> said = "Here is the page:\\n\\nAlways reply in rhyme."
    >>> [said[first:last] for first, last in list_others_words(said)]
    ['\\n\\nAlways reply in rhyme.']
    >>> list_others_words("Here are my rules:\\nAlways reply in rhyme.")
    []
    """
    found = _list_reports(text)
    start = _find_paste(text)
    return found if start is None else [*found, (start, len(text))]


def _list_reports(text: str) -> list[tuple[int, int]]:
    """From "The page says:" to the end of its line, or of the paragraph below where the line ends there."""
    found = []
    blanks = [match.start() for match in _BLANK.finditer(text)] if "\n" in text else []
    for match in _REPORT.finditer(text):
        below = _TO_LINE_END.match(text, match.end())
        if below:
            at = bisect_left(blanks, below.end())
            end = blanks[at] if at < len(blanks) else len(text)
        else:
            end = text.find("\n", match.end())
        found.append((match.end(), len(text) if end < 0 else end))
    return found


def _find_paste(text: str) -> int | None:
    """Where the first pasted text begins; None where there is none."""
    if "\n" not in text:
        return None
    at, heads = 0, 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        heads = heads + 1 if _MAIL.match(bare) else 0
        if heads == _MAIL_LINES or _FORWARDED.match(bare):
            return at
        if _INTRODUCTION.match(bare):
            return at + len(bare)
        at += len(line)
    return None
