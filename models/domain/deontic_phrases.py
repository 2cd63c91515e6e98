"""Phrases by which a user gives an assistant a standing rule, as a table of frames.

In chat "must" is mostly a guess and "never" mostly comfort (memory-model.md section 9), so a frame has to
show that the sentence is addressed to the assistant and meant to last: a marker ("from now on"), a word for
how answers look ("emojis", "metric"), or a verb for what assistants do.
"""

import enum
import re
from dataclasses import dataclass
from typing import Any, Final

from models.domain.deontic_lexicon import CONDUCT_VERBS, ROLES, WordRole
from models.domain.deontic_spans import Modality

# "Never forget that ..." and "never stop ..." comfort; nobody rules with them.
_LISTED_VERBS: Final = (
    CONDUCT_VERBS | {word for word, role in ROLES.items() if role <= WordRole.NOUNISH}
) - frozenset("forget let hesitate quit stop know need doubt question".split())

# How answers look: naming one of these turns a request into a style rule.
_STYLE: Final = (
    r"(?:emojis?|emoticons?|exclamation (?:marks?|points?)|bullets?|bullet(?:ed)? (?:points?|lists?)|lists|tables?"
    r"|markdown|headings?|headers|jargon|slang|acronyms?|abbreviations?|filler(?: words)?|fluff|preambles?|intros?"
    r"|pleasantries|small talk|disclaimers?|caveats?|apologies|spoilers?|profanity|swear words|idioms|metaphors|puns"
    r"|jokes|humou?r|sarcasm|compliments|flattery|em[- ]dash(?:es)?|semicolons?|oxford commas?|contractions"
    r"|(?:passive|active) voice|(?:first|second|third) person|metric|imperial|celsius|fahrenheit|kilomet(?:er|re)s"
    r"|miles|units?|24-hour|12-hour|iso|utc|time ?zones?|currency|euros?|dollars|english|british|american|french"
    r"|german|spanish|italian|portuguese|japanese|chinese|korean|dutch|plain (?:text|language)"
    r"|simple(?:r)? (?:words|language|terms)|layman's terms|tone|style|voice|language|answers?|responses?|replies"
    r"|explanations?|summaries|summary|paragraphs?|sentences?|one-liners?|examples|sources?|citations?|references"
    r"|links|code (?:blocks?|samples?|snippets?|comments)|snippets?|comments|type hints|docstrings|unit tests|tabs|spaces"
    r"|camel ?case|snake ?case|pytest|python|typescript|javascript|rust|sql|formatting|format|capital letters|caps"
    r"|pronouns|they/them|she/her|he/him|nicknames?|honorifics|titles?|bold|italics|quotes|footnotes"
    r"|follow-up questions|reminders|notifications|my (?:\w+ )?(?:name|email|account|initials|pronouns))"
)
_MANNER: Final = (
    r"(?:concise|brief|short(?:er)?|succinct|terse|direct|blunt|honest|frank|formal|informal|casual|professional"
    r"|polite|friendly|specific|precise|detailed|thorough|verbose|wordy|long|simple|clear|critical|objective|neutral"
    r"|technical|literal|sarcastic|serious|enthusiastic|chatty|preachy|patroni[sz]ing|condescending|apologetic"
    r"|repetitive|vague|sycophantic|straightforward|realistic|to the point)"
)
_REPLY: Final = (
    r"(?:answers?|responses?|replies|reply|messages?|explanations?|emails?|summaries|summary|texts?|code|comments"
    r"|posts?|drafts?|reports?|suggestions?|recommendations?|questions?|conversations?|sessions?|chats?|outputs?)"
)

