"""Small talk: turns that carry nothing by themselves ("Noted.", "You too!", "How are you doing today?").

They are recalled because they stand beside something that matters, or for a name alone. Precision first: a number, a
name that is spoken of, or one word that is neither a function word nor courtesy, and the turn is kept. English; nothing
else counts as small talk. Where a question is about nothing that was said, a little more of it is out (`is_hollow`).
"""

import re
from collections.abc import Collection
from typing import Final

MOST_CHARS: Final = 240  # a longer turn carries something
WEAK_RECALL: Final = 0.44  # best evidence under which a question is likely about nothing that was said
HOLLOW_EVIDENCE: Final = 0.35  # of a turn that matches by a name, or by what stands beside it
HOLLOW_WORDS: Final = 4  # telling words; one more, and a turn says something
_DIGIT: Final = re.compile(r"\d")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# "Thanks, Melanie!", "Hey Mel,": a name that is addressed, not spoken of.
_ADDRESSED: Final = re.compile(
    r"(?:(?<=^)|(?<=[,!.?] )|(?<=\b[Hh]ey )|(?<=\b[Hh]i )|(?<=\b[Hh]ello )|(?<=\b[Tt]hanks )|(?<=\b[Bb]ye )|(?<=\b[Ww]ow ))"
    r"[A-Z][a-z]+(?=[,!.?]|$)"
)
_NAMED: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")  # within a sentence
_FUNCTION: Final = """
    a about again all also always am an and any anything are as at back be been being both but by can can't
    could did didn't do does doesn't doing don't done even ever every everything for from get gets getting got
    had has have here how i i'd i'll i'm i've if in into is isn't it it'll it's its just let let's lot lots
    make makes making me mean means more most much my myself no not now of off on one or our out over own
    really so some something such that that'll that's the their them then there there's these they they're
    thing things this those to together too up us very was way we we'd we'll we're we've were what what's will
    with would you you'd you'll you're you've your yours yourself
"""
_COURTESY: Final = """
    absolutely admirable agree agreed ah amazing amazingly anytime appreciate appreciated aw awesome aww
    beautiful believe best bet bit bless bring bringing brings bye care catch chat cheering cheers compliment
    compliments congrats congratulations cool couldn't count counting course covered day definitely deserve
    difference doing encouragement encouraging enjoy enjoyed evening exactly excellent excited exciting fab
    fantastic feel feeling feels fine fun glad going gonna good goodbye gotcha grateful great haha happy hard
    hear heard hearing heart heartwarming hello help helpful hey hi hmm hope hopefully impressive incredible
    indeed inspiration inspire inspires inspiring interesting journey joy keep keeping kind kindness know
    later learn listening little lol look looks love loved lovely luck lucky meaningful meant mind morning
    motivates motivating nah nice night nope noted nothing oh ok okay peace perfect please pleasure positive
    positivity powerful pretty problem promise proud question reading reminder rest right rock rocks safe same
    say see share shared sharing soon sorry sound sounds special spread spreading stay super support supported
    supporting supportive sure sweet take talk talking tell thank thankful thanks think thinking thx today
    totally touching true truly try trying understand understood update vibes wait welcome well wish wonderful
    wonderfully words work worries wow yay yeah yep yes yup
"""
_EMPTY_WORDS: Final = frozenset((_FUNCTION + _COURTESY).split())
_ASSENT_WORDS: Final = (
    "yes yeah yep yup no nope nah sure absolutely definitely exactly totally right true ok okay"
)
_ASSENT: Final = frozenset(_ASSENT_WORDS.split())
_WHAT: Final = frozenset({"what", "what's"})


def carries_nothing(said: str, *, asked: Collection[str] = (), answers_question: bool = False) -> bool:
    """Whether a turn is courtesy alone, and not what is asked for.

    `asked`: the question's keywords; `answers_question`: the turn before it asks something, so that a "Yes" says something.

    >>> [carries_nothing(said) for said in ("Thanks, Melanie! Your kind words mean a lot.", "You too!", "Noted.")]
    [True, True, True]
    >>> carries_nothing("Thanks! Melanie moved to Bonn."), carries_nothing("Yes!", answers_question=True)
    (False, False)
    """
    if len(said) > MOST_CHARS or _tells(said):
        return False
    if answers_question and not _words(said).isdisjoint(_ASSENT):
        return False
    words = _words(_ADDRESSED.sub("", said))
    if not words <= _EMPTY_WORDS or not words.isdisjoint(asked):
        return False
    asks = "?" in said and not words.isdisjoint(_WHAT)  # it says what the answer beside it is about
    return not asks or "up" in words


def is_hollow(
    said: str,
    *,
    evidence: float,
    load: float,
    asked: Collection[str] = (),
    answers_question: bool = False,
) -> bool:
    """Whether a turn tells next to nothing and hardly matches: of no use where nothing else matches well either.

    `evidence`: how well the turn itself matches, free of ranks; `load`: the gate's measure of facts in it. An answer is
    never hollow, nor what is asked for, nor what names somebody or something.

    >>> [is_hollow(said, evidence=0.2, load=0.0) for said in ("Way to go, Jon! Keep it up!", "It's Shia Labeouf!")]
    [True, False]
    """
    if evidence >= HOLLOW_EVIDENCE or load or len(said) > MOST_CHARS or _DIGIT.search(said):
        return False
    if answers_question and "?" not in said:
        return False
    spoken = _ADDRESSED.sub("", said)
    telling = _words(spoken) - _EMPTY_WORDS
    return len(telling) <= HOLLOW_WORDS and telling.isdisjoint(asked) and _NAMED.search(spoken) is None


def _tells(said: str) -> bool:
    """Whether there is a digit, or a word in small letters that is no courtesy: seen at once, and in nearly every turn.

    Names that are addressed begin with a capital, so they need not be taken away to know it.
    """
    if _DIGIT.search(said):
        return True
    return any(_fold(word) not in _EMPTY_WORDS for word in _WORD.findall(said) if word[0].islower())


def _fold(word: str) -> str:
    return word.lower().replace("’", "'")


def _words(text: str) -> set[str]:
    return {_fold(word) for word in _WORD.findall(text)}
