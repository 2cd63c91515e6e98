"""What OpenClaw says to itself: heartbeats, silent answers and its own errands are nobody's memory."""

import re
from collections.abc import Sequence
from typing import Any, Final

HEARTBEAT_MARK: Final = "[OpenClaw heartbeat poll]"
HEARTBEAT_ANSWER: Final = "HEARTBEAT_OK"
HEARTBEAT_CHARS: Final = 300  # what may stand beside that word, as the host counts it
SILENT_ANSWER: Final = "NO_REPLY"
ERRAND: Final = re.compile(r"(?:^|:)(cron|subagent|hook|heartbeat)(?::|$)")  # in the key of a session
AGENT_KEY: Final = re.compile(r"agent:([^:]+):")


def name_errand(session_key: str | None) -> str | None:
    """What a session was made for, if not for talking.

    >>> name_errand("agent:main:cron:nightly"), name_errand("cron:nightly"), name_errand("agent:main:main")
    ('cron', 'cron', None)
    """
    found = ERRAND.search(session_key or "")
    return found[1] if found else None


def identify_key(session_key: str | None) -> dict[str, str]:
    """Whose memory a session is: its agent's, as with our plugin.

    >>> identify_key("agent:main:telegram:group:7")
    {'agent_id': 'main'}
    """
    found = AGENT_KEY.match(session_key or "")
    return {"agent_id": found[1]} if found else {}


def is_heartbeat(said: Sequence[tuple[str, str]]) -> bool:
    """Whether an exchange, as (role, words), is the host's poll or its answer that nothing is to be done."""
    if any(role == "user" and text.lstrip().startswith(HEARTBEAT_MARK) for role, text in said):
        return True
    answers = [text.strip() for role, text in said if role == "assistant" and text.strip()]
    if not answers:
        return False
    is_marked = answers[-1].startswith(HEARTBEAT_ANSWER) or answers[-1].endswith(HEARTBEAT_ANSWER)
    return is_marked and len(answers[-1]) - len(HEARTBEAT_ANSWER) <= HEARTBEAT_CHARS


def name_noise(role: str, text: str, message: dict[str, Any]) -> str | None:
    """Why a message is not something that was said, if it is not."""
    provenance = message.get("provenance")
    if isinstance(provenance, dict) and provenance.get("kind") == "internal_system":
        return "written by the host"
    if role == "assistant" and text.strip().upper() == SILENT_ANSWER:
        return "silent answer"
    if role == "tool":
        tool = message.get("toolName")
        if (isinstance(tool, str) and tool.startswith("longtail_")) or '"openclaw:longtail:longtail_' in text:
            return "answer of our own tool"
    return None