# The sentence is meant to last, whatever it asks for.
STRONG_STANDING: Final = re.compile(
    r"\b(?:from now on|from here on|from this point on|from today on|as of (?:now|today)|starting (?:today|now|tomorrow|from|this|next|\w+day)|going forward|moving forward|henceforth|hereafter"
    r"|until further notice|under (?:no|any) circumstances|by default|as a (?:general )?rule|at all times|until i (?:say|tell)|unless i (?:say|tell|specify|explicitly)"
    r"|unless (?:otherwise|i've)|for the rest of (?:this|our) (?:chat|conversation|session))\b"
)
# It recurs; this makes a rule of what assistants do, not of what friends do.
WEAK_STANDING: Final = re.compile(
    r"\b(?:in (?:the )?future|for (?:the )?future|next time|every ?time|each time|whenever|wherever|all the time|permanently"
    r"|unless (?:i|asked|told|requested|specified|stated)|without (?:asking|checking|confirming|my|telling|permission"
    r"|being asked)|always$|in (?:this|our) project)\b"
)
# A case that comes up again and again.
CASE_STANDING: Final = re.compile(
    r"\b(?:(?:when|if) (?:in doubt|unsure)|if you(?:'re| are) (?:not sure|unsure|uncertain|in doubt)|if you (?:don't|do not|can't"
    r"|cannot) (?!mind|have|want)|if (?:an?|any|something|anything|someone|there(?:'s| is| are))"
    r"|if i (?!were|was|had|have|get|need|could|would|can|do|don't|am|want)\w+|(?:when|while) \w+ing"
    r"|(?:every|each) (?:single )?(?:day|morning|evening|night|week|month|hour|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|(?:every|each|all)(?: of)?(?: your| the| my| our| future)* (?:\w+ )?" + _REPLY + r"|"
    r"your (?:\w+ )?(?:answers?|responses?|replies|reply|messages|explanations|emails|code|comments)|"
    r"(?:in|for|to|of) (?:your|our|my|all|any|every) (?:future )?" + _REPLY + r"|"
    r"(?:when|if|before|after) (?:i|you|we|someone|anyone) (?:\w+ ){0,2}?(?:ask|say|send|write|type|paste|mention|request"
    r"|answer|respond|reply|explain|suggest|recommend|refactor|generate|create|code|schedule|book|summari[sz]e|quote|cite"
    r"|refer|use|change|delete|edit|commit|push|deploy|run|share|translate|speak)\w*"
    r"|(?:before|after|in|on|with|for|at|to|under) (?:every|each|all)|before (?:sending|deleting|changing|editing|committing|pushing|deploying|running|making|booking|buying|posting"
    r"|sharing|ordering|spending|replying|answering|suggesting|calling|moving))\b"
)
# "Don't do that again" lasts; "tell me again" does not.
BAN_STANDING: Final = re.compile(r"\b(?:again|any ?more|any longer)\b")

