"""What must hold after every fault, asked of the database: nothing lost, nothing twice, nothing stuck."""

import time
from dataclasses import dataclass

from bench.chaos.place import Place

WAITING = "SELECT count(*) FROM longtail.work WHERE tenant_id = :tenant AND stage IN ('accepted', 'ingested', 'embedded')"

WAITING_ROWS = (
    "SELECT item_id, stage, attempts, not_before FROM longtail.work WHERE tenant_id = :tenant "
    "AND stage IN ('accepted', 'ingested', 'embedded') ORDER BY item_id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found once the stack was quiet."""

    lost: int
    duplicated: int
    stuck: int
    dead_letters: int
    violations: int

    @property
    def is_whole(self) -> bool:
        return not (self.lost or self.duplicated or self.stuck or self.dead_letters or self.violations)


def await_health(place: Place, *, seconds: float) -> float | None:
    """How long it took until the stack was well; None where it was not in time."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        if place.is_healthy():
            return time.monotonic() - start
        time.sleep(0.1)
    return None


def await_drained(place: Place, *, seconds: float, most_seconds: float) -> float | None:
    """How long it took until nothing waited; None where something does although nobody touched it for `seconds`.

    A worker at work renews its leases: on a busy machine it is slow, and not stuck. But not for ever.
    """
    start = touched = time.monotonic()
    before = None
    while time.monotonic() < min(touched + seconds, start + most_seconds):
        waiting = place.rows(WAITING_ROWS)
        if not waiting:
            return time.monotonic() - start
        if waiting != before:
            before, touched = waiting, time.monotonic()
        time.sleep(0.1)
    return None


def look(place: Place, accepted: set[str]) -> Found:
    """Compare what was accepted with what is there."""
    kept = [
        row[0] for row in place.rows("SELECT host_message_id FROM longtail.turns WHERE tenant_id = :tenant")
    ]
    summaries_twice = place.one(
        "SELECT count(*) FROM (SELECT FROM longtail.summaries WHERE tenant_id = :tenant "
        "GROUP BY session_id, level, first_position HAVING count(*) > 1) AS twice"
    )
    unembedded = place.one(
        "SELECT count(*) FROM longtail.work WHERE tenant_id = :tenant AND stage = 'done' AND kind = 'turn' AND NOT "
        "EXISTS (SELECT FROM longtail.embeddings_minilm AS vector WHERE vector.item_id = work.item_id)"
    )
    with place.client() as client:
        violations = len(client.verify_lineage()["violations"])
    return Found(
        lost=len(accepted - set(kept)) + unembedded,
        duplicated=len(kept) - len(set(kept)) + summaries_twice,
        stuck=place.one(WAITING),
        dead_letters=place.one("SELECT count(*) FROM longtail.dead_letters WHERE tenant_id = :tenant"),
        violations=violations,
    )
