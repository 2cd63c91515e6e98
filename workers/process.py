"""What a worker process holds: its engine and its encoder, built after fork, on first use."""

from functools import lru_cache

import structlog
from sqlalchemy import Engine

from models.encoders.protocol import Encoder
from models.encoders.registry import load_encoder
from models.errors import Misconfigured
from models.settings import get_settings
from models.store.engine import open_engine, plain_transaction
from models.store.index.encoders import check_encoder
from models.summarizers.protocol import Summarizer, SummarizerUnavailable
from models.summarizers.registry import load_summarizer

log = structlog.get_logger(__name__)


@lru_cache(maxsize=1)
def engine() -> Engine:
    """This process's connections, as the worker role."""
    settings = get_settings()
    return open_engine(
        settings.role_database_url("longtail_worker"),
        pool_size=2,
        connect_timeout_seconds=settings.database_connect_timeout_seconds,
        waits_for_disk=False,  # rows are the queue: what is undone is still queued, and a host's commit waits for less
    )


@lru_cache(maxsize=1)
def encoder() -> Encoder:
    """This process's encoder; refused when the stored vectors came from another model."""
    settings = get_settings()
    loaded = load_encoder(settings.encoder, threads=settings.encoder_threads, cache=settings.encoder_cache)
    with plain_transaction(engine()) as connection:
        check_encoder(connection, name=loaded.name, digest=loaded.fingerprint.digest())
    return loaded


@lru_cache(maxsize=1)
def abstractive_summarizer() -> Summarizer | None:
    """This process's writer of abstractive summaries; None where it only quotes, or the writer cannot be loaded."""
    try:
        return load_summarizer(get_settings())
    except (Misconfigured, SummarizerUnavailable) as error:
        log.error("summarizer.refused", reason=str(error))  # compaction goes on: quoting needs no writer
        return None
