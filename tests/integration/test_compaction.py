"""Claims about compaction: older turns are covered, nothing is lost, and the same work is never done twice."""

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from api.stack.throwaway import await_true
from bench.texts import make_texts
from models.encoders.registry import load_encoder
from models.encoders.toy import ToyEncoder
from models.errors import Forbidden, InvalidInput, NotFound, TransientError
from models.settings import Settings
from models.store.compaction.progress import advance_generation, claim_due, recount_session, session_lock
from models.store.compaction.summaries import find_coverage
from models.store.engine import one_round_trip, plain_transaction, tenant_transaction
from workers.compaction.pace import Pace
from workers.compaction.passes import compact_session

SUMMARIES = "SELECT * FROM longtail.summaries WHERE tenant_id = :tenant ORDER BY level, first_position"
COVERED = "SELECT count(*) FROM longtail.summary_turns WHERE tenant_id = :tenant"


def talk(tenant: Any, count: int, *, session: str = "s", seed: int = 7, **identity: str | None) -> list[str]:
    """Send `count` turns, user and assistant by turns; returns their ids."""
    turns = [
        {"role": "user" if number % 2 == 0 else "assistant", "content": said}
        for number, said in enumerate(make_texts(count, seed=seed))
    ]
    accepted: list[str] = []
    for start in range(0, count, 200):
        accepted += tenant.client.post_turns(session, turns[start : start + 200], **identity)["accepted"]
    return accepted


def verify(tenant: Any) -> dict[str, Any]:
    report: dict[str, Any] = tenant.client.verify_lineage()
    return report


def test_a_forced_compaction_covers_everything_but_the_base_tail(tenant: Any) -> None:
    ids = talk(tenant, 61)
    answer = tenant.client.compact("s", force=True)
    assert answer["did_compact"]
    assert answer["is_done"]
    assert answer["turns_covered"] == 56  # four turns, and the bundle they end in, stay
    assert answer["clusters_formed"] == len(answer["summary_ids"]) == 3
    assert 0 < answer["mean_confidence"] <= 1
    covered = {
        str(row.turn_id)
        for row in tenant.rows("SELECT turn_id FROM longtail.summary_turns WHERE tenant_id = :tenant")
    }
    assert covered == set(ids[:56])
    assert verify(tenant)["violations"] == []


def test_a_session_that_fits_its_tail_is_left_alone(tenant: Any) -> None:
    talk(tenant, 12)
    answer = tenant.client.compact("s")
    assert not answer["did_compact"]
    assert answer["is_done"]
    assert "tail" in answer["reason"]
    assert tenant.rows(SUMMARIES) == []


def test_raw_turns_are_the_same_before_and_after(tenant: Any) -> None:
    talk(tenant, 60)
    read = "SELECT turns.*, xmin::text FROM longtail.turns WHERE tenant_id = :tenant ORDER BY position"
    before = tenant.rows(read)
    tenant.client.compact("s", force=True)
    assert tenant.rows(read) == before


def test_compacting_again_changes_nothing(tenant: Any) -> None:
    talk(tenant, 60)
    tenant.client.compact("s", force=True)
    before = tenant.rows(SUMMARIES)
    again = tenant.client.compact("s", force=True)
    assert not again["did_compact"]
    assert tenant.rows(SUMMARIES) == before


def test_a_later_compaction_covers_what_came_since(tenant: Any) -> None:
    talk(tenant, 60)
    first = tenant.client.compact("s", force=True)
    talk(tenant, 40, seed=8)
    second = tenant.client.compact("s", force=True)
    assert second["turns_covered"] == 40
    assert not set(first["summary_ids"]) & set(second["summary_ids"])
    rows = tenant.rows(
        "SELECT prior_ids FROM longtail.summaries WHERE tenant_id = :tenant ORDER BY first_position"
    )
    assert rows[0].prior_ids == []
    assert all(row.prior_ids for row in rows[1:])  # each says what changed since the one before
    assert verify(tenant)["violations"] == []


