"""What the words of a text tell, as marks in [0, 1]: who is spoken of, what is new, how much of it is small talk.

Statements are read apart from questions. English, with the commonest function words and courtesies of German, French and
Spanish; every expression starts at a fixed word and repeats within bounds, so each runs in linear time.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from models.domain.gate.setups import (
    EVENT,
    INTRODUCTION,
    MOMENT,
    OWNERSHIP,
    PLACED,
    RECURRING,
    SETUP,
    VERSION,
)
from models.domain.text.anchors import DATED_KINDS, find_anchors
from models.domain.text.prose import keep_own_words
from models.domain.text.sentences import split_sentences

MOST_CHARS: Final = (
    6000  # what a turn says about its author is said early; a pasted file is not read to its end
)
MOST_SENTENCES: Final = 60
FULL_CONTENT: Final = 12  # content words at which a statement is as full as counts
FULL_NAMES: Final = 3
SHORT_WORDS: Final = 4

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_FUNCTION_WORDS: Final = frozenset(
    """
    a an the and or but so if then than as of at by for with about into through during before after to from up down in
    out on off over under again once here there all any both each few more most other some such only own same too very
    just also even really actually am is are was were be been being have has had having do does did doing done i me my
    myself we us our ours you your yours he him his she her hers it its they them their theirs this that these those
    what which who whom whose when where why how not no nor can could will would shall should may might must i'm i've
    i'd i'll we're we've we'll it's that's there's they're you're you've don't didn't can't won't isn't aren't wasn't
    doesn't let's got get gets getting gonna gotta wanna lot lots kind sort thing things stuff much many one ones u ya
    im ive dont cant bit little way because while until though
    der die das ein eine und oder aber ich du er sie es wir ihr ist sind war bin hat habe mit von zu auf für im nicht
    el la los las un una y o pero yo tu que es son está de en con por para mi no se me te
    le les des et ou mais je tu il elle nous vous est sont dans avec pour ce cette ne pas mon ma
    """.split()  # noqa: SIM905
)
_SMALL_TALK: Final = frozenset(
    """
    wow thanks thank thx ty cheers great awesome amazing cool nice neat good better best glad happy sure yeah yep yup
    yes nope nah ok okay alright lol rofl haha hahaha hey hi hello bye goodbye congrats congratulations welcome sorry
    oops absolutely definitely totally exactly precisely certainly indeed sounds sound looks inspiring inspired
    incredible wonderful lovely fun luck lucky super pretty beautiful gorgeous proud agree agreed right true oh ooh ah
    hmm umm well please appreciate enjoy care soon later day days nah worries worry problem perfect fantastic excellent
    brilliant cute sweet wishing wish hope hopefully keep believe dreams dream support supportive encouragement special
    important difference funny hilarious crazy interesting fascinating fair point sense guess suppose know see think
    mind understood noted lgtm pleasure kidding dear pity shame imagine positive vibes feel feeling feels felt words
    mean means truly love loved awesome rewarding empowering journey passion strong strength moments moment memories
    kind moving morning evening night tomorrow going idea great tips list helpful recommendations suggestions advice
    danke bitte gern klar alles gut schön vielen dank merci beaucoup gracias perfecto vale nada bien
    """.split()  # noqa: SIM905
)
_OWN: Final = re.compile(
    r"(?<![\w'’])(?:i|we|my|our|mine|ours|me|us|im|ive|ich|wir|mein\w{0,2}|unser\w{0,2}|je|j['’]\w|mon|ma|mes"
    r"|nous|yo|mi|mis"
    r"|nuestr\w{1,2})(?![\w])",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(
    r"(?<![\w'’])(?<!before )(?:you|your|yours|u|ya|y['’]all|du|dein\w{0,2}|vous|votre|tu)(?!\w)",
    re.IGNORECASE,
)
_PLAN: Final = re.compile(
    r"(?<!\w)(?:(?:i|we)['’]ll|(?:i|we) will|going to|gonna|plan(?:s|ning)? (?:to|on|a|for|my|our)"
    r"|thinking (?:of|about)"
    r"|want(?:ed|s)? to|hop(?:e|ing) to|considering|looking (?:to|for|into)|working on|training for|preparing"
    r"|upcoming)(?!\w)",
    re.IGNORECASE,
)
_STATE: Final = re.compile(
    r"(?<!\w)(?:i['’]?m|i am|we['’]?re|we are)(?! (?:glad|happy|sorry|sure|so|here|excited|not sure|interested)\b)\b"
    r"|(?<!\w)(?:my|our)(?: [\w'’-]{1,20}){1,4} (?:is|are|was|were|has|have|had|will|wants?|loves?|likes?)\b"
    r"|(?<!\w)(?:i|we) (?:have|own|use|live|work|run|need|drive|play|prefer)\b",
    re.IGNORECASE,
)
_LIVED: Final = re.compile(
    r"(?<!\w)(?:i|we)(?:['’]ve| have|['’]d| had)?(?: (?:just|also|recently|finally|already|even|never|once"
    r"|still)){0,2} "
    r"(?:been|bought|got|went|made|met|saw|took|gave|found|lost|sold|built|ran|quit|came|left|won|broke|wrote"
    r"|read|spent"
    r"|grew|taught|began|chose|(?!need|want|agreed|loved|wonder)\w{3,20}ed)\b",
    re.IGNORECASE,
)
_CHANGE: Final = re.compile(
    r"(?<!\w)(?:moved|moves|changed|switched|now|new|no longer|anymore|starts?|started|rescheduled|postponed"
    r"|cancel+ed"
    r"|promoted|engaged|married|pregnant|hired|joined|quit|resigned|left|replaced|renamed|upgraded|migrated"
    r"|deadline|due"
    r"|expires?"
    r"|expired|ends?|closed|opens|slipped|pushed|dropped|adopted|passed|died|broke|failed|decided|because|root cause"
    r"|called|named)(?!\w)",
    re.IGNORECASE,
)
_TROUBLE: Final = re.compile(
    r"(?<!\w)(?:errors?|exception|fails?|failing|crash\w{0,3}|broken|issues?|trouble|stuck|bug"
    r"|problems? (?:with|installing|getting)"
    r"|(?:doesn|don|won|isn)['’]?t work\w{0,3})(?!\w)",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"(?<!\w)(?:(?:can|could|would|will|do|did|does|are|have) (?:you|u|any ?one|any ?body|some ?one)"
    r"|any (?:tips|ideas|suggestions"
    r"|recommendations|advice)|recommend|suggest|tell me|explain|give me|help me|show me|i(?:['’]d"
    r"| would) like to (?:know|learn|see)"
    r"|i was wondering)(?!\w)",
    re.IGNORECASE,
)
_QUESTION_OPENING: Final = re.compile(
    r"(?:(?:so|and|but|hey|well|ok|okay|hi|also|or)[,]? )?(?:what|how|why|when|where|who|which|is|are|do|does"
    r"|did|can|could|would"
    r"|should|any|anyone|has|have|wie|was|warum|hast|kannst)(?!\w)",
    re.IGNORECASE,
)
_COMMAND: Final = re.compile(
    r"(?:(?:now|ok|okay|and|then|just|please|good|great|clean)[,.]? )*(?:let me|let['’]?s|let us|add|try|use"
    r"|check|run|see|go|type"
    r"|do|make|write|continue|give|create|open|click|install|put|look|remove|fix|update|act|summari[sz]e"
    r"|translate|rewrite|keep"
    r"|take|have|tell|enjoy|hold|read|start|stop|find|generate|implement|explain|describe|list)(?!\w)",
    re.IGNORECASE,
)
_VAGUE_OPENING: Final = re.compile(
    r"(?:(?:yeah|yes|yep|well|and|but|so|oh|also|no|thanks)[,!]? )?(?:it|it['’]s|its|that|that['’]s|thats"
    r"|this|these|those|they|they['’]re"
    r"|he|she|them)(?!\w)",
    re.IGNORECASE,
)
# About this very conversation: what will be tried of an answer, what is to be asked next.
_OF_THE_TALK: Final = re.compile(
    r"(?<!\w)(?:i['’]?(?:ll| will)(?: \w{3,12}ly)?(?: also)? (?:check|try|look|keep|make sure|go ahead"
    r"|consider|start with|start by|go with)"
    r"|(?:i['’]?m|i am)(?: \w{3,12}ly)?(?: also)? (?:interested in|curious|unsure|not sure|still"
    r"|looking for (?:some |any |a few |more )?(?:advice"
    r"|tips|guidance|information|recommendations|ideas|suggestions))|more questions?|a question|(?:want|like"
    r"|love) to (?:know|learn|hear|focus)"
    r"|(?:those|these|your|the) (?:tips|suggestions|ideas|recommendations|resources|methods|points)"
    r"|was wondering|makes sense)(?!\w)",
    re.IGNORECASE,
)
_HEDGE: Final = re.compile(
    r"(?<!\w)(?:maybe|perhaps|might|probably|i (?:think|guess|imagine|suppose|assume|mean)|assuming|seems?"
    r"|should|would|could|if)(?!\w)",
    re.IGNORECASE,
)
# "My flight lands", "The demo is", "Oskar moved": something is named first, and then something is said of it.
_SUBJECT: Final = re.compile(
    r"(?:Only )?(?:(?i:my|our|the|their|his|her|mein\w{0,2}|mon|ma|mi|le|la|der|die"
    r"|el) [\w'’-]{2,20}(?: [\w'’-]{1,20}){0,3}? |(?!(?:No|Not|Nothing|Nobody|Never|Ignore|Some|All|Every"
    r"|Just|Only|So|But|And)\b)[^\W\d_a-z][\w'’-]{1,20} (?:(?<=['’]s )[\w-]{2,20} )?)"
    r"(?:and [^\W\d_a-z]\w{1,20} )?(?:(?:now|just|still|also|no longer) )?"
    r"(?:is|are|was|were|has|have|had|will|got|gets|goes|go|est|ist|es|se|\w{2,20}ed|\w{2,20}[^\Wsu]s|went|left|said"
    r"|came|made|took|put|ran|make|give|live|start|need|cost)(?!\w)"
)
_NAME: Final = re.compile(r"(?<=[\w,;:] )(?!I['’])[^\W\d_a-z][\w'’-]+")
_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    text: str
    words: int
    content: int
    small_talk: int
    is_own: bool
    is_addressed: bool


def read_marks(text: str, *, load: float) -> dict[str, float]:
    """Return every mark of a text, each in [0, 1]; `load` is the gate's Dnl.

    >>> marks = read_marks("Standup moved to 10:00", load=0.3)
    >>> marks["change"], marks["number"], marks["asks"]
    (1.0, 1.0, 0.0)
    """
    prose = keep_own_words(text)[:MOST_CHARS]
    sentences = split_sentences(prose)[:MOST_SENTENCES]
    told = [_read_statement(sentence) for sentence in sentences if not is_question(sentence)]
    own = [one for one in told if one.is_own]
    said = " . ".join(one.text for one in told)
    of_own = " . ".join(one.text for one in own)
    told_of_things = " . ".join(
        one.text for one in told if not _COMMAND.match(one.text) and not MOMENT.match(one.text)
    )
    words = sum(one.words for one in told)
    content = sum(one.content for one in told)
    fullest = max(told, key=lambda one: one.content, default=None)
    first = fullest.text if fullest else ""
    plain = [one for one in told if not one.is_own and not one.is_addressed and not _COMMAND.match(one.text)]
    return {
        "load": load,
        "content": _fill(content),
        "own_content": _fill(max((one.content for one in own), default=0)),
        "plain_content": _fill(max((one.content for one in plain), default=0)),
        "empty": float(content == 0),
        "thin": float(content == 1),
        "short": float(0 < words < SHORT_WORDS and content < 2 and not load),
        "small_talk": sum(one.small_talk for one in told) / max(words, 1),
        "own": float(bool(own)),
        "addressed": sum(one.is_addressed for one in told) / max(len(told), 1),
        "commands": sum(bool(_COMMAND.match(one.text)) for one in told) / max(len(told), 1),
        "vague": float(bool(_VAGUE_OPENING.match(first))),
        "questions": 1.0 - len(told) / len(sentences) if sentences else 0.0,
        "asks": float(bool(_ASKS.search(prose))),
        "plan": float(bool(_PLAN.search(of_own))),
        "state": float(bool(_STATE.search(of_own))),
        "lived": float(bool(_LIVED.search(of_own))),
        "change": float(bool(_CHANGE.search(said))),
        "of_the_talk": sum(bool(_OF_THE_TALK.search(one.text)) for one in own) / max(len(own), 1),
        "hedged": sum(bool(_HEDGE.search(one.text)) for one in told) / max(len(told), 1),
        "subject": float(any(_SUBJECT.match(one.text) for one in told if not one.is_addressed)),
        "trouble": float(bool(_TROUBLE.search(of_own))),
        "names": min(len(_NAME.findall(said)) / FULL_NAMES, 1.0),
        "number": float(bool(_DIGIT.search(said))),
        "introduction": float(bool(INTRODUCTION.search(said))),
        "ownership": float(bool(OWNERSHIP.search(said))),
        "setup": float(bool(SETUP.search(told_of_things))),
        "placed": float(bool(PLACED.search(told_of_things))),
        "version": float(bool(VERSION.search(told_of_things))),
        "event": float(any(EVENT.match(one.text) for one in told)),
        "recurring": float(bool(RECURRING.search(said))),
        "moment": sum(bool(MOMENT.match(one.text)) for one in told) / max(len(told), 1),
        "date": float(any(anchor.kind in DATED_KINDS for anchor in find_anchors(said))),
    }


def is_question(sentence: str) -> bool:
    """Whether a sentence asks: by its mark, or by its opening where it has no mark at all."""
    plain = sentence.rstrip("\"'”’) ")
    return plain.endswith("?") or (not plain.endswith((".", "!")) and bool(_QUESTION_OPENING.match(plain)))


def is_vague(sentence: str) -> bool:
    """Whether a sentence points at something it does not name: "It was great", "That works".

    >>> is_vague("It was great"), is_vague("The demo went well")
    (True, False)
    """
    return bool(_VAGUE_OPENING.match(sentence))


def count_content(text: str) -> int:
    """How many words are left when function words and small talk are taken out."""
    return sum(word not in _FUNCTION_WORDS and word not in _SMALL_TALK for word in _find_words(text))


def _find_words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def _read_statement(sentence: str) -> _Statement:
    words = _find_words(sentence)
    small_talk = sum(word in _SMALL_TALK for word in words)
    content = sum(word not in _FUNCTION_WORDS and word not in _SMALL_TALK for word in words)
    return _Statement(
        text=sentence,
        words=len(words),
        content=content,
        small_talk=small_talk,
        is_own=bool(_OWN.search(sentence)),
        is_addressed=bool(_ADDRESS.search(sentence)),
    )


def _fill(content: int) -> float:
    """log(1 + n) / log(1 + 12), at most 1: the first words tell most."""
    return min(math.log1p(content) / math.log1p(FULL_CONTENT), 1.0)
