"""What a claim says by the build of one clause: how often something is done, what is liked, where a thing is kept.

A long turn says several things; only the clause that says one of these is compared, whatever stands around it.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from models.domain.updates.patterns import CLAUSE, HEDGE, IDLE, IMPERATIVES, NUMBER_WORDS, VERBS, WORD
from models.domain.updates.stems import strip_ending

MOST_OBJECT_WORDS: Final = 5
MOST_CLAUSE_WORDS: Final = 12
MOST_OPENING: Final = 2  # words that open a clause and say nothing yet
MOST_BACK: Final = 5  # characters from a clause to the end of the one before it
_DAY: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_NUMBER: Final = r"\d+|" + "|".join(NUMBER_WORDS)
_A_WEEK: Final = {  # how often a week
    **dict.fromkeys(("day", "daily", "morning", "evening", "night", "nightly", "afternoon"), 7.0),
    **dict.fromkeys(("fortnight", "fortnightly", "biweekly", "bi-weekly"), 0.5),
    **dict.fromkeys(("month", "monthly"), 0.25),
    "year": 0.02,
}
RATE: Final = re.compile(
    rf"\b(?P<times>{_NUMBER})(?:\s?(?:-|to|or)\s?(?P<most>{_NUMBER}))?(?: times)? (?:a|per|each|every) "
    r"(?P<per>day|week|fortnight|month|year)\b"
    rf"|\bevery (?P<gap>{_NUMBER}) (?P<gaps>day|week|month)s\b"
    rf"|\bevery (?P<second>other |second )?(?P<each>day|morning|evening|night|afternoon|week|weekend|month|{_DAY})\b"
    r"|\b(?P<adverb>(?:daily|nightly)(?! \w)|weekly|bi-?weekly|fortnightly|monthly)\b"  # "a daily life" is no rate
    rf"|\b(?P<days>{_DAY}s(?:(?:,? and |, | & ){_DAY}s)+)\b"
)
# The speaker, some adverbs and auxiliaries, a verb of liking, and what is liked.
_BETWEEN: Final = (
    "really|actually|absolutely|just|also|still|always|usually|mostly|generally|honestly|definitely|truly|now|"
    "never|not|no longer|do|don't|didn't|am|are|ain't|aren't|have|haven't|'ve|'m|'re|been|become|became|come to|"
    "came to|grown|grew|grown to|started to|started|begun to|began to|learned to|learnt to|got|gotten|getting|"
    "getting to|can't|cannot|so|very|quite|an?|big|huge|much|rather|bit|little|most|used to|stopped|recently|finally|totally"
)
_LIKES: Final = (
    "love|like|enjoy|adore|loving|liking|enjoying|fond of|keen on|fans? of|into|hooked on|obsessed with|"
    "crazy about|prefer|(?:would|'d) (?:rather|sooner)(?: (?:have|use|take|do|be))?|(?:would|'d) prefer|"
    "eat|drink|watch|listen to|wear|smoke|play|eating|drinking|watching|listening to|wearing|smoking|playing"
)
_DISLIKES: Final = (
    "hate|hating|dislike|detest|loathe|despise|(?:can't|cannot|couldn't) (?:stand|bear|take|tolerate)|"
    "tired of|sick of|fed up with|bored (?:of|with|by)|had enough of|gone off|went off|"
    "lost interest in|avoid|avoiding"
)
TASTE: Final = re.compile(
    rf"\b(?:i|we)(?P<between>(?:\s?(?:{_BETWEEN})\b){{0,5}})\s?(?:(?P<liked>{_LIKES})|(?P<disliked>{_DISLIKES}))"
    r"\s+(?=(?P<what>[^.;:!?()]{2,90}))"
)
_PRONOUN: Final = re.compile(r"(?:it|them|those|these|that|this)\b")
_TURNED: Final = re.compile(
    r"\b(?:not|never|no longer|don't|didn't|ain't|aren't|haven't|can't|cannot|stopped|used to)\b"
)
_WHAT_END: Final = re.compile(
    r",|\s-\s|\s(?:because|but|so|when|whenever|since|as|while|after|before|which|who|that|although|though|if|"
    r"and (?:i|we|it|my)|these days|now|any ?more|nowadays|lately|especially|for|than|over|rather than|instead of|"
    r"at all|with my)\b"
)
_OVER: Final = re.compile(r"^[^,]*?\s(?:over|rather than|instead of|than|to)\s(?P<less>(?!be\b)[^,.;]{2,40})")
# A thing of the speaker's and where it stands, by a verb of keeping or of being.
_PLACE: Final = r"(?:with|in|on|under|at|behind|inside|into|onto|to|above|below|beside|next to|near) "
KEPT: Final = re.compile(
    r"\b(?P<verb>keep(?:s|ing)?|kept|stor(?:e|es|ed|ing)|put(?:ting)?|hang(?:ing)?|hung|moved|park(?:ed|ing)?|leave)\s"
    r"(?P<what>(?:all )?(?:of )?(?:my|our|them|it|mine)\b[^,.;:!?]{0,40}?)\s?\b(?:back |up |over |away )?"
    rf"(?P<place>{_PLACE}(?:the|my|our|an?|one)\b[^,.;:!?]{{2,40}})"
)
BEING: Final = re.compile(
    r"\b(?P<what>(?:my|our) [^,.;:!?]{2,40}?|they|it) ?(?:is|are|'s|'re|live|lives|sit|sits|stand|stands) "
    r"(?:now |all |both |currently |kept |stored )*"
    rf"(?P<place>{_PLACE}(?:the|my|our|an?|one)\b[^,.;:!?]{{2,40}})"
)
_POSSESSED: Final = re.compile(
    r"\b(?:my|our|the) (?P<thing>[a-z'-]+(?: (?!in\b|on\b|and\b|is\b|are\b)[a-z'-]+){0,2})"
)
_PLACE_END: Final = re.compile(
    r"\s(?:so|because|and|for|where|but|since|when|while|as|by|with|next|near|to|now)\b"
)
CONDITION: Final = re.compile(r"\b(?:when|whenever|if|while|for)\b(?P<when>[^,.;:!?]{3,60})")
ADDED: Final = re.compile(
    r"\b(?:also|too(?=[,.;:!?)]|$)|as well|besides|another|additionally|in addition|on top of|apart from|aside from|"
    r"the other|the second|the third)\b"
)

LED: Final = re.compile(
    r"\b(?P<lead>in|at|to|with|from|by|on|under|into|via|as) (?P<to>(?:[\w'&.-]+ ){0,3}?[\w'&-]+)"
    r"(?=$|[.,;:!?()]| (?:in|at|to|with|from|by|on|into|via|as|for|when|if|before|after|every|each|these|any|instead|so|now|"
    r"because|since|while|until|of|that|and|or|please)\b)"
)
# What somebody means to do, and what is done.
PLANNED: Final = re.compile(
    r"\b(?:meaning to|planning (?:to|on)|plan to|going to|want(?:ed)? to|hop(?:e|ing) to|thinking (?:of|about)|about to|"
    r"(?:would|'d) (?:like|love) to|haven't|have not|have yet to|still (?:need|have) to|need to|halfway through|"
    r"in the middle of|next on my list)\b"
)
DONE: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have)?(?: (?:just|already|also|now|\w+ly)){0,3} "
    r"(?!(?:noticed|used|wanted|needed|liked|loved|enjoyed|heard|decided|hoped|planned|missed|tried|realised|realized)\b)"
    r"(?:\w{2,}ed|read|saw|seen|bought|got|went|done|made|met|took|been to|sold|built|found|won)\b(?! to\b)"
)
_NAMED: Final = re.compile(r"(?<!^)\b[A-ZÄÖÜ][\w'&.-]*\w(?: (?:of |the |and )?[A-ZÄÖÜ][\w'&.-]*\w)*")

_TOKEN: Final = re.compile(r"\w+n't\b|'\w+|[\w/+#.-]*[\w+#]")
# After one of these the two fillings are of one kind: a place, a time, a way.
_LEADS_LIST: Final = """
    in at on to with from by under into via as behind near inside once twice every around