def test_many_summaries_of_a_level_become_one_of_the_next(tenant: Any) -> None:
    talk(tenant, 245)
    answer = tenant.client.compact("s", force=True)
    rows = tenant.rows(SUMMARIES)
    low = [row for row in rows if row.level == 1]
    high = [row for row in rows if row.level == 2]
    assert len(low) >= 12  # growth alone may have started a compaction of its own: 12 or a little more
    assert high and all(row.is_active for row in high)
    assert sum(row.is_active for row in low) <= 8
    assert [row.is_active for row in low] == sorted(row.is_active for row in low)  # the oldest go first
    assert set(answer["summary_ids"]) <= {str(row.id) for row in rows}
    found = tenant.rows(
        "SELECT id, (SELECT count(*) FROM longtail.embeddings_minilm AS e WHERE e.item_id = items.id) AS vectors, "
        "(SELECT count(*) FROM longtail.postings AS p WHERE p.item_id = items.id) AS words "
        "FROM longtail.items WHERE tenant_id = :tenant AND kind = 'summary'"
    )
    assert {row.id for row in found} == {row.id for row in rows if row.is_active}
    assert all(row.vectors > 0 and row.words > 0 for row in found)
    assert verify(tenant)["violations"] == []


def test_a_summary_says_where_it_comes_from_and_how_good_it_is(tenant: Any) -> None:
    ids = talk(tenant, 45)
    answer = tenant.client.compact("s", force=True)
    shown = tenant.client.call("GET", f"/v1/summaries/{answer['summary_ids'][0]}")
    assert shown["source_turn_ids"] == ids[:20]
    assert (shown["level"], shown["method"], shown["backend"]) == (1, "extractive", "extractive")
    assert shown["tokens"] < shown["source_tokens"]
    assert shown["decay"] == pytest.approx(1 - shown["confidence"])
    assert (shown["first_position"], shown["last_position"], shown["turn_count"]) == (0, 19, 20)
    assert shown["earliest_at"] <= shown["latest_at"] <= shown["made_at"]


def test_expanding_returns_every_raw_turn_word_for_word(tenant: Any) -> None:
    ids = talk(tenant, 245)
    tenant.client.compact("s", force=True)
    roots = tenant.rows(
        "SELECT id FROM longtail.summaries WHERE tenant_id = :tenant AND is_active ORDER BY first_position"
    )
    turns = [turn for row in roots for turn in tenant.client.expand(str(row.id))["turns"]]
    assert [turn["id"] for turn in turns] == ids[: len(turns)]
    contents = {
        str(row.id): row.content
        for row in tenant.rows("SELECT id, content FROM longtail.turns WHERE tenant_id = :tenant")
    }
    assert all(contents[turn["id"]] == turn["content"] for turn in turns)
    high = str(
        tenant.one("SELECT id FROM longtail.summaries WHERE tenant_id = :tenant AND level = 2 LIMIT 1")
    )
    one = tenant.client.expand(high, depth=1)
    assert one["turns"] == []
    assert {below["level"] for below in one["summaries"]} == {1}
    page = tenant.client.call("GET", f"/v1/summaries/{high}/expand", params={"limit": 7})
    rest = tenant.client.expand(high, cursor=page["next_cursor"])
    assert len(page["turns"]) == 7
    assert page["turns"] + rest["turns"] == tenant.client.expand(high)["turns"]


@pytest.mark.parametrize("is_embedded", [True, False])
def test_a_rule_is_kept_word_for_word_as_guidance_and_left_out_of_the_summary(
    tenant: Any, is_embedded: bool
) -> None:
    rule = "From now on, never deploy the billing export on a Friday."
    talk(tenant, 20, user_id="ann")
    tenant.say("s", rule, user_id="ann")
    talk(tenant, 30, seed=9, user_id="ann")
    tenant.settle()
    if not is_embedded:  # as if the turn were still on its way: no vector, and so no rule of it
        with plain_transaction(tenant.owner) as connection:
            for table in ("guidance", "embeddings_minilm"):
                connection.execute(
                    text(f"DELETE FROM longtail.{table} WHERE tenant_id = :tenant"), {"tenant": tenant.id}
                )
    tenant.client.compact("s", force=True)
    kept = tenant.rows("SELECT collection, body FROM longtail.guidance WHERE tenant_id = :tenant")
    assert [tuple(row) for row in kept] == [("elevated:user:ann", rule)]
    assert all("Friday" not in row.body for row in tenant.rows(SUMMARIES))
    edges = tenant.rows(
        "SELECT is_protected FROM longtail.summary_turns WHERE tenant_id = :tenant AND is_protected"
    )
    assert len(edges) == 1
    assert verify(tenant)["violations"] == []


