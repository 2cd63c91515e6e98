"""Claims about the pipeline: every accepted turn is indexed, embedded and gated once, with its reasons kept."""

from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from models.store.engine import plain_transaction
from models.tables import EMBEDDING_TABLES

SIGNALS = "g, t, h, r, d, input_freq, mem_saturation, p, a, dtech, gconv, gtech, worth, score"


def test_only_user_turns_pass_the_gate(tenant: Any) -> None:
    tenant.client.post_turns(
        "s",
        [
            {"role": "user", "content": "I moved to Lisbon on 3 May 2024 and I prefer tea."},
            {"role": "assistant", "content": "I will remember that you moved to Lisbon."},
            {"role": "tool", "content": "exit code 0"},
            {"role": "system", "content": "You are helpful."},
        ],
    )
    tenant.settle()
    decided = tenant.rows(
        "SELECT turns.role FROM longtail.gate_decisions JOIN longtail.turns ON turns.id = turn_id "
        "WHERE gate_decisions.tenant_id = :tenant"
    )
    assert [row.role for row in decided] == ["user"]
    assert tenant.one("SELECT count(*) FROM longtail.items WHERE tenant_id = :tenant AND kind = 'turn'") == 4


def test_every_signal_of_a_decision_is_a_column(tenant: Any) -> None:
    tenant.say("s", "We decided on 3 May to deploy src/app.py after fixing error E0308.")
    tenant.settle()
    row = tenant.rows(
        f"SELECT {SIGNALS}, keep, threshold FROM longtail.gate_decisions WHERE tenant_id = :tenant"
    )[0]
    found = row._mapping
    assert all(0 <= value <= 1 for value in row[:14])
    assert found["h"] == 1.0  # nothing was remembered before
    assert found["keep"] == (found["score"] >= found["threshold"])
    assert found["g"] == pytest.approx((1 - found["t"]) * found["gconv"] + found["t"] * found["gtech"])


def test_a_near_duplicate_reinforces_the_memory_instead_of_adding_one(tenant: Any) -> None:
    said = "My sister Marta lives in Porto since 2 June 2021 and I prefer to call her on Sundays."
    tenant.say("one", said, user_id="ann")
    tenant.settle()
    tenant.say("two", said, user_id="ann")
    tenant.settle()
    memories = tenant.rows("SELECT id, mention_count FROM longtail.memories WHERE tenant_id = :tenant")
    assert [row.mention_count for row in memories] == [2]
    sources = tenant.one("SELECT count(*) FROM longtail.memory_sources WHERE tenant_id = :tenant")
    assert sources == 2
    kinds = tenant.rows(
        "SELECT is_reinforcement FROM longtail.gate_decisions WHERE tenant_id = :tenant ORDER BY decided_at"
    )
    assert [row.is_reinforcement for row in kinds] == [False, True]


def test_near_duplicates_in_one_batch_find_each_other(tenant: Any) -> None:
    said = "My sister Marta lives in Porto since 2 June 2021 and I prefer to call her on Sundays."
    tenant.say("s", said, said, said, user_id="ann")
    tenant.settle()
    assert tenant.rows("SELECT mention_count FROM longtail.memories WHERE tenant_id = :tenant")[0][0] == 3


def test_a_long_turn_is_searchable_to_its_very_end(tenant: Any) -> None:
    filler = "The committee discussed the usual matters of the allotment garden at length. " * 120
    tenant.say(
        "s", filler, filler + "The spare key of the boathouse hangs behind the blue barometer.", user_id="ann"
    )
    tenant.settle()
    windows = tenant.one(
        "SELECT count(*) FROM longtail.embeddings_minilm WHERE tenant_id = :tenant AND kind = 'turn'"
    )
    assert windows > 10
    hits = tenant.client.search(query="where is the boathouse key?", user_id="ann", k=3)["results"]
    assert "boathouse" in hits[0]["text"]
    # without the last window both texts would be one text to the encoder
    plain = [hit["similarity"] or 0 for hit in hits[1:]]
    assert hits[0]["similarity"] > max(plain, default=0) + 0.1


def test_a_queued_item_that_does_not_exist_becomes_a_dead_letter_and_blocks_nobody(tenant: Any) -> None:
    ghost = uuid4()
    with plain_transaction(tenant.owner) as connection:
        connection.execute(
            text(
                "INSERT INTO longtail.work (item_id, tenant_id, kind, namespace) VALUES (:id, :tenant, 'turn', 'x')"
            ),
            {"id": ghost, "tenant": tenant.id},
        )
    tenant.say("s", *[f"an ordinary turn, number {n}" for n in range(20)])
    tenant.settle()
    dead = tenant.rows("SELECT item_id, stage, reason FROM longtail.dead_letters WHERE tenant_id = :tenant")
    assert [(row.item_id, row.stage) for row in dead] == [(ghost, "accepted")]
    assert "not in the raw record" in dead[0].reason
    assert tenant.one("SELECT count(*) FROM longtail.work WHERE tenant_id = :tenant AND stage = 'done'") == 20
    assert tenant.client.status()["dead_letters"] == 1


def test_vectors_live_in_the_table_of_their_encoder_with_a_fingerprint(tenant: Any) -> None:
    row = tenant.rows("SELECT * FROM longtail.encoders WHERE is_active")[0]
    assert (row.name, row.table_name, row.dimensions) == ("minilm", EMBEDDING_TABLES["minilm"].name, 384)
    assert {"model_sha256", "dimensions", "pooling", "normalisation"} <= set(row.fingerprint)


def test_rules_spoken_by_the_user_become_guidance(tenant: Any) -> None:
    tenant.say("s", "From now on, always show me the diff before you commit.", user_id="ann")
    tenant.say("s", "What a day, the rain never stopped.", user_id="ann")
    tenant.settle()
    found = tenant.rows("SELECT collection, body FROM longtail.guidance WHERE tenant_id = :tenant")
    assert [tuple(row) for row in found] == [
        ("elevated:user:ann", "From now on, always show me the diff before you commit.")
    ]


def test_a_newer_rule_that_contradicts_an_older_one_replaces_it_and_both_are_kept(tenant: Any) -> None:
    tenant.say("s", "From now on, always use tabs in the Makefile.", user_id="ann")
    tenant.settle()
    tenant.say("s", "From now on, never use tabs in the Makefile.", user_id="ann")
    tenant.settle()
    found = tenant.rows(
        "SELECT body, superseded_by IS NULL AS stands FROM longtail.guidance WHERE tenant_id = :tenant ORDER BY stated_at"
    )
    assert [(row.body.split()[3], row.stands) for row in found] == [("always", False), ("never", True)]
    text = tenant.client.assemble(
        session_id="other", query="Makefile style?", budget_tokens=2000, user_id="ann"
    )
    guidance = [item["text"] for item in text["items"] if item["tier"] == "guidance"]
    assert guidance == ["From now on, never use tabs in the Makefile."]
