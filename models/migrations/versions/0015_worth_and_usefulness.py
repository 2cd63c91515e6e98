"""The gate keeps what a turn tells and the score it decided by; an item keeps how often it was called useful.

Revision: 0015, after 0014
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

ADDED = ("worth", "score")


def upgrade() -> None:
    """Decisions of before were made by G alone: it is their score, and their worth was never measured.

    A tenant's own threshold was calibrated on G; on the new scale it would mean something else.
    """
    for name in ADDED:
        op.add_column("gate_decisions", sa.Column(name, sa.Double(), nullable=True), schema="longtail")
        op.execute(
            f"ALTER TABLE longtail.gate_decisions ADD CONSTRAINT ck_gate_decisions_{name}_in_0_1 "
            f"CHECK ({name} BETWEEN 0 AND 1)"
        )
    op.execute("UPDATE longtail.gate_decisions SET score = g")
    op.alter_column("gate_decisions", "score", nullable=False, schema="longtail")
    op.execute("UPDATE longtail.tenants SET gate_threshold = NULL WHERE gate_threshold IS NOT NULL")
    op.add_column(
        "items",
        sa.Column("useful_count", sa.Integer(), server_default="0", nullable=False),
        schema="longtail",
    )
    op.execute(
        "UPDATE longtail.items SET useful_count = greatest(judged.net, 0) FROM ("
        "  SELECT turn_id, sum(CASE WHEN is_useful THEN 1 ELSE -1 END) AS net FROM longtail.feedback GROUP BY turn_id"
        ") AS judged WHERE items.id = judged.turn_id AND judged.net > 0"
    )
