"""Which encoder filled which table: a different model under the same name must never be mixed in silently."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, text

from models.errors import Misconfigured
from models.store.index.embeddings import table_of


def register_encoder(
    connection: Connection, *, name: str, fingerprint: Mapping[str, Any], digest: str, dimensions: int
) -> None:
    """Record the encoder at its first use (as the owner), and make it the active one."""
    check_encoder(connection, name=name, digest=digest)
    connection.execute(
        text("UPDATE longtail.encoders SET is_active = false WHERE name <> :name"), {"name": name}
    )
    connection.execute(
        text(
            "INSERT INTO longtail.encoders (name, table_name, fingerprint, digest, dimensions, is_active) "
            "VALUES (:name, :table_name, CAST(:fingerprint AS jsonb), :digest, :dimensions, true) "
            "ON CONFLICT (name) DO UPDATE SET is_active = true"
        ),
        {
            "name": name,
            "table_name": table_of(name),
            "fingerprint": json.dumps(dict(fingerprint)),
            "digest": digest,
            "dimensions": dimensions,
        },
    )


def check_encoder(connection: Connection, *, name: str, digest: str) -> None:
    """Fail closed when the stored vectors came from another model than the one loaded now."""
    stored = connection.execute(
        text("SELECT digest FROM longtail.encoders WHERE name = :name"), {"name": name}
    ).scalar_one_or_none()
    if stored is not None and stored != digest:
        raise Misconfigured(
            f"encoder '{name}' has fingerprint {digest[:12]}, but its table was filled by {stored[:12]}",
            code="encoder_mismatch",
            remedy="install the package version that carries the first one, or choose another LONGTAIL_ENCODER",
        )
