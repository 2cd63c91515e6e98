"""Summaries and what they cover.

Revision: 0003, after 0002
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "journal",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("metadata", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("recorded_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "event IN ('before_reset', 'session_end', 'before_compaction')",
            name=op.f("ck_journal_event_known"),
        ),
        sa.CheckConstraint(
            "char_length(session_id) BETWEEN 1 AND 512", name=op.f("ck_journal_session_id_length")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_journal")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_journal_tenant_id_recorded_at"),
        "journal",
        ["tenant_id", "recorded_at"],
        unique=False,
        schema="longtail",
    )
    op.create_table(
        "lineage_checks",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("sessions", sa.Integer(), nullable=False),
        sa.Column("summaries", sa.Integer(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("violations", sa.Integer(), nullable=False),
        sa.Column("kinds", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lineage_checks")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_lineage_checks_tenant_id_checked_at"),
        "lineage_checks",
        ["tenant_id", "checked_at"],
        unique=False,
        schema="longtail",
    )
    op.create_table(
        "compactions",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("generation", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("covered_through", sa.BigInteger(), server_default="-1", nullable=False),
        sa.Column("uncompacted_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("counted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ran_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("is_forced", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("served_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["longtail.sessions.tenant_id", "longtail.sessions.session_id"],
            name=op.f("fk_compactions_tenant_id_session_id_sessions"),
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", name=op.f("pk_compactions")),
        schema="longtail",
    )
    op.create_table(
        "summaries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Text(), nullable=False),
        sa.Column("backend", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("align", sa.Double(), nullable=False),
        sa.Column("cover", sa.Double(), nullable=False),
        sa.Column("prior_ids", sa.ARRAY(sa.Uuid()), server_default="{}", nullable=False),
        sa.Column("summary_tokens", sa.Integer(), nullable=False),
        sa.Column("source_tokens", sa.BigInteger(), nullable=False),
        sa.Column("turn_count", sa.Integer(), nullable=False),
        sa.Column("turn_tokens", sa.BigInteger(), nullable=False),
        sa.Column("first_position", sa.BigInteger(), nullable=False),
        sa.Column("last_position", sa.BigInteger(), nullable=False),
        sa.Column("earliest_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("latest_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("generation", sa.BigInteger(), nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default="true", nullable=False),
        sa.CheckConstraint(
            "attempt IN ('normal', 'aggressive', 'fallback')", name=op.f("ck_summaries_attempt_known")
        ),
        sa.CheckConstraint("method IN ('abstractive', 'extractive')", name=op.f("ck_summaries_method_known")),
        sa.CheckConstraint("confidence BETWEEN 0 AND 1", name=op.f("ck_summaries_confidence_in_0_1")),
        sa.CheckConstraint("cover BETWEEN 0 AND 1", name=op.f("ck_summaries_cover_in_0_1")),
        sa.CheckConstraint("align BETWEEN -1 AND 1", name=op.f("ck_summaries_align_in_range")),
        sa.CheckConstraint("level >= 1", name=op.f("ck_summaries_level_from_1")),
        sa.CheckConstraint(
            "summary_tokens BETWEEN 1 AND source_tokens - 1", name=op.f("ck_summaries_makes_progress")
        ),
        sa.CheckConstraint("turn_count >= 1", name=op.f("ck_summaries_covers_turns")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["longtail.sessions.tenant_id", "longtail.sessions.session_id"],
            name=op.f("fk_summaries_tenant_id_session_id_sessions"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_summaries")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_summaries_tenant_id_session_id_level_first_position"),
        "summaries",
        ["tenant_id", "session_id", "level", "first_position"],
        unique=False,
        schema="longtail",
    )
    op.create_table(
        "summary_children",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("child_id", sa.Uuid(), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.CheckConstraint("child_id <> parent_id", name=op.f("ck_summary_children_no_self_coverage")),
        sa.ForeignKeyConstraint(
            ["child_id"], ["longtail.summaries.id"], name=op.f("fk_summary_children_child_id_summaries")
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["longtail.summaries.id"], name=op.f("fk_summary_children_parent_id_summaries")
        ),
        sa.PrimaryKeyConstraint("child_id", name=op.f("pk_summary_children")),
        sa.UniqueConstraint("parent_id", "ordinal", name=op.f("uq_summary_children_parent_id_ordinal")),
        schema="longtail",
    )
    op.create_table(
        "summary_turns",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("summary_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("is_protected", sa.Boolean(), server_default="false", nullable=False),
        sa.ForeignKeyConstraint(
            ["summary_id"], ["longtail.summaries.id"], name=op.f("fk_summary_turns_summary_id_summaries")
        ),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["longtail.turns.id"], name=op.f("fk_summary_turns_turn_id_turns")
        ),
        sa.PrimaryKeyConstraint("turn_id", name=op.f("pk_summary_turns")),
        sa.UniqueConstraint("summary_id", "ordinal", name=op.f("uq_summary_turns_summary_id_ordinal")),
        schema="longtail",
    )
