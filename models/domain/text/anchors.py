"""Date and time expressions: what ties a turn to a moment.

A turn rich in anchors answers "when" and "how long" questions; its density is computed once, at
ingest (memory-model.md, section 7). The conversational load of the gate asks for the dated kinds.
Nothing here knows what day it is: an anchor is found, never resolved.

All patterns are linear: numbers are bounded, and blanks between words are one to three.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

AnchorKind = Literal["date", "month", "year", "season", "holiday", "time", "weekday", "relative", "duration"]

# memory-model.md, section 7: A(d) = min(distinct date or time expressions / 3, 1).
SATURATING_ANCHORS: Final = 3

# Kinds that place an event. A duration measures one ("for three weeks") and does not say when.
DATED_KINDS: Final[frozenset[AnchorKind]] = frozenset(
    {"date", "month", "year", "season", "holiday", "time", "weekday", "relative"}
)

_B: Final = r"(?<![0-9A-Za-z_\u00c0-\u1fff])"  # a word begins; ideographs before it do not matter
_E: Final = r"(?![0-9A-Za-z_\u00c0-\u1fff])"
_S: Final = r"\s{1,3}"
# Guards: one look at the first character spares a failed try of every alternative.
_LETTER: Final = r"(?=[a-z\u00e0-\u04ff])"
_DIGIT: Final = r"(?=[0-9])"

_MONTH: Final = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?)"
)
# Other languages count only beside a number: "mars", "mai" and "mayo" are words elsewhere.
_FOREIGN_MONTH: Final = (
    r"(?:januar|jänner|februar|märz|mai|juni|juli|oktober|dezember"
    r"|janvier|février|fevrier|mars|avril|juin|juillet|août|aout|septembre|octobre|novembre|décembre|decembre"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
    r"|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro"
    r"|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre"
    r"|januari|februari|maart|mei|augustus"
    r"|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря)"
)
_DAY: Final = r"(?:3[01]|[12]\d|0?[1-9])"
_YEAR: Final = r"(?:19|20)\d{2}"
_WEEKDAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_UNIT: Final = r"(?:second|minute|hour|day|night|week|weekend|month|quarter|semester|year|decade|fortnight)s?"
_COUNT: Final = (
    r"(?:\d{1,6}(?:\.\d{1,3})?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
    r"|forty|fifty|sixty|ninety|(?:a" + _S + r")?(?:couple" + _S + r"of|few)|several|half" + _S + r"an?)"
)

# Patterns in small letters are matched against the lower-cased text (see lower_in_place): ignoring
# case inside the expression would cost three to five times as much.
DATE: Final = re.compile(
    rf"{_B}(?:{_DIGIT}(?:"
    rf"{_YEAR}(?P<mark>[-/.])(?:1[0-2]|0?[1-9])(?P=mark){_DAY}(?:[t ]\d{{2}}:\d{{2}}(?::\d{{2}})?z?)?"
    rf"|{_DAY}(?:"
    rf"(?P<slash>[-/.]){_DAY}(?P=slash)(?:{_YEAR}|\d{{2}})"
    rf"|(?:st|nd|rd|th|\.|er)?{_S}(?:of{_S}|de{_S})?(?:{_MONTH}|{_FOREIGN_MONTH})"
    rf"(?:,?{_S}(?:del?{_S})?{_YEAR})?))"
    rf"|{_LETTER}{_MONTH}{_S}(?:the{_S})?{_DAY}(?:st|nd|rd|th)?(?:,?{_S}{_YEAR})?"
    rf"){_E}"
    rf"|(?<![0-9]){_DIGIT}(?:(?:19|20)\d{{2}}年(?:\d{{1,2}}月(?:\d{{1,2}}日)?)?|\d{{1,2}}月\d{{1,2}}日)"
)
# "7/22" is a date only after a word that calls for one; "1/2 cup" and "24/7" are not.
SHORT_DATE: Final = re.compile(
    rf"{_B}{_LETTER}(?:on|since|by|from|until|till|before|after|around|the|dated){_S}"
    rf"(?P<bare>(?!24/7){_DAY}/{_DAY}){_E}(?!/)"
)
MONTH: Final = re.compile(
    rf"{_B}{_LETTER}(?:(?:in|since|by|until|last|this|next|early|late|mid|during|every)[ -](?P<bare>{_MONTH}"
    rf"(?:,?{_S}{_YEAR})?)|{_MONTH},?{_S}(?:of{_S})?{_YEAR}|{_FOREIGN_MONTH}{_S}(?:del?{_S})?{_YEAR}){_E}"
)
# With a capital these are never another English word; "May" and "March" need a neighbour.
BARE_MONTH: Final = re.compile(
    rf"{_B}(?=[A-Z])(?:January|February|April|June|July|August|September|October|November|December){_E}"
)
YEAR: Final = re.compile(
    rf"{_B}{_LETTER}(?:(?:in|since|by|until|from|during|of|before|after|around|year){_S}(?P<bare>{_YEAR}s?)"
    rf"|(?:early|mid|late)[ -](?:19|20)?\d0s|the{_S}(?:19|20)?\d0s){_E}"
)
SEASON: Final = re.compile(
    rf"{_B}{_LETTER}(?:(?:last|this|next|early|late|in{_S}the|over{_S}the|during{_S}the){_S}"
    rf"(?:spring|summer|fall|autumn|winter)|(?:spring|summer|fall|autumn|winter){_S}(?:of{_S})?{_YEAR}){_E}"
)
HOLIDAY: Final = re.compile(
    rf"{_B}(?=[A-Z])(?:Christmas(?: Eve| Day)?|Thanksgiving|Easter(?: Sunday)?|Halloween|Hanukkah|Diwali|Ramadan"
    r"|(?:Lunar |Chinese )?New Year(?:['’]s)?(?: Eve| Day)?|Valentine['’]s Day|(?:Mother|Father)['’]s Day"
    rf"|(?:Labor|Memorial|Independence|Boxing) Day|Ash Wednesday|Maundy Thursday|Good Friday|Black Friday){_E}"
)
TIME: Final = re.compile(
    rf"{_B}(?:{_DIGIT}(?:(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![0-9:])(?:\s{{0,2}}[ap]\.?m\b\.?)?"
    rf"|(?:1[0-2]|0?[1-9])\s{{0,2}}[ap]\.?m\b\.?|(?:1[0-2]|[1-9]){_S}o['’]clock)|noon|midnight){_E}"
)
WEEKDAY: Final = re.compile(
    rf"{_B}{_LETTER}(?:(?:last|next|this|every|on)\s(?:{_WEEKDAY}|mon|tues?|wed|thurs?|fri|sat)|{_WEEKDAY}){_E}"
    r"|\((?:mon|tue|wed|thu|fri|sat|sun)\)"
)
RELATIVE: Final = re.compile(
    rf"{_B}(?:{_LETTER}(?:(?:the{_S})?day{_S}(?:before{_S}yesterday|after{_S}tomorrow)|yesterday|today|tonight"
    rf"|tomorrow|(?:the{_S})?other{_S}day|this{_S}(?:morning|afternoon|evening)"
    rf"|(?:earlier{_S}|later{_S})?(?:last|next|this|previous|coming){_S}(?:night|week|weekend|month|quarter|semester|year)"
    rf"|(?:in|over|during|for|within){_S}the{_S}(?:past|last|next){_S}(?:{_COUNT}{_S})?{_UNIT}"
    rf"|in{_S}{_COUNT}{_S}{_UNIT}"
    rf"|(?:past|last|next){_S}{_COUNT}{_S}{_UNIT}"
    r"|gestern|vorgestern|übermorgen|ayer|anteayer|ieri|domani|ontem|amanhã|avant-hier|demain|gisteren"
    r"|вчера|сегодня|завтра)"
    rf"|(?:{_COUNT}|an?){_S}{_UNIT}{_S}(?:ago|later|earlier|before|after|from{_S}now)){_E}"
    r"|(?=[昨今明前上下去先来])(?:[昨今明前]天|[昨今明]日|[上下]周|[上下]个月|[去今明]年|[先来]週|[先来]月)"
)
# An age ("25 years old") is a fact about a person, not a stretch of time.
DURATION: Final = re.compile(rf"{_B}(?=[0-9a-z]){_COUNT}[\s-]{_UNIT}{_E}(?!{_S}old|-old)")

PATTERNS: Final[tuple[tuple[AnchorKind, re.Pattern[str]], ...]] = (
    ("date", DATE),
    ("date", SHORT_DATE),
    ("month", MONTH),
    ("year", YEAR),
    ("season", SEASON),
    ("time", TIME),
    ("relative", RELATIVE),
    ("weekday", WEEKDAY),
    ("duration", DURATION),
)
# These rely on the capital letter and are matched against the text as written.
CASED_PATTERNS: Final[tuple[tuple[AnchorKind, re.Pattern[str]], ...]] = (
    ("month", BARE_MONTH),
    ("holiday", HOLIDAY),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """One date or time expression: text[start:end], and what kind of hold on time it gives."""

    text: str
    start: int
    end: int
    kind: AnchorKind


def lower_in_place(text: str) -> str:
    """Return the text in small letters with every character at its old position.

    A capital that lowers to two characters (İ) stays as it is, so that offsets hold.

    >>> lower_in_place("MÄRZ İ")
    'märz İ'
    """
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def _find_claims(
    patterns: tuple[tuple[AnchorKind, re.Pattern[str]], ...], text: str
) -> list[tuple[int, int, AnchorKind]]:
    claims: list[tuple[int, int, AnchorKind]] = []
    for kind, pattern in patterns:
        # The group "bare" leaves out the preposition that vouched for the expression.
        group = "bare" if "bare" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            start, end = match.span(group if match[group] is not None else 0)
            claims.append((start, -end, kind))
    return claims


def find_anchors(text: str) -> tuple[Anchor, ...]:
    """Return the date and time expressions of a text in reading order, none overlapping another.

    Where two overlap, the one that starts first wins, then the longer.

    >>> [(a.kind, a.text) for a in find_anchors("On March 3rd, 2024 at 5 pm, two weeks ago")]
    [('date', 'March 3rd, 2024'), ('time', '5 pm'), ('relative', 'two weeks ago')]
    """
    claims = _find_claims(PATTERNS, lower_in_place(text)) + _find_claims(CASED_PATTERNS, text)
    claims.sort(key=lambda claim: claim[:2])
    anchors: list[Anchor] = []
    reached = 0
    for start, negative_end, kind in claims:
        if start >= reached:
            reached = -negative_end
            anchors.append(Anchor(text=text[start:reached], start=start, end=reached, kind=kind))
    return tuple(anchors)


def anchor_density(text: str) -> float:
    """Return A(d) = min(distinct expressions / 3, 1): 0 without any, 1 from three on.

    Case and spacing do not make an expression distinct.

    >>> anchor_density("Yesterday, and again yesterday"), anchor_density("no date here")
    (0.3333333333333333, 0.0)
    """
    distinct = {" ".join(anchor.text.casefold().split()) for anchor in find_anchors(text)}
    return min(len(distinct) / SATURATING_ANCHORS, 1.0)
