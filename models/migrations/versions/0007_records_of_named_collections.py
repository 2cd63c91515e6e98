"""Records of named collections: what JSON-RPC clients call our rows, and texts of their own.

Revision: 0007, after 0006
"""

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"


def _moment(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False)


def upgrade() -> None:
    op.create_table(
        "records",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=True),
        sa.Column("item_id", sa.Uuid(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("metadata", postgresql.JSONB(), server_default="{}", nullable=False),
        sa.Column("encoder", sa.Text(), nullable=True),
        sa.Column("embedding", HALFVEC(), nullable=True),
        sa.Column("access_count", sa.Integer(), server_default="0", nullable=False),
        _moment("created_at"),
        _moment("updated_at"),
        sa.PrimaryKeyConstraint("tenant_id", "collection", "id", name=op.f("pk_records")),
        sa.CheckConstraint(
            "char_length(collection) BETWEEN 1 AND 512", name=op.f("ck_records_collection_length")
        ),
        sa.CheckConstraint("char_length(id) BETWEEN 1 AND 512", name=op.f("ck_records_id_length")),
        sa.CheckConstraint("octet_length(body) BETWEEN 1 AND 4194304", name=op.f("ck_records_body_size")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_records_tenant_id_item_id"),
        "records",
        ["tenant_id", "item_id"],
        schema="longtail",
        postgresql_where=sa.text("item_id IS NOT NULL"),
    )
    op.create_index(
        op.f("ix_records_tenant_id_namespace"), "records", ["tenant_id", "namespace"], schema="longtail"
    )
