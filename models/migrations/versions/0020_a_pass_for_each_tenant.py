"""A service role acts for a tenant whose pass it was given, not for one that it names.

Revision: 0020, after 0018
"""

from alembic import op

revision = "0020"
down_revision = "0018"


def upgrade() -> None:
    """Every tenant gets one; what hands passes out returns more than before, which cannot be changed in place."""
    op.execute(
        "CREATE TABLE longtail.passes ("
        "tenant uuid NOT NULL, secret uuid DEFAULT gen_random_uuid() NOT NULL, "
        "seal bytea GENERATED ALWAYS AS (sha256(uuid_send(secret))) STORED NOT NULL, "
        "CONSTRAINT pk_passes PRIMARY KEY (tenant), CONSTRAINT uq_passes_seal UNIQUE (seal), "
        "CONSTRAINT fk_passes_tenant_tenants FOREIGN KEY (tenant) REFERENCES longtail.tenants (id) ON DELETE CASCADE)"
    )
    op.execute("INSERT INTO longtail.passes (tenant) SELECT id FROM longtail.tenants")
    _drop_functions()


def _drop_functions() -> None:
    op.execute("DROP FUNCTION IF EXISTS longtail.claim_work(text, integer, interval)")
    op.execute("DROP FUNCTION IF EXISTS longtail.compacted_tenants()")
