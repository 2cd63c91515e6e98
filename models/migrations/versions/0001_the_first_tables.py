"""The first tables.

Revision: 0001, the first
"""

import sqlalchemy as sa
from alembic import op
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None


def upgrade() -> None:

    op.create_table(
        "dead_letters",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dead_letters")),
        sa.UniqueConstraint("item_id", "stage", name=op.f("uq_dead_letters_item_id_stage")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_dead_letters_tenant_id_failed_at"),
        "dead_letters",
        ["tenant_id", "failed_at"],
        unique=False,
        schema="longtail",
    )
    op.create_table(
        "documents",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("binding", sa.Text(), server_default="tenant", nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("body_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("rules_version", sa.Text(), nullable=False),
        sa.Column("hard_tokens", sa.Integer(), nullable=False),
        sa.Column("loaded_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("char_length(name) BETWEEN 1 AND 512", name=op.f("ck_documents_name_length")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_documents")),
        sa.UniqueConstraint("tenant_id", "binding", "name", name=op.f("uq_documents_tenant_id_binding_name")),
        schema="longtail",
    )
    op.create_table(
        "encoders",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("table_name", sa.Text(), nullable=False),
        sa.Column("fingerprint", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("dimensions", sa.Integer(), nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default="false", nullable=False),
        sa.Column(
            "registered_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_encoders")),
        schema="longtail",
    )
    op.create_index(
        "ix_encoders_one_active",
        "encoders",
        ["is_active"],
        unique=True,
        schema="longtail",
        postgresql_where=sa.text("is_active"),
    )
    op.create_table(
        "items",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("role", sa.Text(), nullable=True),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("ts", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("token_estimate", sa.Integer(), nullable=False),
        sa.Column("provenance_class", sa.Text(), nullable=False),
        sa.Column("stability_weight", sa.Double(), nullable=False),
        sa.Column("authority", sa.Double(), nullable=False),
        sa.Column("anchor_density", sa.Double(), nullable=False),
        sa.Column("modalities", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("identifiers", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("terms", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("lexemes", postgresql.TSVECTOR(), nullable=False),
        sa.Column("source_turn_ids", sa.ARRAY(sa.Uuid()), server_default="{}", nullable=False),
        sa.Column("access_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "kind IN ('turn', 'memory', 'rule', 'lore', 'summary')", name=op.f("ck_items_kind_known")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_items")),
        schema="longtail",
    )
    op.create_index(
        "ix_items_identifiers",
        "items",
        ["identifiers"],
        unique=False,
        schema="longtail",
        postgresql_using="gin",
    )
    op.create_index(
        "ix_items_lexemes", "items", ["lexemes"], unique=False, schema="longtail", postgresql_using="gin"
    )
    op.create_index(
        op.f("ix_items_tenant_id_namespace_kind"),
        "items",
        ["tenant_id", "namespace", "kind"],
        unique=False,
        schema="longtail",
    )
    op.create_table(
        "tenants",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("gate_threshold", sa.Double(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("char_length(name) BETWEEN 1 AND 512", name=op.f("ck_tenants_name_length")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenants")),
        sa.UniqueConstraint("name", name=op.f("uq_tenants_name")),
        schema="longtail",
    )
    op.create_table(
        "work",
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), server_default="accepted", nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('turn', 'node')", name=op.f("ck_work_kind_known")),
        sa.CheckConstraint(
            "stage IN ('accepted', 'ingested', 'embedded', 'done', 'failed')",
            name=op.f("ck_work_stage_known"),
        ),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_work")),
        schema="longtail",
    )
    op.create_index(
        "ix_work_claim",
        "work",
        ["stage", "seq"],
        unique=False,
        schema="longtail",
        postgresql_where=sa.text("stage IN ('accepted', 'ingested', 'embedded')"),
    )
    op.create_index(
        "ix_work_pending_of_namespace",
        "work",
        ["tenant_id", "namespace", "accepted_at"],
        unique=False,
        schema="longtail",
        postgresql_where=sa.text("stage IN ('accepted', 'ingested', 'embedded')"),
    )
    op.create_table(
        "document_nodes",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("tier", sa.SmallInteger(), nullable=False),
        sa.Column("start_byte", sa.Integer(), nullable=False),
        sa.Column("end_byte", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("heading_path", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("modalities", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("links", postgresql.JSONB(astext_type=sa.Text()), server_default="[]", nullable=False),
        sa.CheckConstraint("tier BETWEEN 0 AND 2", name=op.f("ck_document_nodes_tier_known")),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["longtail.documents.id"],
            name=op.f("fk_document_nodes_document_id_documents"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document_nodes")),
        sa.UniqueConstraint("document_id", "position", name=op.f("uq_document_nodes_document_id_position")),
        schema="longtail",
    )
    op.create_table(
        "embeddings_minilm",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("window_no", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=True),
        sa.Column("seq", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("embedding", HALFVEC(dim=384), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"],
            ["longtail.items.id"],
            name=op.f("fk_embeddings_minilm_item_id_items"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("item_id", "window_no", name=op.f("pk_embeddings_minilm")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_embeddings_minilm_tenant_id_namespace_kind"),
        "embeddings_minilm",
        ["tenant_id", "namespace", "kind"],
        unique=False,
        schema="longtail",
    )
    op.create_table(
        "embeddings_toy",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("window_no", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=True),
        sa.Column("seq", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("embedding", HALFVEC(dim=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"],
            ["longtail.items.id"],
            name=op.f("fk_embeddings_toy_item_id_items"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("item_id", "window_no", name=op.f("pk_embeddings_toy")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_embeddings_toy_tenant_id_namespace_kind"),
        "embeddings_toy",
        ["tenant_id", "namespace", "kind"],
        unique=False,
        schema="longtail",
    )
    op.create_table(
        "sessions",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=True),
        sa.Column("session_key", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.Column("next_position", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column(
            "last_turn_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.CheckConstraint(
            "char_length(session_id) BETWEEN 1 AND 512", name=op.f("ck_sessions_session_id_length")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["longtail.tenants.id"], name=op.f("fk_sessions_tenant_id_tenants")
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", name=op.f("pk_sessions")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_sessions_tenant_id_namespace"),
        "sessions",
        ["tenant_id", "namespace"],
        unique=False,
        schema="longtail",
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("token_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("scopes", sa.ARRAY(sa.Text()), server_default="{read,write}", nullable=False),
        sa.Column("namespace", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["longtail.tenants.id"], name=op.f("fk_tokens_tenant_id_tenants")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_tokens_token_sha256")),
        schema="longtail",
    )
    op.create_table(
        "turns",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("host_message_id", sa.Text(), nullable=True),
        sa.Column("dedup_key", sa.Text(), nullable=False),
        sa.Column("content_sha256", sa.LargeBinary(), nullable=False),
        sa.Column("ts", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("accepted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("metadata", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.CheckConstraint(
            "role IN ('user', 'assistant', 'system', 'tool')", name=op.f("ck_turns_role_known")
        ),
        sa.CheckConstraint("octet_length(content) BETWEEN 1 AND 4194304", name=op.f("ck_turns_content_size")),
        sa.CheckConstraint("octet_length(content_sha256) = 32", name=op.f("ck_turns_content_sha256_length")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["longtail.sessions.tenant_id", "longtail.sessions.session_id"],
            name=op.f("fk_turns_tenant_id_session_id_sessions"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
        sa.UniqueConstraint(
            "tenant_id", "session_id", "dedup_key", name=op.f("uq_turns_tenant_id_session_id_dedup_key")
        ),
        sa.UniqueConstraint(
            "tenant_id", "session_id", "position", name=op.f("uq_turns_tenant_id_session_id_position")
        ),
        schema="longtail",
    )
    op.create_table(
        "feedback",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("assembly_id", sa.Text(), server_default="", nullable=False),
        sa.Column("is_useful", sa.Boolean(), nullable=False),
        sa.Column("given_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["turn_id"], ["longtail.turns.id"], name=op.f("fk_feedback_turn_id_turns")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback")),
        sa.UniqueConstraint(
            "tenant_id", "item_id", "assembly_id", name=op.f("uq_feedback_tenant_id_item_id_assembly_id")
        ),
        schema="longtail",
    )
    op.create_table(
        "gate_decisions",
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("keep", sa.Boolean(), nullable=False),
        sa.Column("threshold", sa.Double(), nullable=False),
        sa.Column("g", sa.Double(), nullable=False),
        sa.Column("t", sa.Double(), nullable=False),
        sa.Column("h", sa.Double(), nullable=False),
        sa.Column("r", sa.Double(), nullable=False),
        sa.Column("d", sa.Double(), nullable=False),
        sa.Column("input_freq", sa.Double(), nullable=False),
        sa.Column("mem_saturation", sa.Double(), nullable=False),
        sa.Column("p", sa.Double(), nullable=False),
        sa.Column("a", sa.Double(), nullable=False),
        sa.Column("dtech", sa.Double(), nullable=False),
        sa.Column("gconv", sa.Double(), nullable=False),
        sa.Column("gtech", sa.Double(), nullable=False),
        sa.Column("reasons", sa.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=True),
        sa.Column("is_reinforcement", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["longtail.turns.id"], name=op.f("fk_gate_decisions_turn_id_turns")
        ),
        sa.PrimaryKeyConstraint("turn_id", name=op.f("pk_gate_decisions")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_gate_decisions_tenant_id_namespace_decided_at"),
        "gate_decisions",
        ["tenant_id", "namespace", "decided_at"],
        unique=False,
        schema="longtail",
    )
    op.create_table(
        "guidance",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("collection", sa.Text(), nullable=False),
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("modalities", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("stability_weight", sa.Double(), nullable=False),
        sa.Column("stated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("superseded_by", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(["turn_id"], ["longtail.turns.id"], name=op.f("fk_guidance_turn_id_turns")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_guidance")),
        sa.UniqueConstraint("turn_id", name=op.f("uq_guidance_turn_id")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_guidance_tenant_id_collection_stated_at"),
        "guidance",
        ["tenant_id", "collection", "stated_at"],
        unique=False,
        schema="longtail",
    )
    op.create_table(
        "memories",
        sa.Column("id", sa.Uuid(), server_default=sa.text("uuidv7()"), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("gate_score", sa.Double(), nullable=False),
        sa.Column("mention_count", sa.Integer(), server_default="1", nullable=False),
        sa.Column(
            "first_seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column(
            "last_seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.ForeignKeyConstraint(["turn_id"], ["longtail.turns.id"], name=op.f("fk_memories_turn_id_turns")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memories")),
        sa.UniqueConstraint("turn_id", name=op.f("uq_memories_turn_id")),
        schema="longtail",
    )
    op.create_index(
        op.f("ix_memories_tenant_id_namespace"),
        "memories",
        ["tenant_id", "namespace"],
        unique=False,
        schema="longtail",
    )
    op.create_table(
        "memory_sources",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("memory_id", sa.Uuid(), nullable=False),
        sa.Column("turn_id", sa.Uuid(), nullable=False),
        sa.Column("similarity", sa.Double(), nullable=False),
        sa.Column("linked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["memory_id"], ["longtail.memories.id"], name=op.f("fk_memory_sources_memory_id_memories")
        ),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["longtail.turns.id"], name=op.f("fk_memory_sources_turn_id_turns")
        ),
        sa.PrimaryKeyConstraint("memory_id", "turn_id", name=op.f("pk_memory_sources")),
        schema="longtail",
    )
