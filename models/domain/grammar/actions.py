"""Names the action of a rule, so that two rules about one action can be compared."""

import re
from typing import Final

from models.domain.grammar.lexicon import PRONOUN_OBJECTS, ROLES, WordRole, split_words

# Enough to tell actions apart, few enough that every subset can be looked up (2^5 at most).
MAX_ACTION_WORDS: Final = 6
_REACH_CHARACTERS: Final = 64  # an action is named right after its verb
_MARKS: Final = ".,;:!?*_`\"'()[]{}<>“”‘’—–-#|"
_STOPS: Final = ".,;:!?—"
_DROPPED: Final = split_words("""
    the a an your my our their his her its please always never ever just also simply any all some every
    each of to and or be been being is are was were you i we they us me really very too then so kindly
    for from in on at by with as that which such explicitly again
""") | {""}
_VERBS: Final = frozenset(word for word, role in ROLES.items() if role <= WordRole.NOUNISH)
_IRREGULAR: Final = {
    "written": "write", "kept": "keep", "made": "make", "sent": "send", "built": "build", "done": "do",
    "taken": "take", "given": "give", "chosen": "choose", "left": "leave", "shown": "show", "held": "hold",
    "found": "find", "told": "tell", "said": "say", "hidden": "hide", "drawn": "draw", "driven": "drive",
}  # fmt: skip
# "prefer tabs" and "avoid tabs" speak of the same action: using tabs.
_USING: Final = split_words("prefer avoid favor favour no stop quit refrain")

_CONTRAST: Final = re.compile(r"(?:[,—]\s?|\band )(?:but )?not (?!only|just|necessarily|yet|all|even|always)")


def name_action(original: str, start: int, end: int) -> str:
    """Return the action words between two offsets: verb first, filler dropped, plurals cut.

    At most MAX_ACTION_WORDS words, cut at the end of the clause.

    >>> name_action("Never commit the secrets to Git.", 6, 32)
    'commit secret git'
    >>> name_action("avoid using tabs", 0, 16)
    'use tab'
    """
    words: list[str] = []
    preference = ""
    reach = start + _REACH_CHARACTERS
    for raw in original[start : end if end < reach else reach].lower().split():
        bare = raw if raw.isalpha() else raw.strip(_MARKS)
        if bare in _DROPPED:
            pass
        elif words:
            if preference and len(words) == 1 and bare[-3:] == "ing" and to_base_verb(bare) in _VERBS:
                preference, words = "", [to_base_verb(bare)]  # "avoid writing": the verb is the gerund
            # "secrets" becomes "secret"; "class", "status" and "basis" stay.
            elif bare[-1] == "s" and len(bare) > 3 and bare[-2] not in "sui'":
                words.append(bare[:-1])
            else:
                words.append(bare)
            if len(words) == MAX_ACTION_WORDS:
                break
        else:
            verb = to_base_verb(bare)
            if verb in _USING:
                preference, verb = verb, "use"
            words.append(verb)
        if bare is not raw and words and raw[-1] in _STOPS:
            break
    return preference if preference and len(words) == 1 else " ".join(words)


def name_contrast(original: str, folded: str, verb_start: int, end: int) -> str | None:
    """Return the action that a contrast forbids, None without one.

    >>> name_contrast("Use tabs, not spaces", "use tabs, not spaces", 0, 20)
    'use space'
    """
    contrast = _CONTRAST.search(folded, verb_start, end)
    if contrast is None:
        return None
    verb = name_action(original, verb_start, end).partition(" ")[0]
    return name_voiced_action(verb, original[contrast.end() : end])


def name_voiced_action(verb: str, rest: str) -> str:
    """Return the action of a verb that does not stand in front of its object.

    >>> name_voiced_action("committed", "The secrets")
    'commit secret'
    """
    return name_action(f"{verb} {rest[:_REACH_CHARACTERS]}", 0, _REACH_CHARACTERS)


def is_comparable(action: str) -> bool:
    """Say whether an action names what it acts on: "use it" means another thing in every paragraph."""
    return bool(action) and PRONOUN_OBJECTS.isdisjoint(action.split())


def to_base_verb(word: str) -> str:
    """Return the base form of a gerund or participle when the lexicon knows it, else the word.

    >>> to_base_verb("committing"), to_base_verb("using"), to_base_verb("logged"), to_base_verb("string")
    ('commit', 'use', 'log', 'string')
    """
    if word[-3:] == "ing":
        stem = word[:-3]
    elif word[-2:] == "ed":
        stem = word[:-2]
    else:
        return _IRREGULAR.get(word, word)
    for base in (stem, stem + "e", stem[:-1]):
        if base in _VERBS:
            return base
    return word
