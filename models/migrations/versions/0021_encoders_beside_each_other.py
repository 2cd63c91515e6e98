"""An encoder beside the active one: where it comes from, what it is there for, and statements with a vector of each.

Revision: 0021, after 0020
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
TIMES = ("leased_until", "asked_at", "served_from")


def upgrade() -> None:
    for name in ("source", "duty", "problem"):
        op.add_column("encoders", sa.Column(name, sa.Text(), nullable=True), schema="longtail")
    op.add_column("encoders", sa.Column("filled_to", sa.Uuid(), nullable=True), schema="longtail")
    for name in TIMES:
        op.add_column(
            "encoders", sa.Column(name, sa.DateTime(timezone=True), nullable=True), schema="longtail"
        )
    op.execute("UPDATE longtail.encoders SET source = name")  # until now each was known by its name
    op.alter_column("encoders", "source", nullable=False, schema="longtail")
    op.create_check_constraint(
        op.f("ck_encoders_duty_known"),
        "encoders",
        "duty IN ('filling', 'standby') AND NOT is_active OR duty IS NULL",
        schema="longtail",
    )
    op.create_index(
        "ix_encoders_one_filling",
        "encoders",
        ["duty"],
        unique=True,
        schema="longtail",
        postgresql_where=sa.text("duty = 'filling'"),
    )
    _rekey_statements("turn_id", "ordinal", "encoder")


def _rekey_statements(*columns: str) -> None:
    op.drop_constraint(op.f("pk_statements"), "statements", schema="longtail")
    op.create_primary_key(op.f("pk_statements"), "statements", list(columns), schema="longtail")
