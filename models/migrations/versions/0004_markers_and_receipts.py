"""A marker for what each tenant's prompts inject, and receipts of how prompts came about.

Revision: 0004, after 0003
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column(
        "tenants",
        sa.Column(
            "marker",
            sa.Text(),
            server_default=sa.text("left(replace(gen_random_uuid()::text, '-', ''), 16)"),
            nullable=False,
        ),
        schema="longtail",
    )
    op.create_table(
        "assemblies",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("receipt", postgresql.JSONB(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assemblies")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_assemblies_tenant_id_made_at"), "assemblies", ["tenant_id", "made_at"], schema="longtail"
    )