def test_payloads_do_not_reach_the_summary_and_stay_in_the_turn(tenant: Any) -> None:
    payload = "QUJD" * 60
    tenant.say("s", *(f"Upload {n} of module_{n}.py holds {payload} at its end." for n in range(30)))
    tenant.client.compact("s", force=True)
    assert all(payload not in row.body for row in tenant.rows(SUMMARIES))
    assert len(tenant.client.grep(pattern=payload, limit=100)["matches"]) == 30


def test_recall_finds_summaries_and_the_turns_they_cover(tenant: Any) -> None:
    talk(tenant, 40, user_id="ann")
    tenant.say("s", "The boathouse key hangs behind the blue barometer.", user_id="ann")
    talk(tenant, 60, seed=11, user_id="ann")
    tenant.settle()
    tenant.client.compact("s", force=True)
    hits = tenant.client.search(query="where is the boathouse key?", user_id="ann", k=200)["results"]
    assert any(hit["kind"] == "turn" and "boathouse" in hit["text"] for hit in hits)
    about = "What did they say about the billing export, the staging cluster and the tax form?"
    hits = tenant.client.search(query=about, user_id="ann", k=200)["results"]
    assert any(hit["kind"] == "summary" for hit in hits)


def test_coverage_tells_which_recalled_turns_a_summary_stands_for(tenant: Any) -> None:
    ids = talk(tenant, 245)
    tenant.client.compact("s", force=True)
    roots = tenant.rows("SELECT id::text FROM longtail.summaries WHERE tenant_id = :tenant AND is_active")
    with one_round_trip(tenant.as_role("longtail_api"), tenant.id, timeout_ms=5000) as cursors:
        found = find_coverage(
            cursors,
            tenant_id=tenant.id,
            summary_ids=[row.id for row in roots],
            turn_ids=[*ids[:200:10], ids[-1]],
        ).fetchall()
    assert {one.summary_id for one in found} == {row.id for row in roots}
    told = [turn_id for coverage in found for turn_id in coverage.turn_ids]
    assert sorted(told) == sorted(ids[:200:10])  # each below exactly one root, the tail's below none
    assert all(0 < one.confidence <= 1 for one in found)


def test_the_worker_role_cannot_take_a_summary_or_an_edge_away(tenant: Any) -> None:
    talk(tenant, 45)
    tenant.client.compact("s", force=True)
    for statement in (
        "DELETE FROM summaries",
        "DELETE FROM summary_turns",
        "DELETE FROM summary_children",
        "UPDATE summaries SET body = 'x'",
        "UPDATE summary_turns SET tokens = 0",
        "DELETE FROM turns",
    ):
        with (
            pytest.raises(DBAPIError, match="permission denied"),
            tenant_transaction(tenant.as_role("longtail_worker"), tenant.id) as connection,
        ):
            connection.execute(text(statement))


def test_two_compactions_of_a_session_never_run_at_once(tenant: Any) -> None:
    talk(tenant, 100)
    tenant.settle()
    engine = tenant.as_role("longtail_worker")
    with session_lock(engine, tenant_id=tenant.id, session_id="s") as mine:
        assert mine
        with session_lock(engine, tenant_id=tenant.id, session_id="s") as other:
            assert not other
    outcomes: list[Any] = []
    encoder = load_encoder("minilm", threads=1)
    settings = Settings(tail_target=0.0)

    def run() -> None:
        outcomes.append(compact_session(engine, encoder, tenant.id, "s", settings=settings))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(outcome is not None and outcome.did_compact for outcome in outcomes) == 1
    assert tenant.one(COVERED) == 96
    assert verify(tenant)["violations"] == []


