"""The contract between api/ and workers/: task names, queues, and what a message may hold.

Messages are doorbells. They say that there is work; which work, the database knows. Losing one costs
latency until the next sweep, never data.
"""

import base64
import binascii
import json
from datetime import datetime
from typing import Any, Final

INGEST: Final = "memory.ingest"
EMBED_PENDING: Final = "memory.embed_pending"
GATE_PENDING: Final = "memory.gate_pending"
REEMBED: Final = "memory.reembed"
SWEEP: Final = "memory.sweep"
COMPACT_DUE: Final = "memory.compact_due"
COMPACT_SESSION: Final = "memory.compact_session"
VERIFY_LINEAGE: Final = "memory.verify_lineage"
PRUNE_JOURNAL: Final = "memory.prune_journal"
PRUNE_RECEIPTS: Final = "memory.prune_receipts"

QUEUE_OF_TASK: Final[dict[str, str]] = {
    INGEST: "ingest",
    EMBED_PENDING: "embed",
    GATE_PENDING: "gate",
    REEMBED: "embed",  # behind what ingest waits for: one process has the models in memory
    SWEEP: "maintenance",
    COMPACT_DUE: "compact",  # not behind ingest: a drain of a deep queue would keep it waiting for a minute
    COMPACT_SESSION: "compact",
    VERIFY_LINEAGE: "compact",
    PRUNE_JOURNAL: "maintenance",
    PRUNE_RECEIPTS: "maintenance",
}
QUEUES: Final = tuple(dict.fromkeys(QUEUE_OF_TASK.values()))
MOST_BODY_CHARS: Final = 16_384  # a session's id, twice encoded, and room to spare
MOST_RETRIES: Final = 100
WORDS_OF_TASK: Final[dict[str, int]] = {
    COMPACT_SESSION: 2
}  # how many a message carries; the others carry none


def find_fault(message: Any, *, queue: str) -> str | None:
    """What is wrong with a message as Redis holds it, or None: only bells that we could have rung are heard.

    Whoever may write to Redis may put anything there. What we would not send is dropped before anything looks into it:
    a worker that stumbles over a message gets it again after its restart.

    >>> find_fault({"headers": {"task": "os.system"}}, queue="ingest")
    'it has no properties'
    """
    if not isinstance(message, dict):
        return "it is no object"
    headers, properties = message.get("headers"), message.get("properties")
    if not isinstance(properties, dict) or not isinstance(properties.get("delivery_tag"), str):
        return "it has no properties"
    route = properties.get("delivery_info")
    if not isinstance(route, dict) or not all(
        isinstance(route.get(key), str) for key in ("exchange", "routing_key")
    ):
        return "it has no route"
    if not isinstance(headers, dict):
        return "it has no headers"
    if properties.get("body_encoding") != "base64" or message.get("content-encoding") != "utf-8":
        return "its encoding is none of ours"
    if message.get("content-type") != "application/json" or headers.get("compression") is not None:
        return "it is no plain JSON"
    task = headers.get("task")
    if not isinstance(task, str) or QUEUE_OF_TASK.get(task) != queue:
        return "its task is none of this queue"
    return _find_header_fault(headers) or _find_body_fault(
        message.get("body"), words=WORDS_OF_TASK.get(task, 0)
    )


def _find_header_fault(headers: dict[str, Any]) -> str | None:
    limits = headers.get("timelimit", [None, None])
    if limits not in ([None, None], (None, None)):
        return "it sets time limits"
    if not isinstance(headers.get("id"), str):
        return "it has no id"
    retries = headers.get("retries", 0)
    if not isinstance(retries, int) or not 0 <= retries <= MOST_RETRIES:
        return "its retries are no number of ours"
    for name in ("eta", "expires"):
        moment = headers.get(name)
        try:
            if moment is not None:
                datetime.fromisoformat(moment)
        except (TypeError, ValueError):
            return f"its {name} is no time"
    return None


def _find_body_fault(body: Any, *, words: int) -> str | None:
    if not isinstance(body, str) or len(body) > MOST_BODY_CHARS:
        return "its body is too long, or no text"
    try:
        decoded = json.loads(base64.b64decode(body, validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return "its body is not JSON"
    if not isinstance(decoded, list) or len(decoded) != 3:
        return "its body is no call"
    arguments, named, embedded = decoded
    if (
        not isinstance(arguments, list)
        or len(arguments) != words
        or not all(isinstance(one, str) for one in arguments)
    ):
        return f"it does not carry {words} words"
    if named != {} or not isinstance(embedded, dict) or any(value for value in embedded.values()):
        return "it carries more than a bell does"
    return None
