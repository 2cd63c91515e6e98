"""Names what speaks for and against a standing rule in one sentence of chat (memory-model.md section 9).

Cues are turns of phrase (`cues`), the kinds of the clauses (`openings`), a frame of the grammar (`phrases`), each word,
and the first two words. What they are worth, beside the sentence's vector, is in `model`: nothing is learned at run time.
"""

import re
from collections.abc import Sequence
from typing import Final

from models.domain.grammar.actions import to_base_verb
from models.domain.grammar.lexicon import CONDUCT_VERBS, split_words
from models.domain.wishes.cues import CUES
from models.domain.wishes.markers import HYPOTHETICAL, TASK
from models.domain.wishes.openings import Clause

_HANDING_VERBS: Final = split_words("""
    write create generate draft compose make give list find tell show explain translate summarise summarize book
    send call put add delete cancel remind rewrite check provide describe compare fix build design help recommend
    suggest look search open close print order buy read move plan outline edit convert come try imagine
""")
_STYLE_VERBS: Final = split_words("""
    keep leave stick treat limit use assume consider mind watch skip drop avoid omit spare ditch default prefer refer
    address call lead start begin end open close round spell capitalise capitalize sign label format phrase
    word break number quote cite flag warn ask confirm verify double-check speak talk reply respond answer act be
    stay swap switch count remember respect challenge push challenge correct point loop copy cc
""")

_FEELING_VERBS: Final = split_words("""
    worry cry panic stress feel think believe dream smile laugh hope love fret fear doubt forget change lose let
    hesitate sweat despair blame beat compare enjoy relax breathe rest miss hurry mind get go come have wait try rush
""")


_OBJECTS: Final = re.compile(
    r"\S+ (?:(?P<particular>the|this|that|it|them|these|those|him|her|his)\b|(?P<me>me|us)\b|(?P<one>an?"
    r"|one|another|some|\d+|two|three|five|ten)\b"
    r"|(?P<mine>my|our)\b|(?P<yours>your|yourself)\b|(?P<general>any\w*|every\w*|all|each|whatever|no\w*"
    r"|less|fewer|more|only)\b"
    r"|(?P<way>in|with|to|as|like|for|on|before|after|when|out|at|by|up|off|from|about|until|under)\b"
    r"|(?P<plural>\w+[^s\W]s)\b|(?P<thing>\w+))"
)