# It is about this one piece of work.
ONE_OFF: Final = re.compile(
    r"\b(?:this time|just this once|for now|right now|for this (?:one|task|essay|story|email|post|question|trip|project)"
    r"|today|tonight|tomorrow|yet|at the moment|this (?:one|essay|story|email|article|week|weekend)|above|below"
    r"|following)\b"
)
# Comfort and proverbs between people.
COMFORT: Final = re.compile(
    r"\b(?:giv(?:e|ing) up|stop (?:dreaming|believing|learning|smiling|trying|being)|your (?:dreams?|heart|passions?|gut"
    r"|instincts?|worth|potential|goals?|soul|life|values|friends?|loved ones)|(?:believe|trust|love|blame|beat|compare|doubt"
    r"|push|hard on|true to|care of|kind to|faith in|proud of) (?:in )?yourself|be (?:afraid|scared|sad|proud|strong"
    r"|shy|discouraged|too hard|ashamed)|worry|bright side|smil\w+|say never|(?:get|bring|let) you down|keep going"
    r"|hang in there|stay (?:positive|strong|true|safe)|lose hope|lose sight|take (?:care|breaks?)|have fun|let go"
    r"|look back|miss you|forget (?:how|you|your|about me)|(?:here|there) for you|love you|your back|let me know"
    r"|keep (?:me posted|in touch)|reach out|tell me (?:more|about|what|how|all|everything))\b"
)
HYPOTHETICAL: Final = re.compile(
    r"(?:what if|imagine|suppose|let's say|say you|hypothetically|if i (?:were|was|had)|if you (?:were|had)|would you rather"
    r"|i wish|in a world|pretend)\b"
)
REPORTED: Final = re.compile(
    r"\b(?:he|she|they|mom|dad|mother|father|boss|teacher|coach|doctor|friend|grandm\w+|grandp\w+|sign|book|quote|saying"
    r"|proverb|motto|lyrics?|song|article|poster|people|everyone|someone|manager|therapist|who|that|always|once|often|just"
    r"|has|had|me|us|and|would|kept|\w+ma|\w+pa)(?: \w+)? (?:said|says|say|told|tells|taught|advised|advises|reads?|goes|warned|reminds?"
    r"|reminded|suggested|wrote|writes|recommended|preached|insisted|insists|asked|asks|repeated|believes?)\b"
    r"|\b(?:according to|as the (?:saying|song) goes|motto|mantra|proverb|advice|reminds? (?:me|us|you)|taught (?:me|us)"
    r"|told (?:me|us|him|her|them)|learned|learnt)\b"
)
TASK: Final = re.compile(
    r"(?:(?:please|hi|hey|ok|so|now|and|also)[,!]? )*(?:(?:write|create|generate|draft|compose|make|give|list|suggest"
    r"|recommend|plan|design|build|find|translate|summari[sz]e|explain|tell|show|help|describe|analy[sz]e|convert|compare"
    r"|provide|rewrite|fix|imagine|come up|produce|prepare|outline|edit|proofread) (?:me |us |up |with |out )*"
    r"(?:an?|some|the|this|that|these|those|my|our|\d+|two|three|four|five|six|ten|several|about|how|what|why|in \d+)\b"
    r"|(?:can|could|would|will) you (?!always|never|stop|not\b|only|avoid|please (?:always|never|stop|not\b|only|avoid))"
    r"|i (?:need|want|would like|'d like) (?:an?|some|help|to)\b|i'd like (?:an?|some|help|to)\b|help me)"
)

_YOU_TO: Final = (
    r"(?:i(?:'d| would| do| just| really| also)* (?:like|love|want|need|expect|prefer|appreciate|be (?:grateful|happy|glad))"
    r"|it(?:'d| would) be (?:great|nice|good|helpful|better|best))(?: it)?(?: if| that)? you(?:'d| would| could)?(?: to)?(?: please)? "
)
_DATA: Final = r"(?:amounts?|dates?|prices?|times?|numbers?|measurements?|distances?|temperatures?|names?|files?|functions?|variables?|commits?)"
_REPLY_HEADS: Final = "answers responses replies messages explanations emails summaries comments reports suggestions"
_HOW: Final = r"(?:in|with|using|like|as|only|more|less|briefly|concisely|formally|informally|exclusively|\w+ly)"


class Lasting(enum.IntEnum):
    """How much a sentence shows that it is meant to last; each level includes those below."""

    NO = 0
    BAN = 1  # "again", "anymore": enough for a ban
    CASE = 2  # a recurring case: "when I ask", "in every reply"
    WEAK = 3  # "next time", "whenever"
    OPENED = 4  # the sentence opens with a recurring case: "When I ask for code, ..."
    STRONG = 5  # "from now on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """One frame: an expression for a clause head and what else must hold for it to be a rule."""

    heads: tuple[str, ...]  # first words of the clause; empty: any word
    pattern: re.Pattern[str]  # its group "verb", if any, is where the action begins
    modality: Modality
    verbs: frozenset[str] | None = None  # allowed base forms of the group "verb"
    needs: Lasting = Lasting.NO
    yields_to_task: bool = False  # a one-off request in the same turn takes the rule away
    allows_question: bool = False


def _ban(heads: str, pattern: str, **more: Any) -> Phrase:
    return Phrase(heads=tuple(heads.split()), pattern=re.compile(pattern), modality=Modality.PROHIBITION, **more)


def _duty(heads: str, pattern: str, **more: Any) -> Phrase:
    return Phrase(heads=tuple(heads.split()), pattern=re.compile(pattern), modality=Modality.OBLIGATION, **more)


