"""A database of the oldest schema, with memory in it, comes to the newest without losing a word."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from alembic import command
from sqlalchemy import create_engine, text

from models.migrations import run
from models.settings import sqlalchemy_url
from models.store.engine import open_engine, plain_transaction

SAID = ["I moved to Lyon in May.", "Always answer in French.", "ünïcode and 'quotes' \\ stay"]


@pytest.fixture
def old_database(stack: Any) -> Iterator[str]:
    """A database of its own on the shared server, its schema that of the first release."""
    server = stack.owner_url.replace("longtail_owner@/longtail", "postgres@/postgres")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS old_release")
        connection.execute("CREATE DATABASE old_release OWNER longtail_owner")
    url = stack.owner_url.replace("@/longtail", "@/old_release")
    with psycopg.connect(url.replace("longtail_owner@", "postgres@"), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    yield url
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE old_release WITH (FORCE)")


def fill_first_schema(url: str) -> None:
    engine = create_engine(sqlalchemy_url(url))
    with engine.begin() as connection:
        connection.execute(text("CREATE SCHEMA longtail"))
        connection.execute(text("CREATE SCHEMA reporting"))
        command.upgrade(run._config(connection), "0001")
        tenant = connection.execute(
            text("INSERT INTO longtail.tenants (name) VALUES ('default') RETURNING id")
        ).scalar_one()
        connection.execute(
            text(
                "INSERT INTO longtail.sessions (tenant_id, session_id, namespace, user_id, next_position) "
                "VALUES (:tenant, 's', 'ann', 'ann', 3)"
            ),
            {"tenant": tenant},
        )
        for position, content in enumerate(SAID):
            turn = connection.execute(
                text(
                    "INSERT INTO longtail.turns (tenant_id, session_id, position, namespace, role, content, content_sha256, "
                    "dedup_key) VALUES (:tenant, 's', :position, 'ann', 'user', :content, "
                    "sha256(convert_to(:content, 'UTF8')), :key) RETURNING id"
                ),
                {"tenant": tenant, "position": position, "content": content, "key": f"id:{position}"},
            ).scalar_one()
            connection.execute(
                text(
                    "INSERT INTO longtail.work (item_id, tenant_id, kind, namespace, stage) "
                    "VALUES (:turn, :tenant, 'turn', 'ann', 'done')"
                ),
                {"turn": turn, "tenant": tenant},
            )
            connection.execute(
                text(
                    "INSERT INTO longtail.items (id, tenant_id, kind, namespace, session_id, role, token_estimate, "
                    "provenance_class, stability_weight, authority, anchor_density, terms, lexemes) VALUES (:turn, :tenant, "
                    "'turn', 'ann', 's', 'user', 9, 'user', 0.5, 0.5, 0.1, '{lyon,may}', to_tsvector('simple', :content))"
                ),
                {"turn": turn, "tenant": tenant, "content": content},
            )
    engine.dispose()


def test_an_old_database_with_memory_comes_to_the_newest_schema(old_database: str) -> None:
    fill_first_schema(old_database)
    run.migrate(old_database)
    run.migrate(old_database)  # and again: nothing to do
    assert run.find_drift(old_database) is None
    engine = open_engine(old_database)
    with plain_transaction(engine) as connection:
        kept = list(connection.execute(text("SELECT content FROM turns ORDER BY position")).scalars())
        lost = connection.execute(
            text(
                "SELECT count(*) FROM turns WHERE NOT EXISTS (SELECT FROM items WHERE items.id = turns.id) AND NOT EXISTS "
                "(SELECT FROM work WHERE work.item_id = turns.id AND work.stage = 'accepted')"
            )
        ).scalar_one()
    engine.dispose()
    assert kept == SAID
    assert lost == 0, "what a migration took out of the index waits to be indexed again"
