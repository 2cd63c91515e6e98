"""Partitions kept in the process: few, small, least recently used out first."""

import threading
from collections import OrderedDict

from models.domain.rules.tiers import Partition


class PartitionCache:
    """Holds at most `max_documents` partitions of at most `max_characters` of text in all; safe across threads."""

    def __init__(self, *, max_documents: int, max_characters: int) -> None:
        self.max_documents = max_documents
        self.max_characters = max_characters
        self._kept: OrderedDict[str, tuple[Partition, int]] = OrderedDict()  # oldest use first
        self._characters = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str) -> Partition | None:
        """Return the kept partition and mark it used, or None."""
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return None
            self._kept.move_to_end(key)
            return entry[0]

    def put(self, key: str, partition: Partition, *, characters: int) -> None:
        """Keep a partition and drop the least recently used ones until both bounds hold.

        A document larger than the whole cache is not kept: it would only empty it.
        """
        if characters > self.max_characters:
            return
        with self._lock:
            _, replaced_characters = self._kept.pop(key, (None, 0))
            self._kept[key] = (partition, characters)
            self._characters += characters - replaced_characters
            while len(self._kept) > self.max_documents or self._characters > self.max_characters:
                _, (_, dropped_characters) = self._kept.popitem(last=False)
                self._characters -= dropped_characters