def _leave(heads: str, pattern: str, **more: Any) -> Phrase:
    return Phrase(heads=tuple(heads.split()), pattern=re.compile(pattern), modality=Modality.PERMISSION, **more)


_VERB: Final = r"(?P<verb>[^\W\d_]++(?:-[^\W\d_]++)*+)"
_GERUND: Final = r"(?P<gerund>[^\W\d_]++(?<=ing))\b"
_NOT: Final = r"(?:don't|do not|dont)"
_BARE_BANS: Final = (CONDUCT_VERBS | {"bother"}) - frozenset(
    "stop quit start begin end keep give act pay spend stick switch".split()
)
_PARTICULAR: Final = r"(?! (?:me (?:why|how|you|that)|it|that|this|them|him|her|the (?:first|second|last|other))\b)"  # one thing, not a habit
_NAMED: Final = r"(?! (?:later|back|when|if|at|on|tomorrow|tonight|today|crazy|an?|old|maybe|asap|the|whenever|after|up)\b)"

_DO_NOT: Final = "don't do dont"
_MODAL_YOU: Final = r"(?:can|could|would|will)"
_I: Final = "i i'd i'm i've it it'd"

PHRASES: Final[tuple[Phrase, ...]] = (
    # Bans.
    _ban(
        f"never under at {_DO_NOT}",
        rf"(?:never,? ever|never|under no circumstances|at no point|{_NOT},? (?:ever|under any circumstances)),? {_VERB}",
        verbs=_LISTED_VERBS,
    ),
    _ban(_DO_NOT, rf"{_NOT} {_VERB}", verbs=_LISTED_VERBS, needs=Lasting.BAN),
    _ban(_DO_NOT, rf"{_NOT} {_VERB}{_PARTICULAR}", verbs=_BARE_BANS, yields_to_task=True),
    _ban(_DO_NOT, rf"{_NOT} (?:be (?:so |too |overly |that )?{_MANNER}|make (?:\w+ )?up)\b", yields_to_task=True),
    _ban("stop quit", rf"(?:stop|quit) {_GERUND}", verbs=CONDUCT_VERBS),
    _ban("stop quit", rf"(?:stop|quit) (?P<verb>being (?:so |too )?{_MANNER}|with (?:the |all )?(?:\w+ )?{_STYLE})\b"),
    _ban(
        "no",
        rf"no (?:more )?(?P<verb>(?:\w+ )?{_STYLE})(?=,? (?:please|pls|in|from|at|when|unless|or|and|thanks)\b|$)",
        yields_to_task=True,
    ),
    _ban("avoid refrain", rf"(?:avoid|refrain from) {_GERUND}", verbs=CONDUCT_VERBS, yields_to_task=True),
    _ban(
        "skip omit drop cut leave lose",
        rf"(?:skip|omit|drop|cut|leave out|lose) (?:\w+ ){{0,3}}?{_STYLE}\b",
        yields_to_task=True,
    ),
    _ban("avoid", r"avoid (?P<verb>)", yields_to_task=True),
    _ban("only", rf"only {_VERB}", verbs=_LISTED_VERBS, yields_to_task=True),
    _ban(
        _I,
        r"i(?:'d| would) (?:rather|prefer|appreciate it)(?: it)?(?: if| that)? you (?:didn't|don't|did not|not|never|stopped"
        r"|wouldn't) (?P<verb>)",
    ),
    _ban(
        _I,
        r"i (?:really |just )?(?:hate|dislike|can't stand|don't like|do not like|don't appreciate|don't love)(?: it)?"
        rf" (?:when|that|how|if) you (?:always |keep |just )*{_VERB}",
        verbs=_LISTED_VERBS | {"are", "keep"},
    ),
    _ban(
        _I,
        rf"i (?:really )?(?:hate|dislike|can't stand|don't like|do not like) (?P<verb>being called|(?:\w+ )?(?:{_STYLE}|{_REPLY}))\b",
    ),
    _ban("let's", r"let's agree (?:that )?you (?:never|don't|won't) (?P<verb>)"),
    _ban(_I, r"i (?:don't|do not|never) (?:ever )?want you to (?P<verb>)"),
    _ban(_I, rf"i (?:don't|do not|never) (?:ever )?want (?:to (?:see|get|hear) )?any(?: more)? (?P<verb>(?:\w+ )?{_STYLE})\b"),
    _ban(_I, r"i(?: already| just|'ve| have)* (?:told|asked) you (?:not to|never to|to stop|to never) (?P<verb>)"),
    _ban(_I, _YOU_TO + r"(?:never|not to|not|stop|avoid|quit|refrain from) (?P<verb>)"),
    _ban(
        "you you're",
        rf"(?:you (?:must not|mustn't|may not|aren't allowed to|(?:must|should|shall|can|may|will) never)"
        rf"|you(?:'re| are) (?:not to|never to|not allowed to)) {_VERB}",
        verbs=_LISTED_VERBS,
    ),
    _ban("you", rf"you (?:should not|shouldn't|can't|cannot) {_VERB}", verbs=CONDUCT_VERBS, needs=Lasting.BAN),
    _ban(
        "can could would will",
        rf"{_MODAL_YOU} you (?:please |kindly )?(?:not|never|avoid|refrain from|quit|stop(?= \w+ing| with)) (?P<verb>)",
        allows_question=True,
    ),
    _ban("would", r"would you mind not (?P<verb>\w+ing)\b", allows_question=True),
    # Permissions.
    _leave(
        "you you're feel",
        rf"(?:you (?:can|may)|you(?:'re| are) (?:(?:allowed|free|welcome) to)|feel free to) (?:always |also |just )?{_VERB}"
        r"[^.!?]*? without (?:asking|checking|my|confirm\w+|permission|telling)\b",
        verbs=_LISTED_VERBS,
    ),
    _leave(
        "you no",
        r"(?:you (?:don't|do not) (?:need|have) to|no need to) (?P<verb>ask|check|confirm|wait|get)\b[^.!?]*?"
        r" (?:before|first|every|each|whenever|when|to|for)\b",
    ),
    _leave(
        "it's it",
        rf"it(?:'s| is) (?:ok|okay|fine|alright) (?:to|if you|for you to) {_VERB}[^.!?]*? without (?:asking|checking|my|telling)\b",
        verbs=_LISTED_VERBS,
    ),
    _leave("you", r"you have (?:my )?permission to (?P<verb>)"),
    _leave("i'm", r"i'm (?:fine|ok|okay|happy|comfortable|cool) with you (?P<verb>\w+ing)\b"),
    # Duties.
    _duty("always", rf"always {_VERB}", verbs=_LISTED_VERBS),
    _duty(
        "make be ensure try remember it's it",
        rf"(?:make sure|be sure|ensure|try|remember|it(?:'s| is) (?:\w+ )?(?:important|essential|crucial|vital))(?: that)?"
        rf"(?: you| to)* (?:always|never|not) {_VERB}",
        verbs=_LISTED_VERBS,
    ),
    _duty("make be ensure", r"(?:make sure|be sure|ensure)(?: that)?(?: you| to| all| every| each)+ (?P<verb>)", needs=Lasting.CASE),
    _duty("can could would will", rf"{_MODAL_YOU} you (?:please )?remember (?:to|that) (?P<verb>)", allows_question=True),
    _duty("you you're", r"you(?:'re| are) (?:now )?(?:my|an?|the) (?P<verb>)", needs=Lasting.STRONG),
    _duty("all every each no any the our", r"(?:all|every|each|no|any|(?:the|our) default) (?P<verb>)", needs=Lasting.STRONG),
    _duty(
        "your all every each any the code " + _REPLY_HEADS,
        rf"(?:(?:your|all|every|each|any|the|code) )*(?:\w+ )?(?:{_REPLY}|{_STYLE}|{_DATA}) (?:should|must|shall|need to|have to)"
        r" (?:always |never |not |only )*(?P<verb>be|use|include|end|start|begin|go|follow|contain|exceed|stay|come|fit)\b",
    ),
    _duty("i", r"i always (?:want|need|expect) (?P<verb>to (?:see|know|get|have|hear)|you)\b"),
    _duty(
        "format convert round spell label tag sign treat capitalize capitalise express prefix mark",
        r"(?:format|convert|round|spell|label|tag|sign|treat|capitali[sz]e|express|prefix|mark) (?:all|every|each|any|everything)\b",
        yields_to_task=True,
    ),
    _duty("spell round capitalize capitalise", r"(?:spell|round|capitali[sz]e) (?:\w+ ){0,3}?(?:to|with|as)\b", yields_to_task=True),
    _duty("treat keep consider", r"(?:treat|keep|consider) [^.!?]*?\b(?:confidential|private|secret|between us|off the record)\b"),
    _duty(
        "we we're",
        rf"(?:we (?:always |never |only |don't )+(?P<verb>deploy|commit|push|merge|rebase|release|ship|lint|test|hardcode|squash|tag)"
        r"|we(?: always| only|'re)? us(?:e|ing) [^.!?]*?\bin (?:this|our|the) (?:repo|repository|project|codebase|team|org))\b",
    ),
    _duty("you", rf"you (?:must|should|shall|have to|need to|are to|will) always {_VERB}", verbs=_LISTED_VERBS),
    _duty(
        "you",
        rf"you (?:must|should|shall|have to|need to|are to|will) {_VERB}",
        verbs=CONDUCT_VERBS,
        needs=Lasting.CASE,
    ),
    _duty(
        "you",
        rf"you (?:must|should|shall|have to|need to|will) (?:only )?(?P<verb>(?:reply|respond|answer|speak|write|communicate) {_HOW})\b",
    ),
    _duty(
        _I,
        _YOU_TO + r"(?P<verb>(?:always|only|remember|keep|stick|call me|address me|refer to me|treat me|act (?:as|like)|(?:be|use|speak|talk"
        rf"|respond|reply|answer|write) (?:\w+ ){{0,3}}?(?:{_HOW}|{_STYLE}|{_MANNER}))\b)",
    ),
    _duty(_I, _YOU_TO + _VERB, verbs=_LISTED_VERBS, needs=Lasting.CASE),
    _duty(_I, r"i(?:'d| would) (?:prefer|rather)(?: it)?(?: if| that)? you (?P<verb>)"),
    _duty(_I, rf"i(?:'d| would) (?P<verb>prefer) (?:\w+ ){{0,2}}?(?:{_STYLE}|{_MANNER})\b", yields_to_task=True),
    _duty(
        _I,
        r"i (?:\w+ly |always |much |also |just |still |do )*(?P<verb>prefer) (?!the (?:first|second|third|former|latter|last"
        r"|other|(?:\w+ )?one)\b|(?:this|that) one\b|it\b|not to say)",
    ),
    _duty(
        _I,
        rf"i (?:really |always )?(?:like|love|want|need|appreciate) (?P<verb>(?:my|your|all|the) {_REPLY}"
        rf" (?:to be|in|with|without|as|\w+ed|{_MANNER})|{_MANNER} {_REPLY})\b",
    ),
    _duty(_I, rf"i (?:really |always )?(?:like|love|appreciate)(?: it)? when you {_VERB}", verbs=CONDUCT_VERBS),
    _duty(
        _I,
        rf"i(?:'d| would)? (?:want|need|expect|like) (?P<verb>(?:only |all )?(?:\w+ )?(?:{_STYLE}|{_REPLY}))\b",
        needs=Lasting.STRONG,
    ),
    _duty(
        _I,
        r"i(?:'d| would)? (?:want|need|expect|like) (?P<verb>(?:all|every|each)(?: of)?(?: your| my| the| our)? \w+ (?:in|to|with))\b",
    ),
    _duty("my", r"my (?:\w+ )?(?:preferences? (?:is|are)|preferred \w+ (?:is|are)|pronouns are) (?P<verb>)"),
    _duty("use", rf"use (?:the )?(?:\w+ ){{0,3}}?{_STYLE}\b", yields_to_task=True),
    _duty(
        "reply respond answer communicate write speak talk explain chat",
        rf"(?:reply|respond|answer|communicate|write|speak|talk|explain(?: things)?|chat)(?: to me| with me| back)? {_HOW}\b",
        yields_to_task=True,
    ),
    _duty("be", rf"be (?:more |less |very |as |a bit |a little |extremely |brutally )?{_MANNER}\b", yields_to_task=True),
    _duty(
        "keep limit restrict",
        rf"(?:keep|limit|restrict) (?:it|everything|things|(?:your |all |the |every |our )*(?:{_REPLY}|tone|style|language|voice)) (?:\w+ ){{0,2}}?"
        rf"(?:{_MANNER}|under|below|to|in|within)\b",
        yields_to_task=True,
    ),
    _duty("call address refer treat", rf"(?:call me{_NAMED} |(?:address|treat) me (?:as|by|with|using|in|like)\b|refer to (?:\w+ ){{1,3}}(?:as|by|with)\b)"),
    _duty("make get", r"(?:make it a habit|get in(?:to)? the habit) (?:to|of) (?P<verb>)"),
    _duty("prefer favor favour", r"(?:prefer (?!not)|favou?r (?:\w[\w-]*+ ){1,4}?over\b)", yields_to_task=True),
    _duty(
        "stick default",
        rf"(?:stick (?:to|with)|default to) (?:\w+ ){{0,2}}?(?:{_STYLE}|facts|topic|point)\b",
        yields_to_task=True,
    ),
    _duty("cite", r"cite (?:your )?sources\b", yields_to_task=True),
    _duty(
        "remember note keep bear don't do",
        r"(?:remember|note|keep in mind|bear in mind|don't forget|do not forget)(?: that|:|,)? (?P<verb>i|i'm|i've|i'd|my|we"
        r"|we're|our)\b(?! (?:trip|visit|first|last|talk|conversation|chat)\b)",
    ),
    _duty("assume", rf"assume(?: that)? (?:i|i'm|i've|we|my|{_STYLE})\b", yields_to_task=True),
    _duty(
        "ask check confirm consult warn tell notify alert ping get wait",
        r"(?:ask|check with|confirm with|consult|warn|tell|notify|alert|ping) me (?:first|before|prior|whenever|every|each)\b"
        r"|(?:get|wait for|ask for) my (?:approval|permission|ok|okay|confirmation|consent)\b",
    ),
    _duty(
        "can could would will",
        rf"{_MODAL_YOU} (?:you|we) (?:please |kindly )?(?P<verb>always|only|start \w+ing)\b",
        allows_question=True,
    ),
    _duty(
        "can could would will",
        rf"{_MODAL_YOU} (?:you|we) (?:please |kindly )?{_VERB}",
        verbs=CONDUCT_VERBS,
        needs=Lasting.WEAK,
        allows_question=True,
    ),
    _duty("let's", rf"let's (?:always )?{_VERB}", verbs=CONDUCT_VERBS, needs=Lasting.CASE),
    _duty("we", rf"we (?:should )?(?:always )?{_VERB}", verbs=CONDUCT_VERBS, needs=Lasting.STRONG),
    _duty(
        "new my one another house ground general golden simple hard first important standing rule rules the our a",
        r"(?:(?:new|my|one|another|house|ground|general|golden|simple|hard|first|important|standing) )*rules?(?: (?:number )?(?:#?\d+|one|two|three))?"
        r"(?: is| are)?(?: that)?(?::| —)|(?:the|my|our|one|a) (?:\w+ )?(?:rule|policy|convention|requirement) is\b",
    ),
    # Any command, once the sentence is meant to last.
    _duty("", _VERB, verbs=_LISTED_VERBS, needs=Lasting.OPENED),
    _duty("", _VERB, verbs=CONDUCT_VERBS, needs=Lasting.CASE),
)
