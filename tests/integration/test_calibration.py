"""Claims about feedback and calibration: labels are kept, the report follows, the tenant's threshold decides."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from models.errors import InvalidInput
from models.store.engine import plain_transaction


@pytest.fixture
def judged(tenant: Any) -> Any:
    useful = [
        f"My brother {name} was born on 3 May 19{n}0 and I prefer to call him."
        for n, name in enumerate(["Al", "Bo", "Cy", "Di"], 5)
    ]
    useless = ["ok then", "sure thing", "hm let me see", "right, whatever"]
    for said in (*useful, *useless):
        tenant.say("s", said, user_id="ann")
    tenant.settle()
    rows = tenant.rows("SELECT id, content FROM longtail.turns WHERE tenant_id = :tenant")
    labels = [{"id": str(row.id), "useful": row.content in useful} for row in rows]
    assert tenant.client.call("POST", "/v1/feedback", json={"labels": labels})["accepted"] == 8
    return tenant


def test_labels_are_kept_once_per_item_and_assembly(judged: Any) -> None:
    row = judged.rows("SELECT item_id FROM longtail.feedback WHERE tenant_id = :tenant LIMIT 1")[0]
    label = {"labels": [{"id": str(row.item_id), "useful": False}]}
    judged.client.call("POST", "/v1/feedback", json=label)
    judged.client.call("POST", "/v1/feedback", json={**label, "assembly_id": "a1"})
    assert judged.one("SELECT count(*) FROM longtail.feedback WHERE tenant_id = :tenant") == 9


def test_a_label_for_something_the_gate_never_saw_is_named(tenant: Any) -> None:
    stranger = str(uuid4())
    answer = tenant.client.call("POST", "/v1/feedback", json={"labels": [{"id": stranger, "useful": True}]})
    assert answer == {"accepted": 0, "unknown": [stranger]}


def test_without_labels_there_is_nothing_to_calibrate(tenant: Any) -> None:
    with pytest.raises(InvalidInput, match="no usefulness labels") as refused:
        tenant.client.call("GET", "/v1/calibration")
    assert refused.value.code == "no_labels"


def test_the_report_chooses_a_threshold_and_applying_it_changes_the_gate(judged: Any, tmp_path: Path) -> None:
    picture = tmp_path / "curve.png"
    report = judged.read("calibrate", "--precision", "0.9", "--apply", "--picture", str(picture))
    assert report["labels"] == 8
    assert not report["is_enough"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    stored = judged.one("SELECT gate_threshold FROM longtail.tenants WHERE id = :tenant")
    assert stored == pytest.approx(report["chosen_threshold"])
    judged.say("s", "a turn decided after the calibration", user_id="ann")
    judged.settle()
    newest = judged.rows(
        "SELECT threshold FROM longtail.gate_decisions WHERE tenant_id = :tenant ORDER BY decided_at DESC LIMIT 1"
    )
    assert newest[0].threshold == pytest.approx(stored)
    judged.client.call("PUT", "/v1/calibration", json={"threshold": None})
    assert judged.one("SELECT gate_threshold FROM longtail.tenants WHERE id = :tenant") is None


def test_being_read_lifts_nothing_and_being_called_useful_does(tenant: Any) -> None:
    tenant.say("s", "The boiler makes a humming noise at night.", user_id="ann")
    tenant.settle()
    ask = {"session_id": "other", "user_id": "ann", "budget_tokens": 2000, "explain": True}

    def look() -> dict[str, Any]:
        answer = tenant.client.assemble(query="what noise does the boiler make?", **ask)
        (found,) = answer["explain"]["candidates"]
        return dict(found)

    first = look()
    with plain_transaction(tenant.owner) as connection:
        connection.execute(
            text("UPDATE longtail.items SET access_count = 500 WHERE tenant_id = :tenant"),
            {"tenant": tenant.id},
        )
    assert look()["frequency"] == first["frequency"] == 0
    turn_id = tenant.one("SELECT id FROM longtail.turns WHERE tenant_id = :tenant")
    label = {"id": str(turn_id), "useful": True}
    tenant.client.call("POST", "/v1/feedback", json={"labels": [label]})
    assert look()["frequency"] > 0
    tenant.client.call("POST", "/v1/feedback", json={"labels": [{**label, "useful": False}]})
    assert look()["frequency"] == 0