_LASTING: Final = split_words("lasts:strong lasts:weak lasts:rule lasts:insist lasts:ours lasts:hours")
# What may stand beside a clause and change what it means; three of them together speak for a rule.
_BESIDE: Final[dict[str, frozenset[str]]] = {
    "lasting": _LASTING,
    "topic": split_words("about:served about:style about:reply about:manner to:doing to:your"),
    "generic": split_words("about:generic"),
    "bound": split_words("bound:most bound:only bound:contrast bound:noto"),
    "mine": split_words("to:me to:mine norm:for-me"),
    "body": split_words("about:body about:ailment body:cannot about:home about:member"),
    "norm": split_words("norm:has-to norm:should norm:goes norm:needs norm:none norm:is norm:gets"),
    "cond": split_words("cond:you-do cond:i-say cond:whatever"),
    "now": split_words("no:now no:occasion"),
    "past": split_words("no:past"),
    "third": split_words("no:third no:reported"),
    "question": split_words("no:question"),
    "soft": split_words(
        "no:comfort no:praise no:opinion no:hypothetical no:generic-you likes no:advice no:habit no:it"
    ),
    "plan": split_words("no:plan no:modal-self no:going no:looking"),
    "task": split_words("no:task no:artefact no:explain"),
    "definite": split_words("no:definite"),
    "order": split_words("order:first"),
    "so": split_words("so"),
    "please": split_words("please"),
}
# A sentence that has none of these forms and none of these cues directs nobody, as far as its form goes.
_DIRECTING_KINDS: Final = split_words("""
    command ban stop none only must allow wish-you wish dislike polite name unable role verbless frame whatever we-not
    let opens-fragment so-none so-wish
""")
_DIRECTING: Final = split_words("""
    norm:has-to norm:should norm:goes norm:needs norm:none norm:be-to bound:noto about:body about:ailment body:cannot
    about:home about:member ask:remember ask:know matters complaint cond:whatever cond:you-do cond:i-say wish:see
    lasts:rule lasts:insist lasts:ours name:be tail:please to:your
""")
_WISHED_FOR: Final = split_words(
    "about:served about:style about:reply about:data about:generic bound:most bound:only bound:contrast"
)
_FORM_KINDS: Final = split_words("ban command stop none only fragment prep")
_VERBLESS: Final = split_words("fragment none only prep name ban")
_FACTS: Final = split_words("main:dislike complaint about:body about:ailment main:unable matters")
_NEGATION: Final = re.compile(r"(?:don't|do not|never|not|let's not)(?: ever)? ")
_EMPHASIS: Final = re.compile(
    r"(?:always|ever|never|every time|no exceptions|i mean it|stick to it|period|full stop|please|seriously"
    r"|please don't|i insist)\W*$"
)
_EVER: Final = re.compile(r"\b(?:always|never)\b")
# Somebody's view of a matter: "Hana says the release should wait for Jonas".
_SOMEBODYS_VIEW: Final = re.compile(
    r"(?!i |you |we )\w+(?: \w+)? (?:says?|said|thinks?|thought|reckons?|claims?|claimed|feels|felt) "
)
_VIEWED: Final = split_words("norm:should norm:needs norm:has-to")
_SHORT_CHARACTERS: Final = 40
_WORD: Final = re.compile(r"[a-z']+")


def find_cues(
    clauses: Sequence[Clause], *, is_question: bool, is_frame: bool, is_task: bool
) -> frozenset[str]:
    """Return the names of the cues in one sentence, given as its clauses; none when it cannot be a rule.

    It cannot be one when it asks (unless politely), supposes, speaks of this one occasion or of somebody's view.
    `is_frame`: the grammar found a rule in it. `is_task`: the turn asks for one piece of work.
    """
    opening = [clause.kind for clause in clauses if clause.text]
    sentence = ", ".join(f"{clause.lead}{clause.text}" for clause in clauses)
    if (is_question and "polite" not in opening) or HYPOTHETICAL.match(sentence) is not None:
        return frozenset()
    kinds = _list_kinds(clauses, opening)
    if is_frame:
        kinds.add("frame")
    cues = {name for name, cue in CUES.items() if cue.search(sentence) is not None}
    if is_question:
        cues.add("no:question")
    if TASK.match(sentence) is not None:
        cues.add("no:task")
    if not kinds.isdisjoint(("so-fragment", "so-plain", "so-prep")) and not cues.isdisjoint(_WISHED_FOR):
        kinds.add("so-wish")
    is_lasting = not cues.isdisjoint(_LASTING) or (is_frame and _EVER.search(sentence) is not None)
    if is_task and not is_frame and not is_lasting and opening and opening[0] in _FORM_KINDS:
        return frozenset()  # a wish about the form of one piece of work ends with it
    if not is_lasting and _is_ruled_out(cues, kinds, sentence):
        return frozenset()
    if sentence.count(" ") < 2 and "frame" not in kinds and cues.isdisjoint(("about:body", "name:be")):
        cues.add("few-words")
    if kinds.isdisjoint(_DIRECTING_KINDS) and cues.isdisjoint(_DIRECTING):
        cues.add("directs:nobody")
    main = next((kind for kind in opening if kind not in ("when", "prep")), opening[0] if opening else "")
    cues.add(f"main:{main}")
    if opening and opening[0] in ("when", "prep", "whatever"):
        cues.add(f"{opening[0]}+{main}")
    for clause in clauses:
        if clause.kind in ("command", "ban", "stop"):
            cues |= _describe_act(clause)
    if is_task and not is_lasting:
        cues.add("no:turn-task")
    against = sum(cue.startswith("no:") for cue in cues)
    if against:
        cues.add(f"against:{min(against, 3)}")
    beside = [name for name, members in _BESIDE.items() if not members.isdisjoint(cues)]
    if len(beside) - against >= 3:
        cues.add("for:3")
    cues.update(f"has:{kind}" for kind in kinds)
    if len(sentence) < _SHORT_CHARACTERS:
        cues.add("short")
    return frozenset(cues | _list_words(sentence))