"""
_LEADS: Final = frozenset(_LEADS_LIST.split())
_CONDITIONS: Final = frozenset({"when", "whenever", "if", "for", "unless", "until", "while"})
_OPENERS: Final = frozenset({"i", "we", "my", "our"})
_ADVERBS_LIST: Final = """
    now currently always usually really still just please already actually mostly only again so then also even all too
    am is are was 's 'm 're 've have has been be the a an to
"""
_ADVERBS: Final = frozenset(_ADVERBS_LIST.split())
# Of what follows these, two are as true as one: "I have a cat", "I have a dog".
_OPEN_LIST: Final = """
    have got need want like love enjoy hate think know feel hope try trying thinking looking planning bring bringing buy
    buying bought add help made make heard say says mean remember wonder seem guess see find going considering interested
    curious glad happy sure doing used working been will 'll 'd would won't can't could should ask told tell went said
"""
_OPEN: Final = frozenset(_OPEN_LIST.split())
_PAST_LIST: Final = """
    had was were did took saw met came gave put left found spent ate drank wrote ran
"""
_PAST: Final = frozenset(_PAST_LIST.split())


class Taste(NamedTuple):
    """What somebody likes, or does not."""

    is_liked: bool
    what: frozenset[str]  # stems


class Led(NamedTuple):
    """What a preposition leads to in a clause, and what else the clause says."""

    lead: str
    to: frozenset[str]
    rest: frozenset[str]


class Kept(NamedTuple):
    """A thing of the speaker's, and where it is."""

    what: frozenset[str]
    place: frozenset[str]
    is_kept: bool  # by a verb of keeping, not of being


