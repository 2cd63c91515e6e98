"""A turn keeps what it costs, by the counter of the domain: SQL counts no characters.

Revision: 0010, after 0009
"""

import sqlalchemy as sa
from alembic import op

from models.domain.prompt.tokens import CharsCounter

revision = "0010"
down_revision = "0009"

TRIGGER = "turns_are_append_only"
ROWS_AT_ONCE = 1000


def upgrade() -> None:
    """Turns that are indexed have their count there; only the others are counted, with the lock on turns open."""
    op.add_column("turns", sa.Column("tokens", sa.Integer(), nullable=True), schema="longtail")
    connection = op.get_bind()
    is_locked = connection.execute(
        sa.text("SELECT FROM pg_trigger WHERE tgrelid = 'longtail.turns'::regclass AND tgname = :name"),
        {"name": TRIGGER},
    ).first()
    if is_locked is None:  # a new database: there is nothing to count
        return
    op.execute(f"ALTER TABLE longtail.turns DISABLE TRIGGER {TRIGGER}")
    bare = sa.text(
        "SELECT id, content FROM longtail.turns WHERE tokens IS NULL "
        "AND NOT EXISTS (SELECT FROM longtail.items WHERE items.id = turns.id) LIMIT :count"
    )
    counter = CharsCounter()
    while rows := connection.execute(bare, {"count": ROWS_AT_ONCE}).all():
        connection.execute(
            sa.text("UPDATE longtail.turns SET tokens = :tokens WHERE id = :id"),
            [{"id": row.id, "tokens": counter.count(row.content)} for row in rows],
        )
    op.execute(f"ALTER TABLE longtail.turns ENABLE TRIGGER {TRIGGER}")
