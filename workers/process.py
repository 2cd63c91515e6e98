"""What a worker process holds: its engine and its encoders, built after fork, on first use."""

from functools import lru_cache

import structlog
from sqlalchemy import Engine

from models.encoders.protocol import Encoder, EncoderUnavailable
from models.encoders.registry import load_encoder
from models.errors import Misconfigured, TransientError
from models.settings import get_settings
from models.store.engine import open_engine, plain_transaction
from models.store.index.encoders import KnownEncoder, require_active
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


def encoder() -> Encoder:
    """The encoder that serves now, as this process loaded it; refused when the stored vectors came from another model."""
    with plain_transaction(engine()) as connection:
        active = require_active(connection)
    return load(active)


def load(known: KnownEncoder) -> Encoder:
    """This process's copy of an encoder that has a table here."""
    return _load(known.source, known.name, known.digest)


@lru_cache(maxsize=2)  # the one that serves, and the one that is filled or kept full beside it
def _load(source: str, name: str, digest: str) -> Encoder:
    settings = get_settings()
    try:
        loaded = load_encoder(source, threads=settings.encoder_threads, cache=settings.encoder_cache)
    except EncoderUnavailable as error:
        raise TransientError(f"encoder '{name}' cannot be loaded: {error}") from error
    if (loaded.name, loaded.fingerprint.digest()) != (name, digest):
        raise Misconfigured(
            f"{source} holds encoder '{loaded.name}' with fingerprint {loaded.fingerprint.digest()[:12]}, and the stored "
            f"vectors are of '{name}' with {digest[:12]}",
            code="encoder_mismatch",
            remedy="put the files back that made them",
        )
    return loaded


@lru_cache(maxsize=1)
def abstractive_summarizer() -> Summarizer | None:
    """This process's writer of abstractive summaries; None where it only quotes, or the writer cannot be loaded."""
    try:
        return load_summarizer(get_settings())
    except (Misconfigured, SummarizerUnavailable) as error:
        log.error("summarizer.refused", reason=str(error))  # compaction goes on: quoting needs no writer
        return None
