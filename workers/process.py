"""What a worker process holds: its engine and its encoder, built after fork, on first use."""

from functools import lru_cache

from sqlalchemy import Engine

from models.encoders.protocol import Encoder
from models.encoders.registry import load_encoder
from models.settings import get_settings
from models.store.encoders import check_encoder
from models.store.engine import open_engine, plain_transaction


@lru_cache(maxsize=1)
def engine() -> Engine:
    """This process's connections, as the worker role."""
    settings = get_settings()
    return open_engine(
        settings.role_database_url("longtail_worker"),
        pool_size=2,
        connect_timeout_seconds=settings.database_connect_timeout_seconds,
    )


@lru_cache(maxsize=1)
def encoder() -> Encoder:
    """This process's encoder; refused when the stored vectors came from another model."""
    settings = get_settings()
    loaded = load_encoder(settings.encoder, threads=settings.encoder_threads, cache=settings.encoder_cache)
    with plain_transaction(engine()) as connection:
        check_encoder(connection, name=loaded.name, digest=loaded.fingerprint.digest())
    return loaded