def find_clause(plain: str, place: int) -> str:
    """The clause in which a place of a text stands.

    >>> find_clause("i might go, which is usually at six, or not", 20)
    'is usually at six'
    """
    start, end = 0, len(plain)
    for match in CLAUSE.finditer(plain):
        if match.end() <= place:
            start = match.end()
        elif match.start() >= place:
            end = match.start()
            break
    return plain[start:end]


def read_rates(plain: str) -> Iterator[float]:
    """How often a week what a claim tells is done, where it is not only considered.

    >>> [*read_rates("i swim twice a week")], [*read_rates("we meet on mondays and fridays, like every other week")]
    ([2.0], [2.0, 0.5])
    """
    for match in RATE.finditer(plain):
        if HEDGE.search(find_clause(plain, match.start())):
            continue
        if match["times"]:
            least, most = (_read_number(match[name] or match["times"]) for name in ("times", "most"))
            yield round((least + most) / 2 * _A_WEEK.get(match["per"], 1.0), 2)
        elif match["gap"]:
            yield round(_A_WEEK.get(match["gaps"], 1.0) / max(_read_number(match["gap"]), 1.0), 2)
        elif match["days"]:
            yield float(match["days"].count("day"))
        else:
            rate = _A_WEEK.get(match["each"] or match["adverb"], 1.0)
            yield rate / 2 if match["second"] else rate


def _read_number(word: str) -> float:
    return float(NUMBER_WORDS.get(word, word))


def read_tastes(plain: str) -> Iterator[Taste]:
    """What the speaker likes and dislikes.

    >>> [(taste.is_liked, *taste.what) for taste in read_tastes("i can't stand olives, but i prefer tea to milk")]
    [(False, 'oliv'), (True, 'tea'), (False, 'milk')]
    """
    for match in TASTE.finditer(plain):
        is_liked = bool(match["liked"]) != bool(_TURNED.search(match["between"]))
        what = _read_stems(_WHAT_END.split(match["what"], maxsplit=1)[0])
        if not what and _PRONOUN.match(match["what"]):  # "cilantro tastes like soap, so i can't stand it"
            what = _read_stems(find_clause(plain, max(match.start() - MOST_BACK, 0)), most=1)
        less = None
        if match["liked"] and ("prefer" in match["liked"] or "rather" in match["liked"]):
            less = _OVER.match(match["what"])
            what -= _read_stems(less["less"]) if less else frozenset()
        if what:
            yield Taste(is_liked, what)
        if less is not None:
            yield Taste(not is_liked, _read_stems(_WHAT_END.split(less["less"], maxsplit=1)[0]))


def read_conditions(plain: str) -> frozenset[str]:
    """The words that say when, or for what, something is asked.

    >>> sorted(read_conditions("be brief when you write to the bank, please"))
    ['bank']
    """
    return _read_stems(" ".join(match["when"] for match in CONDITION.finditer(plain))) - {"writ"}


