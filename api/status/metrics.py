"""`GET /metrics`: numbers for Prometheus about the service as a whole; no tenant, no text, no token needed."""

from collections.abc import Iterator
from importlib.metadata import version
from typing import Final

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from api.access import RuntimeOf
from api.runtime import Runtime
from models.errors import ServiceError
from models.store.engine import plain_transaction
from models.store.metrics import measure_service

router = APIRouter()
TIMEOUT_MS: Final = 1000
# What each number means, and the name of its label where it has one.
METERS: Final[dict[str, tuple[str, str | None]]] = {
    "pending": ("Items not remembered yet, by the stage they wait at.", "stage"),
    "lag_seconds": ("Age of the oldest item that is not remembered yet.", None),
    "dead_letters": ("Items the workers gave up; their reasons are in dead_letters.", None),
    "lineage_violations": ("What the newest proofs of losslessness found wrong; should be 0.", None),
    "lineage_check_age_seconds": ("Age of the oldest of those proofs.", None),
    "rows_estimated": ("Rows of a table, as the planner believes.", "table"),
}


class ServiceCollector(Collector):
    """Asks once a scrape."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def collect(self) -> Iterator[Metric]:
        """The parts first: with PostgreSQL away, they are all there is to say."""
        yield InfoMetricFamily("longtail", "What runs here.", {"version": version("longtail")})
        up = GaugeMetricFamily("longtail_up", "Whether a part can be used from here.", labels=["part"])
        up.add_metric(["encoder"], float(self._runtime.encoder is not None))
        up.add_metric(["redis"], float(self._runtime.doorbell.is_working))
        try:
            with plain_transaction(self._runtime.engine, timeout_ms=TIMEOUT_MS) as connection:
                measured = measure_service(connection)
        except ServiceError:
            measured = []
        up.add_metric(["postgres"], float(bool(measured)))
        yield up
        for name, (meaning, label) in METERS.items():
            found = [one for one in measured if one.name == name]
            if found:
                meter = GaugeMetricFamily(f"longtail_{name}", meaning, labels=[label] if label else [])
                for one in found:
                    meter.add_metric([one.label] if label else [], one.value)
                yield meter


@router.get("/metrics", tags=["operations"], response_class=PlainTextResponse)
def get_metrics(runtime: RuntimeOf) -> Response:
    """Numbers for Prometheus: what waits, how long, what was given up, what the proofs of losslessness found."""
    registry = CollectorRegistry()
    registry.register(ServiceCollector(runtime))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
