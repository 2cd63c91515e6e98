"""The database itself keeps scores between 0 and 1, as the tables say.

Revision: 0008, after 0007
"""

from alembic import op

revision = "0008"
down_revision = "0007"

SHARES = {
    "items": ("stability_weight", "authority", "anchor_density"),
    "gate_decisions": (
        *("g", "t", "h", "r", "d", "input_freq", "mem_saturation"),
        *("p", "a", "dtech", "gconv", "gtech"),
    ),
    "memories": ("gate_score",),
    "guidance": ("stability_weight",),
}


def upgrade() -> None:
    """All checks of a table in one statement, so that it is read once; NaN counts as more than 1."""
    for table, columns in SHARES.items():
        names = {column: f"ck_{table}_{column}_in_0_1" for column in columns}
        for name in names.values():
            op.execute(f"ALTER TABLE longtail.{table} DROP CONSTRAINT IF EXISTS {name}")
        added = (
            f"ADD CONSTRAINT {name} CHECK ({column} BETWEEN 0 AND 1) NOT VALID"
            for column, name in names.items()
        )
        op.execute(f"ALTER TABLE longtail.{table} {', '.join(added)}")
        checked = (f"VALIDATE CONSTRAINT {name}" for name in names.values())
        op.execute(f"ALTER TABLE longtail.{table} {', '.join(checked)}")
