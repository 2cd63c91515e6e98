"""What a spoken rule asks is read once, and kept beside its words.

Revision: 0009, after 0008
"""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Pairs of modality and action; NULL: not read yet, which whoever compares the rule next does."""
    op.execute("ALTER TABLE longtail.guidance ADD COLUMN IF NOT EXISTS claims jsonb")