def _list_words(sentence: str) -> set[str]:
    """Return a cue for each word of a sentence, and for how it opens.

    >>> sorted(_list_words("keep it short"))
    ['opens:keep', 'opens:keep-it', 'word:it', 'word:keep', 'word:short']
    """
    words = _WORD.findall(sentence)
    cues = {f"word:{word}" for word in words}
    if words:
        cues |= {f"opens:{words[0]}", f"opens:{'-'.join(words[:2])}"}
    return cues


def find_neighbour_cues(before: frozenset[str], around: Sequence[str]) -> frozenset[str]:
    """Return what the sentences around one add: a fact it may follow from, or "Always." on its own.

    `before`: the cues of the sentence before it. `around`: the sentences before and after it, folded.
    """
    cues = set()
    if any(_EMPHASIS.match(sentence) is not None for sentence in around):
        cues.add("next:emphatic")
    if not before.isdisjoint(_FACTS):
        cues.add("prev:fact")
    return frozenset(cues)


def _list_kinds(clauses: Sequence[Clause], opening: Sequence[str]) -> set[str]:
    kinds = set(opening)
    if kinds <= _VERBLESS:
        kinds.add("verbless")
    elif "fragment" in kinds:
        kinds.discard("fragment")
        if opening[0] == "fragment":
            kinds.add("opens-fragment")
    for clause in clauses:
        if "please" in clause.lead:
            kinds.add(f"please-{clause.kind}")
        if "so " in clause.lead:
            kinds.add(f"so-{clause.kind}")
    return kinds


def _is_ruled_out(cues: set[str], kinds: set[str], sentence: str) -> bool:
    """Say whether a sentence without a word that lasts speaks of one occasion or of somebody's view."""
    if "no:now" in cues and cues.isdisjoint(("about:body", "about:ailment")):
        return True
    if "cond:once" in cues and "frame" not in kinds and cues.isdisjoint(("cond:you-do", "cond:i-say")):
        return True
    return (
        _SOMEBODYS_VIEW.match(sentence) is not None
        and not cues.isdisjoint(_VIEWED)
        and cues.isdisjoint((*_BESIDE["mine"], *_BESIDE["body"], "about:reply", "to:your"))
    )


def _describe_act(clause: Clause) -> set[str]:
    """Return what a command, a ban or a stop is about: the family of its verb, and what the verb acts on."""
    body = _NEGATION.sub("", clause.text, count=1) if clause.kind == "ban" else clause.text
    words = body.split(" ", 3)
    target = _OBJECTS.match(body)
    acted_on = "bare" if target is None else target.lastgroup
    family = _name_family(to_base_verb(words[0]), is_command=clause.kind == "command")
    cues = {f"{clause.kind}:{family}", f"{clause.kind}>{acted_on}", f"act:{family}>{acted_on}"}
    if clause.kind == "stop":
        is_habit = words[0] not in ("stop", "quit") or any(
            word.endswith("ing") or word == "with" for word in words[1:3]
        )
        cues.add("stop:habit" if is_habit else "stop:halt")
    return cues


def _name_family(verb: str, *, is_command: bool) -> str:
    if not is_command and verb in _FEELING_VERBS:
        return "feel"
    if verb in _STYLE_VERBS:
        return "style"
    if verb in _HANDING_VERBS:
        return "hand"
    return "conduct" if verb in CONDUCT_VERBS else "other"
