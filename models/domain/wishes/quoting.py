"""A spoken rule in its speaker's words: the sentences that rule, what they need to be understood, and what limits them.

Of a short turn everything stays but greetings, thanks, praise, reactions and questions, of a long one nothing but what the
rule points at and what says when it holds. Every line of a quote stands in the turn word for word.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from models.domain.grammar.spans import DeonticReading
from models.domain.text.sentences import locate_sentences
from models.domain.wishes.markers import STRONG_STANDING, TASK

LONGEST_WHOLE_CHARS: Final = 240  # of a turn whose other sentences stay unless they carry nothing
MOST_REACTION_WORDS: Final = 9
MOST_CONDITION_WORDS: Final = 4
FEWEST_RULE_WORDS: Final = 8  # a terser rule may need what happened to be understood: "Direct or not at all."
MOST_JOINED_CHARS: Final = 600  # of a sentence with a quotation in it
MOST_ITEMS: Final = 40  # of a list, between a rule and the line above the list
NAMED_FIRST: Final = 2  # content words before "it": then the sentence itself may name what it is

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n")
_LIST_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]")
_HEADING: Final = re.compile(r"[ \t]*#{1,6}[ \t]")


def _words(*phrases: str) -> str:
    """One expression for several phrases, none of which goes on as a longer word."""
    return rf"(?:{'|'.join(phrases)})(?!\w)"


_THANKS: Final = _words(
    r"(?:many )?thanks?(?: you| u)?(?: so much| a lot| very much)?",
    *("thx", "ty", "cheers", "vielen dank", "danke(?: dir| schön| sehr)?"),
    *("merci(?: beaucoup)?", "(?:muchas )?gracias"),
)
_GREETING: Final = _words(
    *("hi", "hello", "hey", "heya", "hiya", "yo", "morning", "evening", "welcome(?: back)?"),
    "good (?:morning|afternoon|evening|day)",
    *("hallo", "servus", "moin", "guten (?:morgen|tag|abend)", "bonjour", "bonsoir", "salut", "coucou"),
    *("hola", "buenos días", "buenas(?: tardes| noches)?"),
)
_ASSENT: Final = _words(
    *(
        "ok",
        "okay",
        "k",
        "sure",
        "yes",
        "yeah",
        "yep",
        "yup",
        "right",
        "fine",
        "alright",
        "exactly",
        "agreed",
    ),
    *("indeed", "true", "fair enough", "got it", "gotcha", "i see", "understood", "makes sense"),
    *("(?:that )?sounds good", "no problem", "no worries", "you(?:['’]re| are) welcome"),
    *("oh", "ah", "aha", "wow", "whoa", "haha+", "lol", "hmm"),
    "(?:(?:i['’]ll|i will|will|gonna) )?(?:definitely )?(?:give|try|check) (?:it|that|this)(?: a (?:go|try|shot))?(?: out)?",
    *("ja", "genau", "alles klar", "gut", "oui", "d['’]accord", "vale", "sí", "claro"),
)
_PRAISE_WORD: Final = _words(
    *("great", "perfect", "excellent", "awesome", "amazing", "nice", "cool", "neat", "good", "lovely"),
    *("wonderful", "brilliant", "fantastic", "fabulous", "superb", "super", "sweet", "beautiful", "gorgeous"),
    *("stunning", "delicious", "tasty", "yummy", "cute", "adorable", "fun", "funny", "hilarious"),
    *("interesting", "inspiring", "impressive", "incredible", "helpful", "useful", "thoughtful", "kind"),
    *("clever", "smart", "perfekt", "toll", "prima", "klasse", "spitze", "wunderbar", "großartig"),
    *("parfait", "génial", "très bien", "perfecto", "genial", "excelente", "estupendo", "muy bien"),
)
_PRAISE: Final = _words(
    rf"(?:so |very |really |pretty |how |such (?:an? )?|what an? )?{_PRAISE_WORD}"
    "(?: (?:work|job|stuff|one|idea|answer|thing|news|point))?",
    *("well done", "congrats", "congratulations", "love (?:it|this|that)"),
    "i (?:really |absolutely )?(?:love|like|loved|liked|appreciate|enjoyed) (?:it|this|that)",
)
_ANY_COURTESY: Final = f"(?:{_THANKS}|{_GREETING}|{_ASSENT}|{_PRAISE})"
# Said of what stands before, and nothing to hold on to: "Perfect.", "Thanks!", "ok, great".
_COURTESY: Final = re.compile(rf"(?:{_ANY_COURTESY}[\s,.!…:;)–—-]*)+", re.IGNORECASE)
# "Thanks for the quick answer!", "Hello everybody,"
_THANKING: Final = re.compile(rf"\W*(?:(?:{_ASSENT}|{_PRAISE})[,.!]? )?{_THANKS}", re.IGNORECASE)
_GREETS: Final = re.compile(rf"\W*{_GREETING}(?: [^\W\d_]+)?(?: [^\W\d_]+)?\W*$", re.IGNORECASE)
# "That looks delicious!", "Your answer was great": about what was said before.
_REACTION: Final = re.compile(
    r"\W*(?:(?:oh|ah|wow|whoa|haha|lol),? )?(?:that|this|it|these|those|they|you|your \w+|the \w+)"
    r"(?:['’](?:s|re|ll)| is| are| was| were| looks?| looked| sounds?| sounded| seems?| smells?| tastes?| works?"
    r"| worked| helps?| helped| must)(?!\w)",
    re.IGNORECASE,
)
_PRAISING: Final = re.compile(rf"(?<!\w){_PRAISE_WORD}", re.IGNORECASE)
_OWN: Final = re.compile(r"(?<!\w)(?:i|i['’](?:m|ve|d|ll)|my|me|we|our|us)(?!\w)", re.IGNORECASE)
# What limits a rule, or says where it holds: it stays, whatever else the sentence is.
_LIMIT: Final = re.compile(
    r"(?<!\w)(?:only|except|unless|until|till|otherwise|but|not|never|always|no|if|when|whenever|while|without"
    r"|every|each|any|all|from now|for now|must|today|tonight|tomorrow|this (?:time|week|month)|once"
    r"|nur|außer|sonst|wenn|nicht|nie|immer|aber|sauf|seulement|sinon"
    r"|quand|jamais|toujours|salvo|solo|cuando|nunca|siempre)(?!\w)|n['’]t(?!\w)",
    re.IGNORECASE,
)
# The sentence after a rule that goes on limiting it: "Except on Fridays.", "That goes for tests too."
_GOES_ON: Final = re.compile(
    r"\W*(?:only|just|except|unless|until|otherwise|but|and|or|also|same|likewise|even|not|if|when|whenever|while|for"
    r"|today|tonight|tomorrow|this (?:time|week|month)|in|on|at|with|without|at least|especially|including|exceptions?"
    r"|(?:this|that|it|these|those|they|which) (?:also |only )?(?:appl(?:y|ies)|goes?|holds?|includes?|means?"
    r"|counts?|covers?)"
    r"|nur|außer|sonst|aber|auch|wenn|für|bei|sauf|mais|aussi|si|quand|pour|pero|también|excepto|cuando|para)(?!\w)",
    re.IGNORECASE,
)
# A sentence that goes on from the one before: "Also in commit messages, please."
_GOES_BACK: Final = re.compile(
    r"\W*(?:also|and|but|or|same|instead|otherwise|so|then|likewise|neither|nor|even|plus|unless|except|because"
    r"|therefore|hence|that way|in that case|if (?:so|not)|aber|auch|sonst|deshalb|mais|aussi|sinon|pero|también"
    r"|si no)(?!\w)",
    re.IGNORECASE,
)
_MEANT: Final = re.compile(r"(?<!\w)i mean(?!\w)", re.IGNORECASE)
# What happened once is no part of what is to hold from now on.
_HAPPENED: Final = re.compile(
    r"(?<!\w)(?:yesterday|the other (?:day|night)|ago|recently|this morning|last (?:night|week|weekend|month|year"
    r"|summer|winter|spring|fall|(?:mon|tues|wednes|thurs|fri|satur|sun)day))(?!\w)",
    re.IGNORECASE,
)
# "For the release branch, may I ask …?", "Bug in it? Tell me.": the question says when.
_CONDITION: Final = re.compile(r"\W*(?:when|if|for|in|on|whenever) [^,]*,", re.IGNORECASE)
_ASKS: Final = re.compile(
    r"\W*(?:(?:and|so|but|ok|also|by the way|btw|anyway|now),? )*"
    r"(?:what|how|why|who|whose|where|when|which|can|could|would|will|shall|should|may|might|must|do|does|did|is|are"
    r"|am|was|were|have|has|had|any|anything|got|isn|aren|don|won|weren"
    r"|wie|was|warum|wer|wo|wann|kannst|könntest|qué|cómo|quel|quelle|comment|pourquoi)(?!\w)",
    re.IGNORECASE,
)
_ADDRESSED: Final = re.compile(r", [A-Z][^\W\d_]+(?=[!.,])")
_POINTING: Final = re.compile(
    r"(?<![\w'’])(?:it(?:['’]s|self)?|its|them|they(?:['’]re)?|their|he|she|him|her|his"
    r"|there(?! (?:is|are|was|were|['’]s))|these|those|this"
    r"|that(?! (?:the|an?|i|you|we|he|she|it|they|my|your|our|something|anything|someone|there|are|were|have"
    r"|has|can|could|do|does|don['’]t)\b)"
    r"|such|ones|one(?=[,.;!?)]|$)|both|either|the (?:former|latter|same|other|others))(?!\w)"
    r"|(?<!\w)(?:das|dies|damit|dabei|ça|cela|eso|esto)(?!\w)",
    re.IGNORECASE,
)
# What "this" is needs no other sentence: "this project", "this chat".
_AT_HAND: Final = re.compile(
    r"(?<!\w)(?:this|these) (?:chat|conversation|session|thread|project|repo|repository|codebase|code|team|company"
    r"|house|household|family|account|channel|file|document|branch|week|month|year)(?!\w)"
    r"|(?<!\w)(?:that|this) (?:way|kind|sort)(?!\w)",
    re.IGNORECASE,
)
_IDLE: Final = frozenset(
    """
    a an the i you me my your we our us to of in on at for with by from please always never don't don’t do not no
    and or but so if when just also only now then be is are am was will would can could should must let make keep
    use from on like as all any
    """.split()  # noqa: SIM905
)
# What only leads to the rule within its sentence: "Perfect, from now on …".
_LEAD: Final = re.compile(rf"(?:{_ANY_COURTESY}[,!:–—-]+ +)+(?:and +)?(?=\S)", re.IGNORECASE)
# Who looks after what it is about: a fact, which goes out of date while the rule stands.
_OWNER: Final = re.compile(
    r"(?:,| [-–—]|;) (?:since |because |as )?(?:[A-Z][^\W\d_]+|he|she|they)"
    r" (?:owns?|handles?|maintains?|manages?|looks? after|takes? care of|(?:is|are) responsible for)"
    r" (?:it|that|this|them|those|these)(?=[.!]?$)"
)


def quote_rule(content: str, reading: DeonticReading) -> str:
    """The rules that were read in a turn, in their speaker's words; all of it where none was.

    >>> from models.domain.wishes.conversation import read_wish
    >>> said = "That looks delicious! I'm allergic to nuts, never suggest any. What else is in it?"
    >>> quote_rule(said, read_wish(said))
    "I'm allergic to nuts, never suggest any."
    >>> said = "Perfect. For the release branch: never force-push."
    >>> quote_rule(said, read_wish(said))
    'For the release branch: never force-push.'
    """
    sentences = _locate(content)
    ruling = {
        place
        for place, (start, end) in enumerate(sentences)
        if any(span.start < end and span.end > start for span in reading.spans)
    }
    if not ruling:
        return content
    words = [content[start:end] for start, end in sentences]
    breaks = [match.start() for match in _PARAGRAPH_END.finditer(content)]
    paragraphs = [bisect_left(breaks, start) for start, _ in sentences]
    if len(content) <= LONGEST_WHOLE_CHARS:
        homes = {paragraphs[place] for place in ruling}
        kept = ruling | {
            place
            for place in range(len(words))
            if paragraphs[place] in homes and not _says_nothing(words, place, ruling)
        }
    else:
        kept = set(ruling)
        for place in range(1, len(words)):
            is_next = place - 1 in kept and paragraphs[place] == paragraphs[place - 1]
            if is_next and _GOES_ON.match(words[place]) and not _is_question(words[place]):
                kept.add(place)
    for place in sorted(kept, reverse=True):
        _keep_what_explains(words, place, kept)
    return _join(content, sentences, sorted(kept), ruling)


def _locate(content: str) -> list[tuple[int, int]]:
    """Where the sentences are; one that ends within a quotation goes on after it."""
    found: list[tuple[int, int]] = []
    for start, end in locate_sentences(content):
        before = content[found[-1][0] : found[-1][1]] if found else ""
        if len(before) > MOST_JOINED_CHARS:  # a quotation mark that nobody closed
            before = ""
        is_open = before.count('"') % 2 or before.count("“") > before.count("”")
        goes_on = before.endswith(('"', "”")) and content[start].islower()
        if (is_open or goes_on) and "\n" not in content[found[-1][1] : start]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _keep_what_explains(words: Sequence[str], place: int, kept: set[int]) -> None:
    """Add what a sentence points at, or the line that says where it holds: "For the release branch:"."""
    if place and points_back(words[place]) and not is_courtesy(words[place - 1]):
        kept.add(place - 1)
    lead = place - 1
    while (
        place - lead < MOST_ITEMS
        and lead >= 0
        and _LIST_ITEM.match(words[place])
        and _LIST_ITEM.match(words[lead])
    ):
        lead -= 1
    if lead >= 0 and (words[lead].rstrip("*_ \t").endswith(":") or _HEADING.match(words[lead])):
        kept.add(lead)


def _says_nothing(words: Sequence[str], place: int, ruling: set[int]) -> bool:
    """Whether a sentence beside a rule is courtesy, a reaction, a question or what happened once, and limits nothing."""
    said = words[place]
    if is_courtesy(said):
        return True
    if _is_question(said):
        is_request = TASK.match(said.lower()) is not None
        holds_alone = all(STRONG_STANDING.search(words[one].lower()) for one in ruling)
        is_condition = _CONDITION.match(said) is not None or (
            _ASKS.match(said) is None and len(_WORD.findall(said)) <= MOST_CONDITION_WORDS
        )
        return (not is_request or holds_alone) and not is_condition
    if _LIMIT.search(said):
        return False
    if _HAPPENED.search(said):
        return sum(len(_WORD.findall(words[one])) for one in ruling) >= FEWEST_RULE_WORDS
    if _OWN.search(said) or len(_WORD.findall(said)) > MOST_REACTION_WORDS:
        return False
    is_reply = place < min(ruling) and said.rstrip().endswith("!")
    return _REACTION.match(said) is not None and (is_reply or _PRAISING.search(said) is not None)


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence is a greeting, thanks, assent or praise alone.

    >>> [is_courtesy(one) for one in ("Perfect.", "Thanks for the quick answer!", "Only for tests.", "Danke!")]
    [True, True, False, True]
    """
    said = _ADDRESSED.sub("", sentence.strip())
    words = _WORD.findall(said)
    if not words:
        return True
    if len(words) > MOST_REACTION_WORDS:
        return False
    if _COURTESY.fullmatch(said) is not None or _GREETS.match(said) is not None:
        return True
    return _THANKING.match(said) is not None and _LIMIT.search(said) is None and _OWN.search(said) is None


