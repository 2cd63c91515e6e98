"""A lease on work names its holder, so that whoever lost it writes nothing; claims go by tenant.

Revision: 0016, after 0015
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

SCHEMA = "longtail"
PENDING = "stage IN ('accepted', 'ingested', 'embedded')"


def upgrade() -> None:
    op.add_column("work", sa.Column("lease_id", sa.Uuid(), nullable=True), schema=SCHEMA)
    op.drop_index("ix_work_claim", "work", schema=SCHEMA)
    op.create_index(
        "ix_work_claim",
        "work",
        ["stage", "tenant_id", "seq"],
        schema=SCHEMA,
        postgresql_where=sa.text(PENDING),
    )
    op.create_index(
        "ix_work_tried",
        "work",
        ["stage", "not_before"],
        schema=SCHEMA,
        postgresql_where=sa.text(f"{PENDING} AND attempts > 0"),
    )
    # It returns the holder from now on, and the type of what a function returns cannot be changed.
    op.execute("DROP FUNCTION IF EXISTS longtail.claim_work(text, integer, interval)")
