"""The terms of a text: what a query and a memory can have in common by name (memory-model.md section 7).

Words are lower-cased and compared as they are; identifiers (paths, dotted names, hashes, numbers) stay whole
and also count by their parts, so that "gating.py" finds "models/domain/gate/gating.py" and the reverse.
"""

import re
import unicodedata
from collections import Counter
from typing import Final

from models.domain.text.technical.spans import extract_identifiers, find_technical_spans, fold_identifier

# Ideographs and kana are written without spaces: a run of them is compared by its pairs of characters.
_UNSPACED: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# \w leaves out vowel signs and accents that stand as characters of their own; a word must not break at one.
_MARKS: Final = r"\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff"
_LETTER: Final = rf"[^\W_{_UNSPACED}]"
_LETTERS: Final = rf"(?:{_LETTER}|[{_MARKS}]){_LETTER}*(?:[{_MARKS}]{_LETTER}*)*"

_WORD: Final = re.compile(rf"[{_UNSPACED}]+|{_LETTERS}(?:'{_LETTERS})*")
_UNSPACED_START: Final = re.compile(rf"[{_UNSPACED}]")
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.,:/-]\d+)+")
_POSSESSIVE: Final = "'s"

# Composing accents takes quadratic time on a long run of marks, and no word is that long.
_MAX_COMPOSED_CHARS: Final = 64

# Words that shape a question without saying what it is about. "not", "before" and "after" stay: they matter.
_STOP_LIST: Final = """
    a about also am an and any are as at be because been being but by can could did do does doing ever for
    from get got had has have having he her hers him his how i i'd i'll i'm i've if in into is it its just
    let like me might mine my of on or our ours out please shall she should so some such tell than that
    the their theirs them then there these they they're this those to too up us was we we're were what
    when where which who whom whose why will with would you you're your yours
"""
STOP_WORDS: Final = frozenset(_STOP_LIST.split())

_MONTHS: Final = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
)
_DATE: Final = re.compile(
    r"(?<![\w/.-])(?:\d{4}-\d{2}-\d{2}|\d{1,2}/\d{1,2}/\d{2,4}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:{_MONTHS})\.?(?:,? \d{{4}})?"
    rf"|(?:{_MONTHS})\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?"
    rf"|(?:{_MONTHS})\.?,? \d{{4}})(?![\w/-])"
)
_NAME_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_BREAKS: Final = frozenset(".!?\n:;\"“”'‘’()[]{}*#>-–—•|…")


def extract_terms(text: str) -> frozenset[str]:
    """All terms of a text: its words in lower case, its identifiers whole, and the parts of those.

    >>> sorted(extract_terms("Caroline's log is in src/app.py"))
    ['app', 'app.py', 'caroline', 'in', 'is', 'log', 'py', 'src', 'src/app.py']
    """
    return frozenset(count_terms(text))


def count_terms(text: str) -> Counter[str]:
    """How often each term stands in a text; an identifier, and a part that is no word by itself, counts once.

    >>> count_terms("The log of app.py is a log")["log"], count_terms("app.py, app.py")["app.py"]
    (2, 1)
    """
    terms: Counter[str] = Counter()
    for word in _WORD.findall(text.lower().replace("’", "'")):
        if word.isascii():
            terms[word.removesuffix(_POSSESSIVE)] += 1
        elif _UNSPACED_START.match(word):
            terms.update(word[i : i + 2] for i in range(max(len(word) - 1, 1)))
        else:
            terms[_compose(word.removesuffix(_POSSESSIVE))] += 1
    whole = {match.group() for match in _NUMBER.finditer(text)}
    whole.update(part for identifier in extract_identifiers(text) for part in fold_identifier(identifier))
    terms.update(whole - terms.keys())
    return terms


def query_keywords(text: str) -> frozenset[str]:
    """The terms of a question that say what it is about: all but the stop words.

    >>> sorted(query_keywords("What is the port of Redis?"))
    ['port', 'redis']
    """
    return extract_terms(text) - STOP_WORDS


def extract_mentions(text: str) -> tuple[str, ...]:
    """What a summary of a text must not lose: its identifiers, dates and names, verbatim, each once.

    Names are capitalised words that do not merely open a sentence; neighbouring ones are one name.

    >>> extract_mentions("On 7 May 2023 we met Ada Lovelace about src/app.py. Then we left.")
    ('src/app.py', '7 May 2023', 'Ada Lovelace')
    """
    technical = find_technical_spans(text)
    dates = list(_DATE.finditer(text))
    # Names are looked for in what is left: "May" of a date, "Error" of a code are none.
    taken = [(span.start, span.end) for span in technical] + [date.span() for date in dates]
    names = _find_names(_blank_out(text, taken))
    found = (*(span.text for span in technical), *(date.group() for date in dates), *names)
    return tuple(dict.fromkeys(found))


def _blank_out(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with a digit in place of each span: no name, and still inside its sentence."""
    pieces: list[str] = []
    at = 0
    for start, end in sorted(spans):
        pieces += (text[at:start], "0")
        at = max(at, end)
    return "".join((*pieces, text[at:]))


def _find_names(text: str) -> list[str]:
    spans: list[tuple[int, int]] = []
    for match in _NAME_WORD.finditer(text):
        if not _is_name(text, match):
            continue
        if spans and text[spans[-1][1] : match.start()] == " ":
            spans[-1] = (spans[-1][0], match.end())
        else:
            spans.append(match.span())
    return [text[start:end].removesuffix("'s").removesuffix("’s") for start, end in spans]


def _is_name(text: str, match: re.Match[str]) -> bool:
    word, start = match.group(), match.start()
    if len(word) < 2 or not word[0].isupper() or word.lower() in STOP_WORDS:
        return False
    # One blank, then the end of another word: inside a sentence. Anything else may be an opening capital.
    before = text[max(start - 2, 0) : start]
    return len(before) == 2 and before[1] == " " and not before[0].isspace() and before[0] not in _BREAKS


def _compose(word: str) -> str:
    return unicodedata.normalize("NFC", word) if len(word) <= _MAX_COMPOSED_CHARS else word
