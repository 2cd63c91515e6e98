"""Claims about what a turn costs: one counter, wherever the number is shown."""

from typing import Any

from models.domain.prompt.tokens import CharsCounter

CHINESE = "我们明天早上九点在火车站见面" * 9


def test_a_session_costs_what_the_counter_says_before_and_after_its_turns_are_indexed(tenant: Any) -> None:
    said = CharsCounter().count(CHINESE)
    tenant.say("s", CHINESE, user_id="ann")
    assert tenant.client.call("GET", "/v1/sessions/s")["tokens"] == said
    tenant.settle()
    assert tenant.client.call("GET", "/v1/sessions/s")["tokens"] == said
    assert tenant.one("SELECT tokens FROM longtail.turns WHERE tenant_id = :tenant") == said


def test_reports_name_the_signals_of_the_gate_in_words(tenant: Any) -> None:
    columns = {
        row.attname
        for row in tenant.rows(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'reporting.gate'::regclass AND attnum > 0"
        )
    }
    assert {"novelty", "repetition", "specificity", "actionability", "technical_density"} <= columns
    assert not {name for name in columns if len(name) == 1}
