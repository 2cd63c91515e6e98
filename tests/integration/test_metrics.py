"""What Prometheus reads: true numbers, no tenant, no text."""

import re
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families


def scrape(tenant: Any) -> dict[tuple[str, str], float]:
    answer = httpx.get(f"{tenant.client.url}/metrics", timeout=10)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, next(iter(sample.labels.values()), "")): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_parts_and_backlog_are_told_without_a_token(tenant: Any) -> None:
    tenant.client.post_turns(
        "metered", [{"role": "user", "content": "a secret word", "id": "m1"}], user_id="ann"
    )
    tenant.settle()
    found = scrape(tenant)
    assert found["longtail_up", "postgres"] == found["longtail_up", "encoder"] == 1
    assert {stage for name, stage in found if name == "longtail_pending"} == {
        "accepted",
        "ingested",
        "embedded",
    }
    assert found["longtail_lag_seconds", ""] >= 0


def test_a_violation_of_lineage_is_seen_in_the_metrics(tenant: Any) -> None:
    before = scrape(tenant).get(("longtail_lineage_violations", ""), 0.0)
    statement = (
        "INSERT INTO longtail.lineage_checks (tenant_id, sessions, summaries, turns, violations, kinds, seconds) "
        "VALUES (:tenant, 1, 1, 1, 3, '{}', 0.1) RETURNING 1"
    )
    assert tenant.one(statement) == 1
    try:
        assert scrape(tenant)["longtail_lineage_violations", ""] == before + 3
    finally:
        tenant.one("DELETE FROM longtail.lineage_checks WHERE tenant_id = :tenant RETURNING 1")


def test_no_tenant_and_no_text_is_in_the_metrics(tenant: Any) -> None:
    tenant.client.post_turns(
        "hush", [{"role": "user", "content": "xyzzyword", "id": "m1"}], user_id="ann-the-user"
    )
    shown = httpx.get(f"{tenant.client.url}/metrics", timeout=10).text
    assert not re.search("xyzzyword|ann-the-user|hush", shown)
    assert tenant.name not in shown
