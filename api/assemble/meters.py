"""What an assembly leaves for Prometheus: how long it took, what it lacked, and whether a prompt cache can use it."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

from api.assemble.schemas import AssembleOut
from models.meters import Tally

MOST_SESSIONS: Final = 10_000  # of those asked for last


class Prefixes:
    """The stable part of each session's last prompt, as a hash."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, str] = OrderedDict()

    def compare(self, key: Hashable, digest: str) -> bool | None:
        """Whether it is the same as last time; None for the first prompt of a session."""
        with self._lock:
            before = self._known.pop(key, None)
            self._known[key] = digest
            if len(self._known) > MOST_SESSIONS:
                self._known.popitem(last=False)
        return None if before is None else before == digest


def count_assembly(tally: Tally, prefixes: Prefixes, key: Hashable, answer: AssembleOut) -> None:
    """Add one answer to the tally."""
    for stage, milliseconds in answer.timings_ms.items():
        if stage == "total":
            tally.observe("assemble_seconds", milliseconds / 1000)
        else:
            tally.observe("assemble_stage_seconds", milliseconds / 1000, stage=stage)
    for one in answer.degraded:
        tally.add("degraded", code=one.code)
    tally.add("prompt_tokens", answer.budget.total, kind="given")
    tally.add("prompt_tokens", answer.budget.used, kind="used")
    is_kept = prefixes.compare(key, answer.stable.sha256)
    if is_kept is not None:  # both, so that a share can be told before the first of a kind
        tally.add("prompt_prefixes", float(is_kept), kept="yes")
        tally.add("prompt_prefixes", float(not is_kept), kept="no")
