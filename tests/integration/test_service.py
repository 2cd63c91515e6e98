"""Claims about the service itself: health, documentation without outside assets, schema, fingerprints, logs."""

import json
import re
from typing import Any

import httpx
import pytest
from sqlalchemy import CheckConstraint, Engine, text
from sqlalchemy.exc import IntegrityError

from models.errors import Misconfigured
from models.migrations.run import find_drift, migrate
from models.store.engine import plain_transaction
from models.tables import metadata


def test_health_and_readiness_answer_without_a_token(stack: Any) -> None:
    url = stack.settings.service_url()
    assert httpx.get(url + "/healthz").json() == {"status": "ok"}
    ready = httpx.get(url + "/readyz")
    assert ready.status_code == 200
    assert ready.json() == {"ready": True, "parts": {"encoder": "ok", "postgres": "ok", "redis": "ok"}}


def test_the_documentation_page_fetches_nothing_from_outside(stack: Any) -> None:
    url = stack.settings.service_url()
    page = httpx.get(url + "/docs").text
    assets = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert assets
    for asset in assets:
        assert asset.startswith("/"), asset
        assert httpx.get(url + asset).status_code == 200
    assert "://" not in re.sub(r'"https?://www\.w3\.org[^"]*"', "", page)


def test_openapi_names_every_route_and_the_problem_shape(stack: Any) -> None:
    document = httpx.get(stack.settings.service_url() + "/openapi.json").json()
    assert {"/v1/sessions/{session_id}/turns", "/v1/assemble", "/v1/search", "/v1/documents/{name}"} <= set(
        document["paths"]
    )
    assert "Problem" in document["components"]["schemas"]


def test_the_service_listens_on_loopback_only(stack: Any) -> None:
    assert stack.settings.service_url().startswith("http://127.0.0.1:")


def test_migrations_and_tables_agree(stack: Any) -> None:
    assert find_drift(stack.owner_url) is None


def test_the_database_keeps_every_check_that_the_tables_declare(owner: Engine) -> None:
    declared = {
        str(constraint.name)
        for table in metadata.tables.values()
        for holder in (table, *table.columns)
        for constraint in holder.constraints
        if isinstance(constraint, CheckConstraint)
    }
    with plain_transaction(owner) as connection:
        kept = connection.execute(
            text(
                "SELECT conname FROM pg_constraint"
                " WHERE contype = 'c' AND convalidated AND connamespace = 'longtail'::regnamespace"
            )
        ).scalars()
        assert set(kept) == declared


@pytest.mark.parametrize("score", ["1.0000001", "-0.0000001", "'NaN'", "'Infinity'"])
def test_the_database_refuses_a_gate_decision_whose_score_is_no_share(tenant: Any, score: str) -> None:
    tenant.say("s", "I prefer tea")
    tenant.settle()
    changed = f"UPDATE longtail.gate_decisions SET g = {score} WHERE tenant_id = :tenant"
    with pytest.raises(IntegrityError, match="ck_gate_decisions_g_in_0_1"):
        tenant.rows(changed)


def test_migrating_again_changes_nothing(tenant: Any) -> None:
    tenant.say("s", "kept")
    migrate(tenant.stack.owner_url)
    assert tenant.one("SELECT content FROM longtail.turns WHERE tenant_id = :tenant") == "kept"


def test_the_schema_of_a_newer_version_is_refused_in_words(tenant: Any) -> None:
    ours = tenant.one("SELECT version_num FROM longtail.alembic_version")
    newer = "UPDATE longtail.alembic_version SET version_num = :number RETURNING version_num"
    tenant.rows(newer, number="9999")
    try:
        with pytest.raises(Misconfigured, match=f"a newer Longtail .9999.; this one knows up to {ours}"):
            migrate(tenant.stack.owner_url)
    finally:
        tenant.rows(newer, number=ours)


def test_another_model_under_the_same_name_is_refused_with_the_remedy(tenant: Any) -> None:
    with plain_transaction(tenant.owner) as connection:
        real = connection.execute(
            text("SELECT digest FROM longtail.encoders WHERE name = 'minilm'")
        ).scalar_one()
        connection.execute(
            text("UPDATE longtail.encoders SET digest = repeat('0', 64) WHERE name = 'minilm'")
        )
    try:
        with pytest.raises(Misconfigured, match="filled by 000000000000") as refused:
            migrate(tenant.stack.owner_url)
        assert refused.value.code == "encoder_mismatch"
        assert "LONGTAIL_ENCODER" in (refused.value.remedy or "")
    finally:
        with plain_transaction(tenant.owner) as connection:
            connection.execute(
                text("UPDATE longtail.encoders SET digest = :d WHERE name = 'minilm'"), {"d": real}
            )


def test_logs_are_json_lines_without_memory_text(tenant: Any) -> None:
    secret = "the walrus password is hunter2-xyzzy"
    tenant.say("s", secret)
    tenant.settle()
    tenant.client.assemble(session_id="s", query=secret, budget_tokens=500)
    logs = list((tenant.stack.home / "logs").glob("*.log"))
    assert logs
    assert all("hunter2-xyzzy" not in log.read_text(errors="replace") for log in logs)
    for part in ("api", "worker-embed", "worker-pipeline", "worker-compact", "beat"):
        lines = (tenant.stack.home / "logs" / f"{part}.log").read_text().splitlines()
        lines = [line for line in lines if line.startswith("{")]  # Celery warns root in words of its own
        assert lines
        assert all("event" in json.loads(line) for line in lines), part
