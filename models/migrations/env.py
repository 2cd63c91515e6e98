"""Alembic's environment: it migrates the connection it is handed, and never opens one of its own."""

from typing import Any

from alembic import context

from models.tables import SCHEMA, metadata


def include_object(item: Any, name: str | None, type_: str, reflected: bool, compare_to: Any) -> bool:
    """Only our schema: an existing server may hold other people's tables. Encoders' own tables are made on demand."""
    if type_ != "table":
        return True
    is_on_demand = reflected and compare_to is None and (name or "").startswith("embeddings_")
    return item.schema == SCHEMA and not is_on_demand


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    version_table_schema=SCHEMA,
    include_schemas=True,
    include_object=include_object,
    compare_server_default=False,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