def test_a_compaction_that_was_overtaken_commits_nothing(tenant: Any) -> None:
    talk(tenant, 45)
    tenant.client.compact("s", force=True)
    generation = tenant.one("SELECT generation FROM longtail.compactions WHERE tenant_id = :tenant")
    with (
        pytest.raises(TransientError, match="another compaction"),
        tenant_transaction(tenant.as_role("longtail_worker"), tenant.id) as connection,
    ):
        advance_generation(connection, tenant_id=tenant.id, session_id="s", expected=generation - 1)


def test_a_compaction_that_is_always_cut_short_still_brings_its_levels_down(tenant: Any) -> None:
    talk(tenant, 110)  # too little for the stack's own worker to compact it first
    tenant.settle()
    settings = tenant.stack.settings.model_copy(update={"tail_target": 0.0, "compaction_pass_turns": 10})
    for _ in range(20):
        pace = Pace(share=1e-9, is_ingest_deep=lambda: True)  # one pass, then a rest of years
        outcome = compact_session(
            tenant.as_role("longtail_worker"), ToyEncoder(), tenant.id, "s", settings=settings, pace=pace
        )
        assert outcome is not None
        active = tenant.rows(f"SELECT level FROM ({SUMMARIES}) AS made WHERE is_active")
        assert sum(row.level == 1 for row in active) <= 9
        if outcome.is_done:
            break
    assert outcome.is_done
    assert {row.level for row in active} == {1, 2}


def test_a_deep_queue_slows_compaction_down_and_never_stops_it(tenant: Any) -> None:
    talk(tenant, 110)
    tenant.settle()
    settings = tenant.stack.settings.model_copy(update={"tail_target": 0.0, "compaction_pass_turns": 20})
    now = 0.0
    pace = Pace(share=0.25, is_ingest_deep=lambda: True, clock=lambda: now)
    covered = [0]
    for _ in range(8):
        outcome = compact_session(
            tenant.as_role("longtail_worker"), ToyEncoder(), tenant.id, "s", settings=settings, pace=pace
        )
        assert outcome is not None
        covered.append(tenant.one(COVERED))
        if outcome.is_done:
            break
        paused = tenant.one("SELECT not_before > now() FROM longtail.compactions WHERE tenant_id = :tenant")
        assert paused, "the session is offered again before its rest is over"
        now += pace.seconds_to_rest()
    assert covered == [0, 20, 40, 60, 80, 100, 106, 106]  # one pass each, whatever waits


def test_turns_still_on_their_way_are_left_to_the_pipeline(tenant: Any) -> None:
    ids = talk(tenant, 60)
    tenant.settle()
    # As if the pipeline had come to turn 29 and no further. Taken once already, and held: a row that nobody took is free,
    # and one that is held for an hour is a wrong clock's.
    hold = (
        "UPDATE longtail.work SET stage = 'ingested', attempts = 1, not_before = now() + make_interval(mins => :minutes) "
        "WHERE item_id = ANY(CAST(:ids AS uuid[]))"
    )
    with plain_transaction(tenant.owner) as connection:
        connection.execute(text(hold), {"ids": ids[30:], "minutes": 10})
    settings = tenant.stack.settings.model_copy(update={"tail_target": 0.0})
    given = (tenant.as_role("longtail_worker"), ToyEncoder(), tenant.id, "s")
    compact_session(*given, settings=settings, only_remembered=True)
    assert tenant.one(COVERED) == 30
    tenant.client.compact("s", force=True)  # asked for, it takes them all
    assert tenant.one(COVERED) == 56
    with plain_transaction(tenant.owner) as connection:
        connection.execute(text(hold), {"ids": ids[30:], "minutes": 0})
    tenant.settle()


