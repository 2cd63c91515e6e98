"""Tokens open namespaces and agents, end and are named; a session may be shared.

Revision: 0011, after 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

SCHEMA = "longtail"


def upgrade() -> None:
    """A token of one namespace becomes a token of a list with one; sessions stay with the namespace they have."""
    for column in (
        sa.Column("namespaces", sa.ARRAY(sa.Text()), nullable=True),
        sa.Column("agents", sa.ARRAY(sa.Text()), nullable=True),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
    ):
        op.add_column("tokens", column, schema=SCHEMA)
    op.execute("UPDATE longtail.tokens SET namespaces = ARRAY[namespace] WHERE namespace IS NOT NULL")
    op.execute("DROP FUNCTION IF EXISTS longtail.authenticate(bytea)")
    op.drop_column("tokens", "namespace", schema=SCHEMA)
    op.add_column(
        "sessions",
        sa.Column("is_shared", sa.Boolean(), server_default="false", nullable=False),
        schema=SCHEMA,
    )
    op.create_index(
        "ix_sessions_shared",
        "sessions",
        ["tenant_id", "session_id"],
        schema=SCHEMA,
        postgresql_where=sa.text("is_shared"),
    )
