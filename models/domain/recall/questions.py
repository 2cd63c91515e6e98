"""Whose words a question asks for: most ask what the user said, some what the assistant answered."""

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
_MAX_QUESTION_CHARS: Final = 2_000  # a longer text is a task, not a question about an answer


def asks_for_answers(question: str) -> bool:
    """Whether a question is about what the assistant said before.

    >>> asks_for_answers("Which museum did you recommend last time?"), asks_for_answers("Can you recommend one?")
    (True, False)
    """
    return _ANSWERS.search(question[:_MAX_QUESTION_CHARS].lower().replace("’", "'")) is not None
