"""Which encoder serves a database when it starts, and how another one gets its table there; as the owner.

What the rows say wins over LONGTAIL_ENCODER once there is memory: its vectors are of one model, and `longtail reembed` is
the way to another (decision 46).
"""

import structlog
from sqlalchemy import Connection

from models.encoders.folder import BUILT_IN
from models.encoders.protocol import Encoder, EncoderUnavailable
from models.encoders.registry import load_encoder, name_encoder
from models.errors import Misconfigured
from models.store.index.encoders import (
    KnownEncoder,
    activate_encoder,
    check_encoder,
    find_active,
    holds_items,
    keep_encoder,
    list_encoders,
    require_active,
    take_over,
)
from models.store.index.tables import drop_table, holds_vectors, make_table

log = structlog.get_logger(__name__)


def settle_encoder(connection: Connection, *, wanted: str, is_named: bool) -> None:
    """The active encoder is there, loads, and is the one that made the stored vectors; else Misconfigured.

    `wanted` is what LONGTAIL_ENCODER says, `is_named` whether anybody set it. An empty memory takes it at once. Where
    the active encoder was moved, it says where it is now; where that cannot be loaded any more, a standby that lacks nothing
    takes over when it is named.
    """
    active = find_active(connection)
    if active is None or (is_named and not holds_items(connection)):
        loaded = load_or_refuse(wanted)
        admit_encoder(connection, loaded, source=wanted)
        if active is None or active.name != loaded.name:
            activate_encoder(connection, name=loaded.name)
        return
    source = active.source
    if is_named and wanted != source:
        meant = _name_or_refuse(wanted)
        if meant == active.name:
            source = wanted
        elif _loads(active):
            log.warning("encoder.not_switched", active=active.name, wanted=wanted, remedy="longtail reembed")
        elif take_over(connection, name=meant):
            log.warning("encoder.switched", was=active.name, now=meant)
            source = wanted
            active = require_active(connection)
    loaded = load_or_refuse(source)
    check_encoder(connection, name=active.name, digest=loaded.fingerprint.digest())
    admit_encoder(connection, loaded, source=source)


def admit_encoder(connection: Connection, loaded: Encoder, *, source: str) -> None:
    """Write an encoder down and make its table; another model under a name that holds vectors is refused."""
    digest = loaded.fingerprint.digest()
    if loaded.name in BUILT_IN or holds_vectors(connection, name=loaded.name):
        check_encoder(connection, name=loaded.name, digest=digest)
    else:  # its table may have been made for other dimensions
        known = next((one for one in list_encoders(connection) if one.name == loaded.name), None)
        if known is not None and known.dimensions != loaded.dimensions:
            drop_table(connection, name=loaded.name)
    make_table(connection, name=loaded.name, dimensions=loaded.dimensions)
    keep_encoder(
        connection,
        name=loaded.name,
        source=source,
        fingerprint=loaded.fingerprint.as_dict(),
        digest=digest,
        dimensions=loaded.dimensions,
    )


def load_or_refuse(source: str) -> Encoder:
    """The encoder, or Misconfigured with what is missing."""
    try:
        return load_encoder(source, threads=1)
    except (ValueError, EncoderUnavailable) as error:
        raise _refusal(source, error) from error


def _name_or_refuse(source: str) -> str:
    try:
        return name_encoder(source)
    except (ValueError, EncoderUnavailable) as error:
        raise _refusal(source, error) from error


def _refusal(source: str, error: Exception) -> Misconfigured:
    return Misconfigured(
        f"encoder {source} cannot be used: {error}",
        code="encoder_unavailable",
        remedy="put back what the message names, or set LONGTAIL_ENCODER to where it is now; on an empty memory, unset "
        "LONGTAIL_ENCODER for the default",
    )


def _loads(active: KnownEncoder) -> bool:
    try:
        load_encoder(active.source, threads=1)
    except (ValueError, EncoderUnavailable):
        return False
    return True
