"""What the API says about its routes and parameters, as somebody who types commands would say it."""

import re
from typing import Final

# A way of the API -> the command or flag that is the same. In this order; the first that fits a place is taken.
IN_COMMANDS: Final = (
    (r"repeat the call with \?confirm=<the namespace>", "repeat it with --yes"),
    (r"repeat the call with confirm set to the name", "repeat it with --yes"),
    (r"load it with \?policy=demote", "load it with --demote"),
    (r"(?:\?|the parameter )?\bids=new\b", "--new-ids"),
    (r"send user_id or agent_id as", "name --user or --agent as"),
    (r"send some with POST /v1/feedback", "hosts send some to POST /v1/feedback"),
    (r"GET /v1/namespaces lists", "'longtail namespaces list' shows"),
    (r"GET /v1/sessions lists", "'longtail sessions list' shows"),
    (r"GET /v1/memories lists", "'longtail memories list' shows"),
    (r"GET /v1/guidance lists", "'longtail guidance list' shows"),
    (r"GET /v1/documents lists", "'longtail docs list' shows"),
    (r"GET /v1/tokens lists", "'longtail token list' shows"),
    (r"GET /v1/erasures/(\S+) tells", r"'longtail erasures show \1' tells"),
    (r"GET /v1/erasures lists", "'longtail erasures list' shows"),
    (r"send user_id, session_key, agent_id or session_id", "name --user, --agent or --session"),
    (r"repeat the call", "repeat the command"),
    (r"assemble with explain=true", "'longtail assemble --explain'"),
    (r"send its Markdown as the body", "write its Markdown into the file"),
    (
        r"send the identity that opened it, choose another session_id, or open the session with \"shared\": true"
        r" in its first turns",
        "name the identity that opened it, or choose another session",
    ),
    (
        r"send 'Authorization: Bearer <token>' with the token from \$LONGTAIL_HOME/token",
        "set LONGTAIL_TOKEN to a token of this server, or unset it: then the one in $LONGTAIL_HOME/token is sent",
    ),
    (r"leave empty turns out", "give it some words, or leave it out"),
    (r"send at least one character, or leave the item out", "give it some words"),
    (r"see /docs for what the field takes", "the command's --help says what it takes"),
)


def count_of(number: int, noun: str, many: str = "") -> str:
    """A number with its noun.

    >>> count_of(1, "turn"), count_of(0, "turn")
    ('1 turn', '0 turns')
    """
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def shorten(text: str, most: int) -> str:
    """A text in one line of so many characters; what was cut off is seen.

    >>> shorten("two\\nlines", 20), shorten("a long line", 7)
    ('two lines', 'a long…')
    """
    words = " ".join(text.split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def in_commands(words: str) -> str:
    """The same advice in commands.

    >>> in_commands("GET /v1/sessions lists them")
    "'longtail sessions list' shows them"
    """
    for way, command in IN_COMMANDS:
        words = re.sub(way, command, words)
    return words
