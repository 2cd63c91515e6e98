"""A spoken wish may end of itself, and its user may put it in other words.

Revision: 0017, after 0016
"""

from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """expires_at NULL: no end is known. corrected_at: since then the words are the user's, no reading changes them."""
    op.execute("ALTER TABLE longtail.guidance ADD COLUMN IF NOT EXISTS expires_at timestamptz")
    op.execute("ALTER TABLE longtail.guidance ADD COLUMN IF NOT EXISTS corrected_at timestamptz")
