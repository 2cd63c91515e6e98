"""A lexical index with BM25 statistics, and an index for nearest neighbours.

A memory is no longer a second copy of its turn in the search index: it is the item of its turn.

Revision: 0002, after 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

ENCODERS = ("minilm", "toy")


def upgrade() -> None:
    op.create_table(
        "namespaces",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("item_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("word_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_namespaces")),
        sa.UniqueConstraint("tenant_id", "namespace", name=op.f("uq_namespaces_tenant_id_namespace")),
        schema="longtail",
    )
    op.create_table(
        "lexicon",
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("item_count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("namespace_id", "term", name=op.f("pk_lexicon")),
        schema="longtail",
    )
    op.create_table(
        "postings",
        sa.Column("namespace_id", sa.Integer(), nullable=False),
        sa.Column("term", sa.Text(), nullable=False),
        sa.Column("impact", sa.REAL(), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        schema="longtail",
    )
    op.create_index(
        "ix_postings_by_impact",
        "postings",
        ["namespace_id", "term", sa.text("impact DESC")],
        schema="longtail",
        postgresql_include=["item_id"],
    )
    op.drop_index("ix_items_lexemes", table_name="items", schema="longtail")
    op.drop_index("ix_items_identifiers", table_name="items", schema="longtail")
    op.drop_column("items", "lexemes", schema="longtail")
    op.add_column(
        "items",
        sa.Column("word_count", sa.Integer(), server_default="0", nullable=False),
        schema="longtail",
    )
    # The index is derived: what it held is made again by the pipeline, from the raw turns and the documents.
    op.execute("DELETE FROM longtail.items")
    op.execute(
        "UPDATE longtail.work SET stage = 'accepted', attempts = 0, not_before = now() WHERE stage <> 'failed'"
    )
    op.drop_constraint(op.f("ck_items_kind_known"), "items", schema="longtail")
    op.create_check_constraint(
        op.f("ck_items_kind_known"), "items", "kind IN ('turn', 'rule', 'lore', 'summary')", schema="longtail"
    )
    for encoder in ENCODERS:
        op.create_index(
            f"ix_embeddings_{encoder}_nearest",
            f"embeddings_{encoder}",
            ["embedding"],
            schema="longtail",
            postgresql_using="hnsw",
            postgresql_ops={"embedding": "halfvec_cosine_ops"},
        )
