"""Every reference to a turn or a memory has an index: erasing looks for what refers to each row that goes.

Revision: 0014, after 0013
"""

from alembic import op

revision = "0014"
down_revision = "0013"

SCHEMA = "longtail"
REFERENCES = (("memory_sources", "turn_id"), ("feedback", "turn_id"), ("memory_revisions", "memory_id"))


def upgrade() -> None:
    for table, column in REFERENCES:
        op.create_index(f"ix_{table}_{column}", table, [column], schema=SCHEMA)
