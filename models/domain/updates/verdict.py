"""What a decision about two claims says, and the words that tell neither of them apart from others."""

from typing import Final, Literal, NamedTuple

Reason = Literal["denied", "number", "value", "revoked", "changed", "renamed"]
SPEAKER: Final = frozenset({"i", "you"})
_COMMON_LIST: Final = """
    help lov lif differenc mak com gonna lot thing work people tim day look start keep try feel part want need fi pictur
    other chang book
"""
COMMON_WORDS: Final = frozenset(_COMMON_LIST.split())
# When something is, not what it is.
_TIME_LIST: Final = """
    am pm dai week month year day weekend weekday morn even afternoon night tim other every usual routin consistent
    recent monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december dat
"""
TIME_WORDS: Final = frozenset(_TIME_LIST.split())


class Verdict(NamedTuple):
    """Why the newer replaces the older, and on what they disagree."""

    reason: Reason
    about: str