def _is_question(sentence: str) -> bool:
    return sentence.rstrip(" \t\"'”’)*_").endswith(("?", "？"))


def points_back(sentence: str) -> bool:
    """Whether a sentence may need the one before it: it goes on from there, or names nothing before it says "it".

    >>> [points_back(one) for one in ("Never do that again.", "Also in tests.", "When a test fails, show it.")]
    [True, True, False]
    """
    if _GOES_BACK.match(sentence) or _MEANT.search(sentence):
        return True
    hidden = _AT_HAND.sub(lambda match: "x" * len(match[0]), sentence)
    match = _POINTING.search(hidden)
    if match is None:
        return False
    before = [word.lower() for word in _WORD.findall(hidden[: match.start()])]
    return sum(word not in _IDLE for word in before) < NAMED_FIRST


def _join(content: str, sentences: Sequence[tuple[int, int]], kept: Sequence[int], ruling: set[int]) -> str:
    """The kept sentences: as they stand where they are neighbours, else a line each."""
    stretches: list[list[int]] = []
    for place in kept:
        if stretches and stretches[-1][1] == place - 1:
            stretches[-1][1] = place
        else:
            stretches.append([place, place])
    quotes = []
    for first, last in stretches:
        quote = _drop_brackets(content[sentences[first][0] : sentences[last][1]].strip())
        if first in ruling:
            quote = _LEAD.sub("", quote, count=1) if _LEAD.match(quote) else quote
        if last in ruling:
            quote = _OWNER.sub("", quote)
        quotes.append(quote)
    return "\n".join(dict.fromkeys(quotes))


def _drop_brackets(quote: str) -> str:
    """A quote without the bracket around it, or the half of one that is in it: "(Remember: be brief. …" goes on outside.

    >>> _drop_brackets("always answer in the first person)"), _drop_brackets("(Be brief.)"), _drop_brackets("a (b)")
    ('always answer in the first person', 'Be brief.', 'a (b)')
    """
    opening, closing = quote.startswith(("(", "[")), quote.endswith((")", "]"))
    inner = quote[opening : len(quote) - closing] if opening or closing else quote
    return quote if {"(", "[", ")", "]"} & set(inner) else inner.strip()
