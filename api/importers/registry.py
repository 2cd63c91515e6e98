"""The sources that `longtail import KIND` knows besides our own export."""

from typing import Final

from api.importers.records import Source
from api.importers.sources import chatgpt, claude_code, hindsight, jsonl, lossless_claw, mem0, openclaw

SOURCES: Final[dict[str, Source]] = {
    source.kind: source
    for source in (
        openclaw.SOURCE,
        lossless_claw.SOURCE,
        mem0.SOURCE,
        hindsight.SOURCE,
        claude_code.SOURCE,
        chatgpt.SOURCE,
        jsonl.SOURCE,
    )
}
