"""`GET /metrics`: numbers for Prometheus about the service as a whole; no tenant, no text, no token needed."""

from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Final, cast

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from redis import Redis, RedisError

from api.access.decisions import RuntimeOf
from api.runtime import Runtime
from models.errors import ServiceError
from models.messages import QUEUES
from models.meters import HASH, METERS, Series, add_up, read_series
from models.store.engine import plain_transaction
from models.store.reporting.metrics import measure_service

router = APIRouter()
TIMEOUT_MS: Final = 1000
# What each number of PostgreSQL's means, and the name of its label where it has one.
STORED: Final[dict[str, tuple[str, str | None]]] = {
    "pending": ("Items not remembered yet, by the stage they wait at.", "stage"),
    "lag_seconds": ("Age of the oldest item that is not remembered yet.", None),
    "stage_lag_seconds": ("Age of the oldest item that waits at a stage.", "stage"),
    "dead_letters": ("Items the workers gave up; their reasons are in dead_letters.", None),
    "lineage_violations": ("What the newest proofs of losslessness found wrong; should be 0.", None),
    "lineage_check_age_seconds": ("Age of the oldest of those proofs.", None),
    "rows_estimated": ("Rows of a table, as the planner believes.", "table"),
}


class ServiceCollector(Collector):
    """Asks PostgreSQL and Redis once a scrape; whichever is away is told as such, and the rest is still there."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def collect(self) -> Iterator[Metric]:
        """The parts first: with PostgreSQL and Redis away, they and the API's own are all there is to say."""
        yield InfoMetricFamily("longtail", "What runs here.", {"version": version("longtail")})
        up = GaugeMetricFamily("longtail_up", "Whether a part can be used from here.", labels=["part"])
        up.add_metric(["encoder"], float(self._runtime.encoder is not None))
        try:
            with plain_transaction(self._runtime.engine, timeout_ms=TIMEOUT_MS) as connection:
                measured = measure_service(connection)
        except ServiceError:
            measured = []
        up.add_metric(["postgres"], float(bool(measured)))
        depths, counted = read_redis(self._runtime.settings.broker_url())
        up.add_metric(["redis"], float(depths is not None))
        yield up
        for name, (meaning, label) in STORED.items():
            found = [one for one in measured if one.name == name]
            if found:
                meter = GaugeMetricFamily(f"longtail_{name}", meaning, labels=[label] if label else [])
                for one in found:
                    meter.add_metric([one.label] if label else [], one.value)
                yield meter
        if depths is not None:
            queue = GaugeMetricFamily("longtail_queue_messages", "Messages in a queue.", labels=["queue"])
            for name, depth in depths.items():
                queue.add_metric([name], depth)
            yield queue
        for name, series in read_series(add_up([self._runtime.tally.read(), counted])):
            yield _make_family(name, series)


def read_redis(url: str | None) -> tuple[dict[str, float] | None, Mapping[str, float]]:
    """Messages by queue, and what the workers counted; None and nothing while Redis is away."""
    if url is None:
        return None, {}
    patience = TIMEOUT_MS / 1000
    try:
        with (
            Redis.from_url(url, socket_timeout=patience, socket_connect_timeout=patience) as redis,
            redis.pipeline(transaction=False) as calls,
        ):
            for queue in QUEUES:
                calls.llen(queue)
            calls.hgetall(HASH)
            *depths, fields = calls.execute()
    except (RedisError, OSError):
        return None, {}
    counted = cast("dict[bytes, bytes]", fields)
    return (
        dict(zip(QUEUES, map(float, depths), strict=True)),
        {field.decode(): float(value) for field, value in counted.items()},
    )


def _make_family(name: str, series: list[Series]) -> Metric:
    meter = METERS[name]
    if meter.bounds:
        histogram = HistogramMetricFamily(f"longtail_{name}", meter.meaning, labels=meter.labels)
        for one in series:
            histogram.add_metric(one.labels, buckets=list(one.buckets), sum_value=one.value)
        return histogram
    kind = GaugeMetricFamily if meter.is_newest else CounterMetricFamily
    family: GaugeMetricFamily | CounterMetricFamily = kind(
        f"longtail_{name}", meter.meaning, labels=meter.labels
    )
    for one in series:
        family.add_metric(one.labels, one.value)
    return family


@router.get("/metrics", tags=["operations"], response_class=PlainTextResponse)
def get_metrics(runtime: RuntimeOf) -> Response:
    """Numbers for Prometheus: what waits, how long, what was given up, what was answered, decided and summarised."""
    registry = CollectorRegistry()
    registry.register(ServiceCollector(runtime))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