def test_scans_at_the_same_time_never_send_a_session_twice(tenant: Any) -> None:
    for number in range(12):
        talk(tenant, 12, session=f"s{number}", seed=number)
    tenant.settle()
    engine = tenant.as_role("longtail_worker")
    found: list[str] = []
    together = threading.Barrier(4)

    def scan() -> None:
        together.wait()
        with plain_transaction(engine) as connection:
            due = claim_due(
                connection,
                threshold_tokens=1,
                tail_tokens=100,
                idle_seconds=3600.0,
                count=1000,
                count_unasked=1000,
                claim_seconds=5.0,
            )
        found.extend(one.session_id for one in due if one.tenant_id == tenant.id)

    threads = [threading.Thread(target=scan) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(f"s{number}" for number in range(12))


def test_two_beats_do_no_more_than_one(tenant: Any, tmp_path: Path) -> None:
    """A second beat beside the stack's own: ticks overlap, and every session is covered once."""
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "workers.app", "beat"]
    second = subprocess.Popen(
        [*command, "-s", str(tmp_path / "schedule"), "--pidfile="],
        env=tenant.stack.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for number in range(3):
            talk(tenant, 180, session=f"s{number}", seed=number)
        compacted = "SELECT count(DISTINCT session_id) FROM longtail.summaries WHERE tenant_id = :tenant"
        await_true(lambda: tenant.one(compacted) == 3, told="not every session was compacted")
        assert second.poll() is None, "the second beat did not stay up"
    finally:
        second.terminate()
        second.wait(300)
    tenant.settle()
    assert verify(tenant)["violations"] == []
    twice = tenant.rows(
        "SELECT session_id, level, first_position FROM longtail.summaries WHERE tenant_id = :tenant "
        "GROUP BY session_id, level, first_position HAVING count(*) > 1"
    )
    assert twice == []


def test_turns_on_their_way_are_not_counted_twice(tenant: Any) -> None:
    talk(tenant, 40)
    for _ in range(10):  # counting while the gate adds
        with tenant_transaction(tenant.as_role("longtail_worker"), tenant.id) as connection:
            recount_session(connection, tenant_id=tenant.id, session_id="s")
        time.sleep(0.05)
    tenant.settle()
    counted = tenant.one("SELECT uncompacted_tokens FROM longtail.compactions WHERE tenant_id = :tenant")
    assert counted == tenant.one(
        "SELECT sum(token_estimate) FROM longtail.items WHERE tenant_id = :tenant AND kind = 'turn'"
    )


def test_turns_of_two_namespaces_never_meet_in_one_summary(tenant: Any) -> None:
    talk(tenant, 30)  # the session's own namespace
    talk(tenant, 30, seed=12, user_id="ann")  # from here on it is known to be ann's
    tenant.client.compact("s", force=True)
    mixed = tenant.rows(
        "SELECT summary_id FROM longtail.summary_turns AS edge JOIN longtail.turns ON turns.id = edge.turn_id "
        "JOIN longtail.summaries ON summaries.id = edge.summary_id "
        "WHERE edge.tenant_id = :tenant AND turns.namespace <> summaries.namespace"
    )
    assert mixed == []
    assert {row.namespace for row in tenant.rows(SUMMARIES)} == {"ann", "session:s"}


def test_a_session_that_grew_past_the_threshold_is_compacted_by_itself(tenant: Any) -> None:
    talk(tenant, 260)  # some 9,000 tokens: more than the tail and the threshold
    await_true(lambda: tenant.rows(SUMMARIES), told="no summary was made")
    tenant.settle()
    assert verify(tenant)["violations"] == []
    left = tenant.one("SELECT uncompacted_tokens FROM longtail.compactions WHERE tenant_id = :tenant")
    assert left >= tenant.stack.settings.compaction_tail_tokens() - 200  # the recent tail stays raw


def test_an_idle_session_is_due_and_a_busy_one_is_not(tenant: Any) -> None:
    talk(tenant, 40)
    tenant.settle()

    def is_due(**changes: float) -> bool:
        asked = {
            "threshold_tokens": 10**9,
            "tail_tokens": 100,
            "idle_seconds": 3600.0,
            "count": 1000,
            "count_unasked": 1000,
            "claim_seconds": 0.0,
        } | changes
        with plain_transaction(tenant.as_role("longtail_worker")) as connection:
            return any(one.tenant_id == tenant.id for one in claim_due(connection, **asked))

    assert not is_due()
    assert is_due(threshold_tokens=100)
    assert is_due(idle_seconds=0.0)
    assert not is_due(idle_seconds=0.0, tail_tokens=10**9)
    tenant.client.compact("s", force=True)
    assert not is_due(idle_seconds=0.0)  # nothing came since


def test_hints_are_journalled_bounded_and_schedule_a_compaction(tenant: Any) -> None:
    talk(tenant, 300)
    hint = {"event": "session_end", "session_id": "s", "reason": "host said so", "metadata": {"host": "x"}}
    answer = tenant.client.call("POST", "/v1/lifecycle", json=hint)
    assert answer["compaction_scheduled"]
    unknown = tenant.client.call(
        "POST", "/v1/lifecycle", json={"event": "before_reset", "session_id": "nobody"}
    )
    assert not unknown["compaction_scheduled"]
    entries = tenant.client.call("GET", "/v1/journal")["entries"]
    assert [(entry["event"], entry["session_id"]) for entry in entries] == [
        ("before_reset", "nobody"),
        ("session_end", "s"),
    ]
    assert entries[1]["metadata"] == {"host": "x"}
    await_true(lambda: tenant.rows(SUMMARIES))
    with plain_transaction(tenant.owner) as connection:
        connection.execute(
            text(
                "INSERT INTO longtail.journal (tenant_id, session_id, namespace, event, recorded_at) "
                "SELECT :tenant, 'old', 'x', 'session_end', now() - make_interval(hours => n) "
                "FROM generate_series(1, 700) AS n"
            ),
            {"tenant": tenant.id},
        )
    tenant.client.call("POST", "/v1/lifecycle", json={"event": "before_reset", "session_id": "newest"})
    assert tenant.one("SELECT count(*) FROM longtail.journal WHERE tenant_id = :tenant") == 500
    newest = tenant.client.call("GET", "/v1/journal", params={"limit": 1})["entries"]
    assert newest[0]["session_id"] == "newest"
    found = tenant.client.search(query="host said so", session_id="s")["results"]
    assert all("host said so" not in hit["text"] for hit in found)


def test_an_unknown_session_or_summary_is_not_found(tenant: Any) -> None:
    with pytest.raises(NotFound):
        tenant.client.compact("nobody")
    with pytest.raises(NotFound):
        tenant.client.list_turns("nobody")
    with pytest.raises(NotFound):
        tenant.client.expand("00000000-0000-0000-0000-000000000000")


def test_another_tenant_sees_no_summary(tenant: Any, new_tenant: Any) -> None:
    talk(tenant, 45)
    summary_id = tenant.client.compact("s", force=True)["summary_ids"][0]
    other = new_tenant()
    with pytest.raises(NotFound):
        other.client.expand(summary_id)
    assert other.client.grep(pattern="the")["matches"] == []
    assert other.client.verify_lineage()["sessions"] == 0


def test_a_token_of_one_namespace_reads_no_other_history(tenant: Any) -> None:
    talk(tenant, 45, user_id="bob")
    summary_id = tenant.client.compact("s", force=True)["summary_ids"][0]
    with tenant.enter(namespaces=["ann"]) as bound:
        for call in (
            lambda: bound.list_turns("s"),
            lambda: bound.expand(summary_id),
            lambda: bound.compact("s"),
            lambda: bound.grep(pattern="x", user_id="bob"),
            lambda: bound.verify_lineage(),
        ):
            with pytest.raises((Forbidden, NotFound)):
                call()
        assert bound.grep(pattern="the")["matches"] == []


def test_history_is_paged_in_order(tenant: Any) -> None:
    ids = talk(tenant, 25)
    first = tenant.client.list_turns("s", limit=10)
    second = tenant.client.list_turns("s", limit=10, cursor=first["next_cursor"])
    third = tenant.client.list_turns("s", limit=10, cursor=second["next_cursor"])
    assert third["next_cursor"] is None
    assert [turn["id"] for page in (first, second, third) for turn in page["turns"]] == ids


def test_grep_finds_plain_text_and_regular_expressions_newest_first(tenant: Any) -> None:
    tenant.say("s", "Error E1 in a.py", "nothing", "error E22 in b.py\nand a second line", "100% of a_b")
    plain = tenant.client.grep(pattern="Error E")
    assert [match["excerpt"] for match in plain["matches"]] == ["Error E1 in a.py"]
    both = tenant.client.grep(pattern="error e", ignore_case=True)
    assert [match["position"] for match in both["matches"]] == [2, 0]
    assert both["is_complete"]
    regular = tenant.client.grep(pattern=r"E\d\d in (a|b)\.py$", regex=True)
    match = regular["matches"][0]
    assert match["excerpt"][match["match_start"] : match["match_end"]] == "E22 in b.py"
    assert len(tenant.client.grep(pattern="0% of a_b")["matches"]) == 1  # no wildcards in plain text
    assert len(tenant.client.grep(pattern="%")["matches"]) == 1


def test_grep_is_bounded_and_goes_on_at_its_cursor(tenant: Any) -> None:
    tenant.say("s", *(f"needle {n}" for n in range(30)))
    seen: list[int] = []
    cursor = None
    while True:
        answer = tenant.client.grep(pattern="needle", limit=7, cursor=cursor)
        seen += [match["position"] for match in answer["matches"]]
        cursor = answer["next_cursor"]
        if answer["is_complete"]:
            break
    assert seen == list(range(29, -1, -1))


def test_a_bad_pattern_is_named_and_a_slow_one_is_cut_off(tenant: Any) -> None:
    with pytest.raises(InvalidInput) as bad:
        tenant.client.grep(pattern="(", regex=True)
    assert bad.value.code == "invalid_pattern"
    tenant.say("s", *("a" * 3001 + "b" for _ in range(20)))  # an odd number is no doubled one
    with pytest.raises(InvalidInput) as slow:
        tenant.client.grep(pattern=r"^(a+)(a+)(a+)\1\2\3b$", regex=True)
    assert slow.value.code == "pattern_too_slow"


def test_a_broken_lineage_is_found_and_repaired_without_losing_a_turn(tenant: Any) -> None:
    ids = talk(tenant, 245)
    tenant.client.compact("s", force=True)
    assert verify(tenant)["violations"] == []
    hurts = (
        "UPDATE longtail.summaries SET is_active = false WHERE tenant_id = :tenant AND level = 2",
        "UPDATE longtail.summaries SET summary_tokens = summary_tokens + 1 WHERE id = "
        "(SELECT id FROM longtail.summaries WHERE tenant_id = :tenant AND level = 1 AND is_active LIMIT 1)",
        "DELETE FROM longtail.summary_turns WHERE turn_id = "
        "(SELECT turn_id FROM longtail.summary_turns WHERE tenant_id = :tenant ORDER BY ordinal LIMIT 1)",
        "DELETE FROM longtail.embeddings_minilm WHERE tenant_id = :tenant AND kind = 'summary'",
        "DELETE FROM longtail.items WHERE id = "
        "(SELECT id FROM longtail.summaries WHERE tenant_id = :tenant AND level = 2 LIMIT 1)",
        "UPDATE longtail.compactions SET covered_through = 10000 WHERE tenant_id = :tenant",
        "UPDATE longtail.summary_children SET parent_id = child_id, child_id = parent_id WHERE child_id = "
        "(SELECT child_id FROM longtail.summary_children WHERE tenant_id = :tenant LIMIT 1)",
    )
    for hurt in hurts:
        with plain_transaction(tenant.owner) as connection:
            connection.execute(text(hurt), {"tenant": tenant.id})
        assert verify(tenant)["violations"], hurt
        tenant.client.verify_lineage(repair=True)
        assert verify(tenant)["violations"] == [], hurt
        tenant.client.compact("s", force=True)
        assert verify(tenant)["violations"] == [], hurt
        assert tenant.one(COVERED) == 240
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == len(ids)


def test_the_scheduled_check_is_reported_as_a_number(tenant: Any) -> None:
    from workers.verify import verify_tenants

    talk(tenant, 45)
    tenant.client.compact("s", force=True)
    verify_tenants(tenant.as_role("longtail_worker"), settings=tenant.stack.settings)
    with plain_transaction(tenant.as_role("longtail_report")) as connection:
        row = connection.execute(
            text("SELECT * FROM reporting.lineage WHERE tenant = :name"), {"name": tenant.name}
        ).one()
        state = connection.execute(
            text("SELECT * FROM reporting.compaction WHERE tenant = :name"), {"name": tenant.name}
        ).one()
    assert (row.sessions, row.summaries, row.turns, row.violations) == (1, 2, 45, 0)
    assert state.active_summaries == 2
    assert state.active_tokens < state.covered_tokens
