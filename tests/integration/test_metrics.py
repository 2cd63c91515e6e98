"""What Prometheus reads: true numbers, no tenant, no text."""

import re
import time
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from api.stack.throwaway import await_true


def scrape(tenant: Any) -> dict[tuple[str, str], float]:
    answer = httpx.get(f"{tenant.client.url}/metrics", timeout=300)
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
    shown = httpx.get(f"{tenant.client.url}/metrics", timeout=300).text
    assert not re.search("xyzzyword|ann-the-user|hush", shown)
    assert tenant.name not in shown


def totals(tenant: Any) -> dict[tuple[str, ...], float]:
    """Every sample by its name and the values of its labels, in order of their names."""
    answer = httpx.get(f"{tenant.client.url}/metrics", timeout=300)
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def settle_everybody(tenant: Any) -> None:
    waiting = "SELECT count(*) FROM longtail.work WHERE stage NOT IN ('done', 'failed')"
    await_true(lambda: not tenant.one(waiting))
    time.sleep(1.5)  # the last tasks of others hand over what they counted


def test_what_is_counted_is_what_happened(tenant: Any) -> None:
    settle_everybody(tenant)
    before = totals(tenant)
    said = [f"My locker number {n} is at the north harbour, and I rent it until June." for n in range(12)]
    tenant.say("counted", *said, user_id="ann")
    tenant.say("counted", "Noted.", role="assistant", user_id="ann")
    tenant.settle()
    for _ in range(3):
        answer = tenant.client.assemble(
            session_id="counted", query="locker", budget_tokens=2000, user_id="ann"
        )
    decided = tenant.rows(
        "SELECT CASE WHEN is_reinforcement THEN 'reinforced' WHEN memory_id IS NOT NULL THEN 'kept' ELSE 'dropped' END, "
        "count(*) FROM longtail.gate_decisions WHERE tenant_id = :tenant GROUP BY 1"
    )

    def grown(*name: str) -> float:
        return totals(tenant).get(name, 0.0) - before.get(name, 0.0)

    def count_told() -> float:
        return sum(grown("longtail_gate_decisions_total", outcome) for outcome, _ in decided)

    await_true(lambda: count_told() >= len(said), told="workers hand over when a task ends")
    for outcome, count in decided:
        assert grown("longtail_gate_decisions_total", outcome) == count
    assert grown("longtail_turns_total", "accepted") == 13
    assert grown("longtail_searchable_seconds_count") == 13
    assert grown("longtail_stage_items_total", "ingested") == 13
    assert grown("longtail_encoder_texts_total") == 13
    assert grown("longtail_assemble_seconds_count") == 3
    assert grown("longtail_prompt_tokens_total", "given") == 6000
    assert grown("longtail_prompt_tokens_total", "used") == 3 * answer["budget"]["used"]
    assert grown("longtail_prompt_prefixes_total", "yes") == 2
    assert grown("longtail_request_seconds_count", "2xx", "/v1/sessions/{session_id}/turns") == 2
    assert grown("longtail_task_seconds_count", "success", "memory.embed_pending") >= 1
    assert totals(tenant)["longtail_task_ended", "memory.sweep"] > time.time() - 60


def test_an_unknown_path_is_no_label_of_its_own(tenant: Any) -> None:
    httpx.get(f"{tenant.client.url}/nothing/of/ours-xyzzy", timeout=300)
    found = totals(tenant)
    assert found["longtail_request_seconds_count", "4xx", "none"] >= 1
    assert not any("xyzzy" in part for name in found for part in name)
