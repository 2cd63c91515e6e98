"""When each scheduled task last ran, and how it ended.

Revision: 0013, after 0012
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

SCHEMA = "longtail"


def upgrade() -> None:
    op.create_table(
        "task_runs",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("runs", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_task_runs"),
        schema=SCHEMA,
    )
