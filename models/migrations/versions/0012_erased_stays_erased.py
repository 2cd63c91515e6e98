"""What was erased leaves a mark that tells nothing, so that it does not come back; an erasure says of what kind it was.

Revision: 0012, after 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

SCHEMA = "longtail"


def upgrade() -> None:
    op.create_table(
        "tombstones",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("mark", sa.LargeBinary(), nullable=False),
        sa.Column("erased_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "mark", name="pk_tombstones"),
        schema=SCHEMA,
    )
    op.create_table(
        "tombstone_salts",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("salt", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", name="pk_tombstone_salts"),
        schema=SCHEMA,
    )
    op.add_column(
        "erasures", sa.Column("kind", sa.Text(), server_default="namespace", nullable=False), schema=SCHEMA
    )
    op.add_column("erasures", sa.Column("target", sa.Text(), nullable=True), schema=SCHEMA)
