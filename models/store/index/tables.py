"""The table of an encoder's vectors, made when the encoder comes and dropped when it goes; by the owner alone."""

from typing import Final

from sqlalchemy import Connection, MetaData, text

from models.sql import apply_scripts
from models.store.index.embeddings import table_of
from models.tables import EMBEDDING_TABLES, SCHEMA, make_embeddings, metadata

LOCKS_AND_GRANTS: Final = ("80_row_security.sql", "90_grants.sql")  # they go over every table there is


def make_table(connection: Connection, *, name: str, dimensions: int) -> None:
    """A table like every other encoder's, with its locks and grants; one that is there is left alone."""
    if name in EMBEDDING_TABLES or _exists(connection, name):
        return
    # `items` is named by the foreign key, and belongs to the metadata of all tables.
    own = MetaData(schema=SCHEMA, naming_convention=metadata.naming_convention)
    make_embeddings(name, dimensions, own).create(connection)
    apply_scripts(connection, LOCKS_AND_GRANTS)


def drop_table(connection: Connection, *, name: str) -> None:
    """Drop it; that of a built-in encoder is a part of the schema, and is emptied."""
    if name in EMBEDDING_TABLES:
        connection.execute(text(f"TRUNCATE {SCHEMA}.{table_of(name)}"))
    else:
        connection.execute(text(f"DROP TABLE IF EXISTS {SCHEMA}.{table_of(name)}"))


def holds_vectors(connection: Connection, *, name: str) -> bool:
    """Whether anything is in its table."""
    if not _exists(connection, name):
        return False
    found: bool = connection.execute(
        text(f"SELECT EXISTS (SELECT FROM {SCHEMA}.{table_of(name)})")
    ).scalar_one()
    return found


def _exists(connection: Connection, name: str) -> bool:
    found = connection.execute(
        text("SELECT to_regclass(:table)"), {"table": f"{SCHEMA}.{table_of(name)}"}
    ).scalar_one()
    return found is not None
