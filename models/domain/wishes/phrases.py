"""Phrases by which a user gives an assistant a standing rule, as a table of frames.

In chat "must" is mostly a guess and "never" mostly comfort (memory-model.md section 9), so a frame has to
show that the sentence is addressed to the assistant and meant to last: a marker ("from now on"), a word for
how answers look ("emojis", "metric"), or a verb for what assistants do.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from models.domain.grammar.lexicon import CONDUCT_VERBS, ROLES, WordRole, split_words
from models.domain.grammar.spans import Modality
from models.domain.wishes.markers import DATA, MANNER, REPLY, STYLE, Lasting

# "Never forget that ..." and "never stop ..." comfort; nobody rules with them.
_LISTED_VERBS: Final = (
    CONDUCT_VERBS | {word for word, role in ROLES.items() if role <= WordRole.NOUNISH}
) - split_words("forget let hesitate quit stop know need doubt question")

_YOU_TO: Final = (
    r"(?:i(?:'d| would| do| just| really| also)* (?:want|need|expect|prefer)"
    r"|i(?:'d| would)(?: just| really| also| much)* (?:like|love|appreciate|be (?:grateful|happy|happier|glad))"
    r"|it(?:'d| would) be (?:great|nice|good|helpful|better|best))(?: it)?(?: if| that)? you(?:'d| would"
    r"| could)?(?: to)?(?: please)? "
)
_REPLY_HEADS: Final = (
    "answers responses replies messages explanations emails summaries comments reports suggestions"
)
_HOW: Final = (
    r"(?:in|with|using|like|as|only|more|less|briefly|concisely|formally|informally|exclusively|\w+ly)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """One frame: an expression for a clause head and what else must hold for it to be a rule."""

    heads: tuple[str, ...]  # first words of the clause; empty: any word
    pattern: re.Pattern[str]  # its last group, if any, is where the action begins
    modality: Modality
    verbs: frozenset[str] | None = None  # base forms allowed for the group "verb" or "gerund"
    needs: Lasting = Lasting.NO
    yields_to_task: bool = False  # a one-off request in the same turn takes the rule away
    allows_question: bool = False


def _ban(heads: str, pattern: str, **more: Any) -> Phrase:
    return Phrase(
        heads=tuple(heads.split()), pattern=re.compile(pattern), modality=Modality.PROHIBITION, **more
    )


def _duty(heads: str, pattern: str, **more: Any) -> Phrase:
    return Phrase(
        heads=tuple(heads.split()), pattern=re.compile(pattern), modality=Modality.OBLIGATION, **more
    )


def _leave(heads: str, pattern: str, **more: Any) -> Phrase:
    return Phrase(
        heads=tuple(heads.split()), pattern=re.compile(pattern), modality=Modality.PERMISSION, **more
    )


_VERB: Final = r"(?P<verb>[^\W\d_]+(?:-[^\W\d_]+)*)(?!-?[^\W\d_])"
_GERUND: Final = r"(?P<gerund>[^\W\d_]+(?<=ing))\b"
_NOT: Final = r"(?:don't|do not|dont)"
_BARE_BANS: Final = (CONDUCT_VERBS | {"bother"}) - split_words(
    "stop quit start begin end keep give act pay spend stick switch"
)
# Not before one particular thing: "don't send it" is no habit.
_PARTICULAR: Final = (
    r"(?! (?:me (?:why|how|you|that)|it|that|this|them|him|her|the (?:first|second|last|other))\b)"
)
# Not before a time or a mood: "call me later".
_NAMED: Final = r"(?! (?:later|back|when|if|at|on|tomorrow|tonight|today|crazy|an?|old|maybe|asap|the|whenever|after|up)\b)"

_DO_NOT: Final = "don't do dont"
_MODAL_YOU: Final = r"(?:can|could|would|will)"
_I: Final = "i i'd i'm i've it it'd"

PHRASES: Final[tuple[Phrase, ...]] = (
    # Bans.
    _ban(
        f"never under at {_DO_NOT}",
        rf"(?:never,? ever|never|under no circumstances|at no point|{_NOT},? (?:ever"
        rf"|under any circumstances)),? {_VERB}",
        verbs=_LISTED_VERBS,
    ),
    _ban(_DO_NOT, rf"{_NOT} {_VERB}", verbs=_LISTED_VERBS, needs=Lasting.BAN),
    _ban(_DO_NOT, rf"{_NOT} {_VERB}{_PARTICULAR}", verbs=_BARE_BANS, yields_to_task=True),
    _ban(
        _DO_NOT, rf"{_NOT} (?:be (?:so |too |overly |that )?{MANNER}|make (?:\w+ )?up)\b", yields_to_task=True
    ),
    _ban("stop quit", rf"(?:stop|quit) {_GERUND}", verbs=CONDUCT_VERBS),
    _ban(
        "stop quit",
        rf"(?:stop|quit) (?P<verb>being (?:so |too )?{MANNER}|with (?:the |all )?(?:\w+ )?{STYLE})\b",
    ),
    _ban(
        "no",
        rf"no (?:more )?(?P<verb>(?:\w+ )?{STYLE})(?=,? (?:please|pls|in|from|at|when|unless|or|and|thanks)\b|$)",
        yields_to_task=True,
    ),
    _ban("avoid refrain", rf"(?:avoid|refrain from) {_GERUND}", verbs=CONDUCT_VERBS, yields_to_task=True),
    _ban(
        "skip omit drop cut leave lose",
        rf"(?:skip|omit|drop|cut|leave out|lose) (?:\w+ ){{0,3}}?{STYLE}\b",
        yields_to_task=True,
    ),
    _ban("avoid", r"avoid (?P<verb>)", yields_to_task=True),
    _ban("only", rf"only {_VERB}", verbs=_LISTED_VERBS, yields_to_task=True),
    _ban(
        _I,
        r"i(?:'d| would) (?:rather|prefer|appreciate it)(?: it)?(?: if| that)? you (?:didn't|don't|did not"
        r"|not|never|stopped"
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
        rf"i (?:really )?(?:hate|dislike|can't stand|don't like|do not like) (?P<verb>being called"
        rf"|(?:\w+ )?(?:{STYLE}|{REPLY}))\b",
    ),
    _ban("let's", r"let's agree (?:that )?you (?:never|don't|won't) (?P<verb>)"),
    _ban(_I, r"i (?:don't|do not|never) (?:ever )?want you to (?P<verb>)"),
    _ban(
        _I,
        rf"i (?:don't|do not|never) (?:ever )?want (?:to (?:see|get"
        rf"|hear) )?any(?: more)? (?P<verb>(?:\w+ )?{STYLE})\b",
    ),
    _ban(
        _I,
        r"i(?: already| just|'ve| have)* (?:told|asked) you (?:not to|never to|to stop|to never) (?P<verb>)",
    ),
    _ban(_I, _YOU_TO + r"(?:never|not to|not|stop|avoid|quit|refrain from) (?P<verb>)"),
    _ban(
        "you you're",
        rf"(?:you (?:must not|mustn't|may not|aren't allowed to|(?:must|should|shall|can|may|will) never)"
        rf"|you(?:'re| are) (?:not to|never to|not allowed to)) {_VERB}",
        verbs=_LISTED_VERBS,
    ),
    _ban(
        "you", rf"you (?:should not|shouldn't|can't|cannot) {_VERB}", verbs=CONDUCT_VERBS, needs=Lasting.BAN
    ),
    _ban(
        "can could would will",
        rf"{_MODAL_YOU} you (?:please |kindly )?(?:not|never|avoid|refrain from|quit|stop(?= \w+ing"
        rf"| with)) (?P<verb>)",
        allows_question=True,
    ),
    _ban("would", r"would you mind not (?P<verb>\w+ing)\b", allows_question=True),
    # Permissions.
    _leave(
        "you you're feel",
        rf"(?:you (?:can|may)|you(?:'re| are) (?:(?:allowed|free|welcome) to)|feel free to) (?:always "
        rf"|also |just )?{_VERB}"
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
        rf"it(?:'s| is) (?:ok|okay|fine|alright) (?:to|if you|for you to) {_VERB}[^.!?]*? without (?:asking"
        rf"|checking|my|telling)\b",
        verbs=_LISTED_VERBS,
    ),
    _leave("you", r"you have (?:my )?permission to (?P<verb>)"),
    _leave("i'm", r"i'm (?:fine|ok|okay|happy|comfortable|cool) with you (?P<verb>\w+ing)\b"),
    # Duties.
    _duty("always", rf"always {_VERB}", verbs=_LISTED_VERBS),
    _duty(
        "make be ensure try remember it's it",
        rf"(?:make sure|be sure|ensure|try|remember|it(?:'s| is) (?:\w+ )?(?:important|essential|crucial"
        rf"|vital))(?: that)?"
        rf"(?: you| to)* (?:always|(?P<ban>never|not)) {_VERB}",
        verbs=_LISTED_VERBS,
    ),
    _duty(
        "make be ensure",
        r"(?:make sure|be sure|ensure)(?: that)?(?: you| to| all| every| each)+ (?P<verb>)",
        needs=Lasting.CASE,
    ),
    _duty(
        "can could would will",
        rf"{_MODAL_YOU} you (?:please )?remember (?:to|that) (?P<verb>)",
        allows_question=True,
    ),
    _duty("you you're", r"you(?:'re| are) (?:now )?(?:my|an?|the) (?P<verb>)", needs=Lasting.STRONG),
    _duty(
        "all every each no any the our",
        r"(?:all|every|each|no|any|(?:the|our) default) (?P<verb>)",
        needs=Lasting.STRONG,
    ),
    _duty(
        "your all every each any the code " + _REPLY_HEADS,
        rf"(?:(?:your|all|every|each|any|the|code) )*(?:\w+ )?(?:{REPLY}|{STYLE}|{DATA}) (?:should|must"
        rf"|shall|need to|have to)"
        r" (?:(?P<ban>never|not) |always |only )?(?P<verb>be|use|include|end|start|begin|go|follow|contain"
        r"|exceed|stay|come|fit)\b",
    ),
    _duty("i", r"i always (?:want|need|expect) (?P<verb>to (?:see|know|get|have|hear)|you)\b"),
    _duty(
        "format convert round spell label tag sign treat capitalize capitalise express prefix mark",
        r"(?:format|convert|round|spell|label|tag|sign|treat|capitali[sz]e|express|prefix|mark) (?:all"
        r"|every|each|any|everything)\b",
        yields_to_task=True,
    ),
    _duty(
        "spell round capitalize capitalise",
        r"(?:spell|round|capitali[sz]e) (?:\w+ ){0,3}?(?:to|with|as)\b",
        yields_to_task=True,
    ),
    _duty(
        "treat keep consider",
        r"(?:treat|keep|consider) [^.!?]*?\b(?:confidential|private|secret|between us|off the record)\b",
    ),
    _duty(
        "we we're",
        r"(?:we (?:always|only|(?P<ban>never|don't)) (?P<verb>deploy|commit|push|merge|rebase|release|ship|lint|test"
        r"|hardcode|squash|tag)|we(?: always| only|'re)? us(?:e|ing) [^.!?]*?\bin (?:this|our|the) (?:repo"
        r"|repository|project|codebase|team|org))\b",
    ),
    _duty(
        "you", rf"you (?:must|should|shall|have to|need to|are to|will) always {_VERB}", verbs=_LISTED_VERBS
    ),
    _duty(
        "you",
        rf"you (?:must|should|shall|have to|need to|are to|will) {_VERB}",
        verbs=CONDUCT_VERBS,
        needs=Lasting.CASE,
    ),
    _duty(
        "you",
        rf"you (?:must|should|shall|have to|need to|will) (?:only )?(?P<verb>(?:reply|respond|answer|speak"
        rf"|write|communicate) {_HOW})\b",
    ),
    _duty(
        _I,
        _YOU_TO
        + r"(?P<verb>(?:always|only|remember|keep|stick|call me|address me|refer to me|treat me|act (?:as"
        r"|like)|(?:be|use|speak|talk"
        rf"|respond|reply|answer|write) (?:\w+ ){{0,3}}?(?:{_HOW}|{STYLE}|{MANNER}))\b)",
    ),
    _duty(_I, _YOU_TO + _VERB, verbs=_LISTED_VERBS, needs=Lasting.CASE),
    _duty(_I, r"i(?:'d| would) (?:prefer|rather)(?: it)?(?: if| that)? you (?P<verb>)"),
    _duty(
        _I, rf"i(?:'d| would) (?P<verb>prefer) (?:\w+ ){{0,2}}?(?:{STYLE}|{MANNER})\b", yields_to_task=True
    ),
    _duty(
        _I,
        r"i (?:\w+ly |always |much |also |just |still |do )*(?P<verb>prefer) (?!the (?:first|second|third"
        r"|former|latter|last"
        r"|other|(?:\w+ )?one)\b|(?:this|that) one\b|it\b|not to\b)",
    ),
    _duty(
        _I,
        rf"i (?:really |always )?(?:like|love|want|need|appreciate) (?P<verb>(?:my|your|all|the) {REPLY}"
        rf" (?:to be|in|with|without|as|\w+ed|{MANNER})|{MANNER} {REPLY})\b",
    ),
    _duty(
        _I, rf"i (?:really |always )?(?:like|love|appreciate)(?: it)? when you {_VERB}", verbs=CONDUCT_VERBS
    ),
    _duty(
        _I,
        rf"i(?:'d| would)? (?:want|need|expect|like) (?P<verb>(?:only |all )?(?:\w+ )?(?:{STYLE}|{REPLY}))\b",
        needs=Lasting.STRONG,
    ),
    _duty(
        _I,
        r"i(?:'d| would)? (?:want|need|expect|like) (?P<verb>(?:all|every|each)(?: of)?(?: your| my| the"
        r"| our)? \w+ (?:in|to|with|as|written|formatted|given|shown))\b",
    ),
    _duty("my", r"my (?:\w+ )?(?:preferences? (?:is|are)|preferred \w+ (?:is|are)|pronouns are) (?P<verb>)"),
    _duty("use", rf"use (?:the )?(?:\w+ ){{0,3}}?{STYLE}\b", yields_to_task=True),
    _duty(
        "write put give show display express state list",
        rf"(?:write|put|give|show|display|express|state|list) (?:me )?(?:the |all )?{DATA} (?:in|as|with|like)\b",
        yields_to_task=True,
    ),
    _duty(
        "double-check verify confirm check proofread",
        r"(?:double-check|verify|confirm|check|proofread) (?:every|each|all (?:of )?(?:your|the|my))\b",
        yields_to_task=True,
    ),
    _duty(
        "reply respond answer communicate write speak talk explain chat",
        rf"(?:reply|respond|answer|communicate|write|speak|talk|explain(?: things)?|chat)(?: to me| with me"
        rf"| back)? {_HOW}\b",
        yields_to_task=True,
    ),
    _duty(
        "be",
        rf"be (?:more |less |very |as |a bit |a little |extremely |brutally )?{MANNER}\b",
        yields_to_task=True,
    ),
    _duty(
        "keep limit restrict",
        rf"(?:keep|limit|restrict) (?:it|everything|things|(?:your |all |the |every |our )*(?:{REPLY}|tone"
        rf"|style|language|voice)) (?:\w+ ){{0,2}}?"
        rf"(?:{MANNER}|under|below|to|in|within)\b",
        yields_to_task=True,
    ),
    _duty(
        "call address refer treat",
        rf"(?:call me{_NAMED} |(?:address|treat) me (?:as|by|with|using|in|like)\b"
        rf"|refer to (?:\w+ ){{1,3}}(?:as|by|with)\b)",
    ),
    _duty("make get", r"(?:make it a habit|get in(?:to)? the habit) (?:to|of) (?P<verb>)"),
    _duty(
        "prefer favor favour", r"(?:prefer (?!not)|favou?r (?:\w[\w-]* ){1,4}?over\b)", yields_to_task=True
    ),
    _duty(
        "stick default",
        rf"(?:stick (?:to|with)|default to) (?:\w+ ){{0,2}}?(?:{STYLE}|facts|topic|point)\b",
        yields_to_task=True,
    ),
    _duty("cite", r"cite (?:your )?sources\b", yields_to_task=True),
    _duty(
        "remember note keep bear don't do",
        r"(?:remember|note|keep in mind|bear in mind|don't forget|do not forget)(?: that|:|,)? (?P<verb>i"
        r"|my|we|our)\b(?! (?:trip|visit|first|last|talk|conversation|chat)\b)",
    ),
    _duty("assume", rf"assume(?: that)? (?:i|we|my|{STYLE})\b", yields_to_task=True),
    _duty(
        "ask check confirm consult warn tell notify alert ping get wait",
        r"(?:ask|check with|confirm with|consult|warn|tell|notify|alert|ping) me (?:first|before|prior"
        r"|whenever|every|each)\b"
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
        r"(?:(?:(?:new|my|one|another|house|ground|general|golden|simple|hard|first|important|standing) )*"
        r"rules?(?: (?:number )?(?:#?\d+|one|two|three))?(?: is| are)?(?: that)?(?::| —)"
        r"|(?:the|my|our|one|a) (?:\w+ )?(?:rule|policy|convention|requirement) is\b)"
        r"(?P<ban>(?=[^.!?]*?\b(?:no|never|not|don't)\b))?",
    ),
    # Any command, once the sentence is meant to last.
    _duty("", _VERB, verbs=_LISTED_VERBS, needs=Lasting.OPENED),
    _duty("", _VERB, verbs=CONDUCT_VERBS, needs=Lasting.CASE),
)
