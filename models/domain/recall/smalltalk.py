"""Small talk: turns that carry nothing by themselves ("Noted.", "You too!", "How are you doing today?").

They are recalled because they stand beside something that matters, or for a name alone. Precision first: a number, a
name that is spoken of, or one word that is neither a function word nor courtesy, and the turn is kept. What hardly
matches the question may tell a little more and be out (`is_hollow`: "You bet! You'll be the first to know."). English;
nothing else counts as small talk.
"""

import re
from collections.abc import Collection
from typing import Final

MOST_CHARS: Final = 240  # a longer turn carries something
WEAK_RECALL: Final = 0.44  # best evidence under which a question is likely about nothing that was said
HOLLOW_EVIDENCE: Final = 0.35  # of a turn that matches by a name, or by what stands beside it
HOLLOW_WORDS: Final = 4  # telling words; one more, and a turn says something
TALK_EVIDENCE: Final = 0.4  # of a turn of talk, whatever else matches
TALK_WORDS: Final = 1  # telling words of it that are not said about anything
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
    wonderfully words work worries wow ya yay yeah yep yes yup
"""
_COURTESY_WORDS: Final = frozenset(_COURTESY.split())
_EMPTY_WORDS: Final = _COURTESY_WORDS | frozenset(_FUNCTION.split())
# What people say to each other about anything: it tells nothing where it hardly matches.
_TALK: Final = """
    already because believes believing bonds breathtaking chase chasing cheer cheers cherish come coming community
    corner cute dream dreams each earned ever everyone experience family find first found friend friends friendship
    future give giving go goal goals goes gorgeous gosh ha hahaha hang happen happened happens having hooray how's
    idea ideas inspirational inspired kept kudos last life like little lmao long made memories memory might moment
    moments motivate motivated motivation must must've need needs never new news next omg ones optimistic other
    others part passion passions phew plan plans potential power priceless prob pursuing quit rooting shine side
    spirit start starting staying still stop strength strong stunning stuff supporter talked than though time times
    tomorrow tough tried try unforgettable use used want wanted wants way went what're when where which who who's why
    where's whoa woah woohoo ya yea yum adorable since back
"""
_SENTENCE_END: Final = re.compile(r"[.!?]+")
_OWN_WORDS: Final = frozenset("i i'm i've i'd i'll my mine me we we're we've we'd we'll our us".split())  # noqa: SIM905
_TALK_WORDS: Final = frozenset(_TALK.split())
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
    leads_to_match: bool = False,
    is_weak: bool = False,
) -> bool:
    """Whether a turn tells next to nothing and hardly matches: it stands beside what does.

    `evidence`: how well the turn itself matches, free of ranks; `load`: the gate's measure of facts in it;
    `leads_to_match`: what was said next matches, and a question says what that is about; `is_weak`: nothing matches well, so
    that a little more of it is of no use. An answer is never hollow, nor what is asked for, nor what names somebody or
    something; nor, but for `is_weak`, a plain statement ("The build is red").

    >>> [is_hollow(said, evidence=0.2, load=0.0) for said in ("Way to go, Jon! Keep it up!", "It's Shia Labeouf!")]
    [True, False]
    """
    if evidence >= TALK_EVIDENCE or load or len(said) > MOST_CHARS or _DIGIT.search(said):
        return False
    asks = "?" in said
    if (answers_question and not asks) or (leads_to_match and asks):
        return False
    if _tells_more_than(HOLLOW_WORDS if is_weak else TALK_WORDS, said):
        return False
    spoken = _ADDRESSED.sub("", said)
    words = _words(spoken)
    telling = words - _EMPTY_WORDS
    if not telling.isdisjoint(asked) or _NAMED.search(spoken) is not None:
        return False
    if is_weak and evidence < HOLLOW_EVIDENCE and len(telling) <= HOLLOW_WORDS:
        return True
    is_talk = asks or "!" in said or not words.isdisjoint(_COURTESY_WORDS)
    substance = telling - _TALK_WORDS
    return (
        is_talk
        and len(substance) <= TALK_WORDS
        and words != telling
        and not _tells_of_oneself(spoken, substance)
    )


def _tells_of_oneself(said: str, substance: Collection[str]) -> bool:
    """Whether a sentence says one of these words of who speaks: "I'm doing kickboxing".

    >>> _tells_of_oneself("Cool! I'm knitting.", {"knitting"}), _tells_of_oneself("I love it! Nice knitting.", {"knitting"})
    (True, False)
    """
    sentences = (_words(sentence) for sentence in _SENTENCE_END.split(said)) if substance else ()
    return any(not words.isdisjoint(substance) and not words.isdisjoint(_OWN_WORDS) for words in sentences)


def _tells(said: str) -> bool:
    """Whether there is a digit, or a word in small letters that is no courtesy: seen at once, and in nearly every turn.

    Names that are addressed begin with a capital, so they need not be taken away to know it.
    """
    if _DIGIT.search(said):
        return True
    return any(_fold(word) not in _EMPTY_WORDS for word in _WORD.findall(said) if word[0].islower())


def _tells_more_than(count: int, said: str) -> bool:
    """Whether it has more telling words in small letters than that: the first few show it, in nearly every turn."""
    telling = set()
    for match in _WORD.finditer(said):
        if (
            match[0][0].islower()
            and (word := _fold(match[0])) not in _EMPTY_WORDS
            and word not in _TALK_WORDS
        ):
            telling.add(word)
            if len(telling) > count:
                return True
    return False


def _fold(word: str) -> str:
    return word.lower().replace("’", "'")


def _words(text: str) -> set[str]:
    return {_fold(word) for word in _WORD.findall(text)}
