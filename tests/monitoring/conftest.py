"""A stack whose proofs of losslessness come every few seconds, so that a short run sees one."""

from collections.abc import Iterator

import pytest

from api.stack.throwaway import ThrowawayStack


@pytest.fixture(scope="session")
def stack() -> Iterator[ThrowawayStack]:
    """In place of the shared one."""
    with ThrowawayStack(
        {"LONGTAIL_LINEAGE_CHECK_SECONDS": "5", "LONGTAIL_COMPACTION_JITTER_SECONDS": "0"}
    ) as running:
        yield running
