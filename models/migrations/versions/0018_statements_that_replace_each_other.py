"""What a turn states is kept by sentence with its vector, and which turn replaces which is stored.

Revision: 0018, after 0017
"""

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC

revision = "0018"
down_revision = "0017"

SCHEMA = "longtail"


def upgrade() -> None:
    op.create_table(
        "statements",
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.SmallInteger(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("encoder", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("embedding", HALFVEC(), nullable=False),
        sa.PrimaryKeyConstraint("turn_id", "ordinal", name="pk_statements"),
        sa.ForeignKeyConstraint(
            ["turn_id"], [f"{SCHEMA}.items.id"], name="fk_statements_turn_id_items", ondelete="CASCADE"
        ),
        schema=SCHEMA,
    )
    op.create_index(
        "ix_statements_tenant_id_namespace_turn_id",
        "statements",
        ["tenant_id", "namespace", "turn_id"],
        schema=SCHEMA,
    )
    op.create_table(
        "supersessions",
        sa.Column("older_turn_id", sa.Uuid(), nullable=False),
        sa.Column("newer_turn_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("older_statement", sa.Text(), nullable=False),
        sa.Column("newer_statement", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("about", sa.Text(), nullable=False),
        sa.Column("similarity", sa.Double(), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("found_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("older_turn_id", "newer_turn_id", name="pk_supersessions"),
        sa.ForeignKeyConstraint(
            ["older_turn_id"],
            [f"{SCHEMA}.items.id"],
            name="fk_supersessions_older_turn_id_items",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["newer_turn_id"],
            [f"{SCHEMA}.items.id"],
            name="fk_supersessions_newer_turn_id_items",
            ondelete="CASCADE",
        ),
        schema=SCHEMA,
    )
    op.create_index("ix_supersessions_newer_turn_id", "supersessions", ["newer_turn_id"], schema=SCHEMA)
