"""What a question asks for: what the user said or what the assistant answered, one thing or several."""

import re
from typing import Final

_SAYING: Final = (
    "said|told|mentioned|suggested|recommended|gave|provided|explained|listed|shared|described|wrote|advised"
    "|showed|proposed|answered"
)
_ANSWERS: Final = re.compile(
    rf"\b(?:you(?:'d|'ve| had| have)? (?:[a-z]+ ){{0,2}}?(?:{_SAYING})|did you (?:say|tell|mention|suggest|recommend"
    r"|give|provide|explain|list|share|describe|write|advise|show|propose|answer)"
    r"|remind me (?:of|what|which|who|where|how|about)|(?:previous|earlier|last|past) (?:chat|conversation|discussion)"
    r"|(?:we|our) (?:talked|chatted|discussed|discussion|chat|conversation))\b"
)
_PLURAL: Final = r"[a-z]+(?:[^\Wsiu]s|ies)"
_SEVERAL: Final = re.compile(
    r"\b(?:how (?:many|often)|(?:what|which) (?:kinds?|types?|sorts?) of|(?:what|who|which|where) (?:are|were|have|has)"
    rf"|(?:what|which) (?:[a-z'-]+ ){{0,4}}?{_PLURAL} (?:[a-z'-]+ ){{0,6}}?"
    r"(?:has|have|had|does|do|did|is|are|was|were|can|could|would)|both|besides)\b"
)
_MAX_QUESTION_CHARS: Final = 2_000  # a longer text is a task, not a question about an answer


def asks_for_answers(question: str) -> bool:
    """Whether a question is about what the assistant said before.

    >>> asks_for_answers("Which museum did you recommend last time?"), asks_for_answers("Can you recommend one?")
    (True, False)
    """
    return _ANSWERS.search(question[:_MAX_QUESTION_CHARS].lower().replace("’", "'")) is not None


def asks_for_several(question: str) -> bool:
    """Whether the answer is likely a list, told on several occasions; English.

    >>> asks_for_several("What books has Tim read?"), asks_for_several("How many dogs does Ann have?")
    (True, True)
    >>> asks_for_several("What did Ann paint in May?"), asks_for_several("What is Tim's address?")
    (False, False)
    """
    return _SEVERAL.search(question[:_MAX_QUESTION_CHARS].lower().replace("’", "'")) is not None
