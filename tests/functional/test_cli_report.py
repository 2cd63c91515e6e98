"""Claims about reports: their numbers are those counted another way, they say what they mean, and hold no words."""

import csv
import io
import json
from typing import Any

import pytest
from sqlalchemy import text

from api.stack.throwaway import await_true
from models.store.engine import plain_transaction

FACT = "My sister Ines moved to Porto on 3 May and works as a nurse."


def run(tenant: Any, *arguments: str, check: bool = True, columns: int = 200) -> Any:
    return tenant.stack.run(("report", *arguments), check=check, COLUMNS=str(columns))


def read(tenant: Any, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(run(tenant, name, "--tenant", tenant.name, "--json").stdout)
    return rows


@pytest.fixture(scope="module")
def lived(stack: Any, owner: Any, tenant_on: Any) -> Any:
    """A tenant that talked, asked twice and has rules."""
    tenant = tenant_on(stack, owner)
    tenant.client.put_document("rules.md", "- Never delete the archive.\n- Always ask first.")
    tenant.say(
        "old",
        FACT,
        *[f"Ticket {n} of the Porto office was about the printer." for n in range(12)],
        user_id="ann",
    )
    tenant.settle()
    tenant.client.compact("old", wait=True, force=True)
    asked = [
        tenant.client.assemble(
            session_id="new", query="where does my sister live?", budget_tokens=600, user_id="ann"
        )
        for _ in range(2)
    ]
    receipts = "SELECT count(*) FROM longtail.assemblies WHERE tenant_id = :tenant"
    await_true(lambda: tenant.one(receipts) == 2, told="receipts are written within seconds of their answers")
    tenant.asked = asked
    yield tenant
    tenant.client.__exit__()
    for engine in tenant.engines.values():
        engine.dispose()


def test_a_day_of_the_gate_adds_up_to_its_decisions(lived: Any) -> None:
    days = read(lived, "gate_daily")
    decided = lived.one("SELECT count(*) FROM longtail.gate_decisions WHERE tenant_id = :tenant")
    kept = lived.one("SELECT count(*) FROM longtail.gate_decisions WHERE tenant_id = :tenant AND keep")
    assert sum(day["decisions"] for day in days) == decided == 13
    assert sum(day["kept"] for day in days) == kept
    assert days[0]["keep_rate"] == pytest.approx(kept / decided, abs=0.001)


def test_growth_and_usage_count_what_was_said_and_kept(lived: Any) -> None:
    memories = len(lived.client.call("GET", "/v1/memories", params={"user_id": "ann"})["memories"])
    growth = read(lived, "memory_growth")
    assert sum(day["new_turns"] for day in growth) == 13
    assert growth[0]["memories"] == memories > 0
    (used,) = read(lived, "usage")
    assert (used["turns"], used["memories"], used["documents"], used["receipts"]) == (13, memories, 1, 2)


def test_what_reached_a_prompt_is_most_recalled_and_the_rest_never(lived: Any) -> None:
    recalled = {row["memory_id"]: row["prompts"] for row in read(lived, "most_recalled")}
    never = {row["memory_id"] for row in read(lived, "never_recalled")}
    turns_in_prompts = [
        {turn for item in answer["items"] if item["tier"] == "recall" for turn in item["source_turn_ids"]}
        for answer in lived.asked
    ]
    expected: dict[str, int] = {}
    for row in lived.rows("SELECT id, turn_id FROM longtail.memories WHERE tenant_id = :tenant"):
        times = sum(str(row.turn_id) in turns for turns in turns_in_prompts)
        if times:
            expected[str(row.id)] = times
    assert expected
    assert expected.items() <= recalled.items()
    assert not recalled.keys() & never
    everything = lived.one("SELECT count(*) FROM longtail.memories WHERE tenant_id = :tenant")
    assert len(recalled) + len(never) == everything


def test_prompts_are_counted_with_their_budget_and_their_stable_beginning(lived: Any) -> None:
    (day,) = read(lived, "assembly_daily")
    shares = [answer["budget"]["used"] / answer["budget"]["total"] for answer in lived.asked]
    assert day["assemblies"] == 2
    assert day["used_share"] == pytest.approx(sum(shares) / 2, abs=0.001)
    (cache,) = read(lived, "prompt_cache")
    first, second = (answer["stable"]["sha256"] for answer in lived.asked)
    assert (cache["follow_up_prompts"], cache["unchanged_prompts"]) == (1, int(first == second))


def test_rules_compaction_and_lag_are_reported(lived: Any) -> None:
    hard = [row for row in read(lived, "rules_in_force") if row["tier"] == "hard"]
    assert [(row["origin"], row["rules"]) for row in hard] == [("rules.md", 2)]
    (yielded,) = read(lived, "compaction_yield")
    assert yielded["saved_share"] == pytest.approx(
        1 - yielded["summary_tokens"] / yielded["source_tokens"], abs=0.001
    )
    lag = read(lived, "lag_hourly")
    assert sum(hour["still_waiting"] for hour in lag) == 0
    assert all(hour["p95_seconds"] >= hour["p50_seconds"] >= 0 for hour in lag)


def test_sessions_summaries_and_waiting_work_are_those_of_the_api(lived: Any) -> None:
    sessions = {row["session_id"]: row for row in read(lived, "sessions")}
    told = lived.client.call("GET", "/v1/sessions")["sessions"]
    assert {one["session_id"]: one["turns"] for one in told} == {
        name: row["turns"] for name, row in sessions.items()
    }
    summaries = [row for row in read(lived, "summaries") if row["level"] == 1]
    covered: list[str] = []
    for row in summaries:
        below = lived.client.expand(row["id"], depth=9)
        covered += [turn["id"] for turn in below["turns"]]
    assert sorted(covered) == sorted(set(covered)), "no turn is under two summaries of one level"
    (yielded,) = read(lived, "compaction_yield")
    assert (yielded["summaries"], yielded["covered_turns"]) == (len(summaries), len(covered))
    said = lived.rows("SELECT id, tokens FROM longtail.turns WHERE tenant_id = :tenant")
    assert yielded["source_tokens"] == sum(turn.tokens for turn in said if str(turn.id) in covered)
    assert [row["session_id"] for row in read(lived, "compaction") if row["active_summaries"]] == ["old"]
    waiting = {row["stage"]: row["items"] for row in read(lived, "pipeline")}
    assert sum(waiting.values()) - waiting.get("done", 0) == lived.client.status()["pending"] == 0


def test_every_report_and_every_column_says_what_it_means(lived: Any) -> None:
    silent = lived.rows(
        "SELECT relname, attname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 "
        "WHERE relnamespace = 'reporting'::regnamespace AND (col_description(attrelid, attnum) IS NULL "
        "OR obj_description(attrelid, 'pg_class') IS NULL)"
    )
    assert silent == []
    listed = json.loads(run(lived, "--json").stdout)
    assert len(listed) >= 12
    assert all(one["means"] for one in listed)


def test_a_report_is_a_table_for_people_and_csv_for_spreadsheets(lived: Any) -> None:
    drawn = run(lived, "gate_daily", "--tenant", lived.name).stdout
    assert "keep_rate" in drawn
    assert "█" in drawn
    rows = list(csv.DictReader(io.StringIO(run(lived, "usage", "--tenant", lived.name, "--csv").stdout)))
    assert [row["turns"] for row in rows] == ["13"]
    assert "no rows" in run(lived, "dead_letters", "--tenant", lived.name).stdout


def test_in_a_narrow_terminal_no_word_and_no_number_is_broken(lived: Any) -> None:
    for name in ("gate", "usage", "assembly_daily"):
        asked = (name, "--tenant", lived.name, "--limit", "2")
        drawn = run(lived, *asked, columns=80).stdout
        assert max(map(len, drawn.splitlines())) <= 80
        for row in csv.DictReader(io.StringIO(run(lived, *asked, "--csv").stdout)):
            whole = [value for value in row.values() if len(value) <= 50]
            assert not [value for value in whole if value not in drawn], name


def test_charts_fit_a_narrow_terminal_and_one_tenant_is_named_once(lived: Any) -> None:
    for name in ("gate_daily", "lag_hourly", "memory_growth", "prompt_cache"):
        drawn = run(lived, name, "--tenant", lived.name, columns=80).stdout
        assert "█" in drawn, name
        assert drawn.count(lived.name) == 1, name


def test_an_unknown_report_ends_with_2_and_names_those_there_are(lived: Any) -> None:
    wrong = run(lived, "gate_dayly", check=False)
    assert wrong.returncode == 2
    assert "gate_daily" in wrong.stderr


def test_the_printed_connection_opens_the_reports_and_no_words(lived: Any) -> None:
    line = run(lived, "--connection").stdout
    assert line.startswith("psql ")
    assert "longtail_report" in line
    with plain_transaction(lived.as_role("longtail_report")) as connection:
        for one in json.loads(run(lived, "--json").stdout):
            for row in connection.execute(text(f"SELECT * FROM reporting.{one['name']}")):
                assert "Ines" not in str(row)


def test_a_missing_part_a_dead_letter_and_junk_are_counted(lived: Any) -> None:
    answer = lived.client.assemble(
        session_id="new", query="and her job?", budget_tokens=600, user_id="ann", deadline_ms=1
    )
    assert answer["degraded"]
    lived.rows(
        "INSERT INTO longtail.dead_letters (tenant_id, item_id, stage, reason, attempts) SELECT tenant_id, id, "
        "'embedded', 'RuntimeError: refused', 5 FROM longtail.turns WHERE tenant_id = :tenant LIMIT 1 RETURNING 1"
    )
    lived.client.explain(answer["assembly_id"])  # waits until the receipt is written
    codes = {row["code"]: row["answers"] for row in read(lived, "degraded_codes")}
    assert codes == dict.fromkeys({one["code"] for one in answer["degraded"]}, 1)
    assert sum(day["degraded_answers"] for day in read(lived, "assembly_daily")) == 1
    (letter,) = read(lived, "dead_letters")
    assert (letter["stage"], letter["attempts"]) == ("embedded", 5)
    memory = lived.client.call("GET", "/v1/memories", params={"user_id": "ann"})["memories"][0]
    lived.client.call("POST", "/v1/feedback", json={"labels": [{"id": memory["id"], "useful": False}]})
    assert memory["id"] in {row["memory_id"] for row in read(lived, "junk_candidates")}
