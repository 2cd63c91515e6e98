"""Corrections and forgetting of memories, the audit of erasures, and answers kept for repeated calls.

Revision: 0006, after 0004
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0004"


def _moment(name: str, *, nullable: bool = False) -> sa.Column[object]:
    default = None if nullable else sa.text("now()")
    return sa.Column(name, sa.DateTime(timezone=True), server_default=default, nullable=nullable)


def _id() -> sa.Column[object]:
    return sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False)


def upgrade() -> None:
    op.add_column("memories", _moment("corrected_at", nullable=True), schema="longtail")
    op.add_column("memories", _moment("forgotten_at", nullable=True), schema="longtail")
    op.add_column("guidance", _moment("forgotten_at", nullable=True), schema="longtail")
    op.drop_constraint(op.f("ck_work_kind_known"), "work", schema="longtail")
    op.create_check_constraint(
        op.f("ck_work_kind_known"), "work", "kind IN ('turn', 'node', 'summary')", schema="longtail"
    )
    op.create_table(
        "memory_revisions",
        _id(),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        _moment("replaced_at"),
        sa.ForeignKeyConstraint(
            ["memory_id"], ["longtail.memories.id"], name=op.f("fk_memory_revisions_memory_id_memories")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_revisions")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_memory_revisions_tenant_id_memory_id_replaced_at"),
        "memory_revisions",
        ["tenant_id", "memory_id", "replaced_at"],
        schema="longtail",
    )
    op.create_table(
        "forgotten",
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        _moment("forgotten_at"),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_forgotten")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_forgotten_tenant_id_namespace_forgotten_at"),
        "forgotten",
        ["tenant_id", "namespace", "forgotten_at"],
        schema="longtail",
    )
    op.create_table(
        "erasures",
        _id(),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("token_id", sa.Uuid(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("counts", postgresql.JSONB(), server_default="{}", nullable=False),
        _moment("erased_at"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasures")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_erasures_tenant_id_erased_at"), "erasures", ["tenant_id", "erased_at"], schema="longtail"
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=True),
        sa.Column("content_type", sa.Text(), nullable=True),
        sa.Column("answer", sa.LargeBinary(), nullable=True),
        _moment("begun_at"),
        sa.CheckConstraint("char_length(key) BETWEEN 1 AND 512", name=op.f("ck_idempotency_keys_key_length")),
        sa.PrimaryKeyConstraint("tenant_id", "key", name=op.f("pk_idempotency_keys")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_idempotency_keys_tenant_id_begun_at"),
        "idempotency_keys",
        ["tenant_id", "begun_at"],
        schema="longtail",
    )