def read_kept(plain: str) -> Iterator[Kept]:
    """Where things of the speaker's are.

    >>> [sorted(kept.place) for kept in read_kept("my old boots smell, i keep them under the stairs")]
    [['stair']]
    """
    for pattern in (KEPT, BEING):
        for match in pattern.finditer(plain):
            if HEDGE.search(find_clause(plain, match.start())):
                continue
            things = [found["thing"] for found in _POSSESSED.finditer(plain[: match.end("what")])]
            what = _read_stems(things[-1]) if things else frozenset()
            place = _read_stems(_PLACE_END.split(match["place"].split(" ", 1)[1], maxsplit=1)[0])
            if what and place:
                yield Kept(what, place, pattern is KEPT)


def read_led(plain: str) -> Iterator[Led]:
    """What prepositions lead to, each with the rest of its clause: "send the report to Ann".

    >>> [(led.lead, sorted(led.to), sorted(led.rest)) for led in read_led("please send the report to ann")]
    [('to', ['ann'], ['report', 'send'])]
    """
    for clause in CLAUSE.split(plain):
        for match in LED.finditer(clause):
            before = clause[: match.start()].split()
            if not (VERBS & set(before) or IMPERATIVES & set(before[:2])):
                continue  # "our office in Munich": it says which, not where
            to, rest = _read_stems(match["to"]), _read_stems(clause, most=MOST_CLAUSE_WORDS)
            if to:
                yield Led(match["lead"], to, rest - to)


def read_openings(plain: str) -> Iterator[tuple[str, ...]]:
    """The clauses of a claim that the speaker or an instruction opens, word by word, without what hardly tells.

    >>> [*read_openings("i rented a spot, so my car is now parked behind the bakery")]
    [('my', 'car', 'parked', 'behind', 'bakery')]
    """
    for clause in CLAUSE.split(plain):
        words = [word for word in _TOKEN.findall(clause) if word not in _ADVERBS]
        is_opened = len(words) > MOST_OPENING and (words[0] in _OPENERS or words[0] in IMPERATIVES)
        is_once = any(word.endswith("ed") or word in _PAST for word in words[1:2])  # it happened
        if is_opened and not is_once and HEDGE.search(clause) is None:
            yield tuple(words)


def find_fillings(was: tuple[str, ...], now: tuple[str, ...]) -> tuple[frozenset[str], ...] | None:
    """What two clauses that begin alike say alike, and what each says then; None where two can be true.

    >>> [sorted(one) for one in find_fillings(("my", "car", "parked", "at", "work"), ("my", "car", "parked", "here"))]
    [['car', 'park'], ['work'], ['her']]
    """
    same = 0
    while same < min(len(was), len(now)) and strip_ending(was[same]) == strip_ending(now[same]):
        same += 1
    opening, before, after = was[:same], was[same:], now[same:]
    if not before or not after or _OPEN & set(opening):
        return None
    is_led = all(end[0] in _LEADS or end[0].isdigit() or end[0] in NUMBER_WORDS for end in (before, after))
    is_led = is_led or (len(opening) > 1 and opening[-1] in _LEADS)
    if opening and opening[0] == "i" and not is_led:
        return None
    if opening and opening[0] in IMPERATIVES and (_CONDITIONS & set(before)) != (_CONDITIONS & set(after)):
        return None
    return _read_stems(" ".join(opening)), _read_stems(" ".join(before)), _read_stems(" ".join(after))


def read_plans(sentence: str, pattern: re.Pattern[str]) -> Iterator[str]:
    """The names in the clauses that a pattern (PLANNED, DONE) opens, folded, each as a whole.

    >>> [*read_plans("I still haven't seen Past Lives, though Ann has.", PLANNED)]
    ['past lives']
    """
    plain = sentence.lower().replace("’", "'")
    for match in pattern.finditer(plain):
        end = match.end() + len(_WHAT_END.split(plain[match.end() :], maxsplit=1)[0])
        for name in _NAMED.findall(sentence[match.end() : end]):
            yield name.lower().removeprefix("the ")


def _read_stems(words: str, *, most: int = MOST_OBJECT_WORDS) -> frozenset[str]:
    found = [word for word in WORD.findall(words) if word not in IDLE and not word[0].isdigit()]
    return frozenset(strip_ending(word) for word in found[:most])
