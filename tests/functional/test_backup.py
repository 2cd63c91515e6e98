"""`longtail backup` and `longtail restore` on a running stack: everything comes back, or nothing changes."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack
from models.errors import Unauthorized
from models.store.engine import open_engine, plain_transaction

TABLES = (
    "turns",
    "sessions",
    "items",
    "memories",
    "documents",
    "document_nodes",
    "tokens",
    "tenants",
    "summaries",
)


@pytest.fixture(scope="module")
def running() -> Iterator[ThrowawayStack]:
    """A stack whose memory these tests replace."""
    with ThrowawayStack({"LONGTAIL_ENCODER": "toy", "LONGTAIL_SWEEP_SECONDS": "1"}) as stack:
        yield stack


def read_rows(stack: ThrowawayStack) -> dict[str, list[Any]]:
    engine = open_engine(stack.owner_url)
    try:
        with plain_transaction(engine) as connection:
            return {
                name: sorted(
                    map(
                        str,
                        connection.execute(
                            text(f"SELECT to_jsonb(row) FROM longtail.{name} AS row")
                        ).scalars(),
                    )
                )
                for name in TABLES
            }
    finally:
        engine.dispose()


def client_of(stack: ThrowawayStack) -> ServiceClient:
    return ServiceClient(url=stack.settings.service_url(), token=stack.settings.client_token())


@pytest.fixture(scope="module")
def backup(
    running: ThrowawayStack, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, list[Any]]]:
    """A backup of a memory with talk and rules, and what its tables held."""
    with client_of(running) as client:
        client.put_document("rules.md", "- Never deploy on a Friday.\n")
        for number in range(30):
            turn = {
                "role": "user",
                "content": f"The valve of pump {number} was set to {number * 7} bar.",
                "id": f"t{number}",
            }
            client.post_turns("plant", [turn], user_id="ann")
        while client.status()["pending"]:
            pass
        client.compact("plant", force=True)
    path = tmp_path_factory.mktemp("backups") / "memory.backup"
    before = read_rows(running)
    done = running.run(["backup", str(path), "--json"])
    said = json.loads(done.stdout)
    assert said["rows"]["turns"] == 30
    assert said["bytes"] == path.stat().st_size
    return path, before


def test_a_backup_is_private_and_can_be_taken_apart_without_longtail(backup: tuple[Path, Any]) -> None:
    path, _ = backup
    assert path.stat().st_mode & 0o777 == 0o600
    with tarfile.open(path) as archive:
        assert archive.getnames() == ["database.dump", "manifest.json"]
        dump = archive.extractfile("database.dump")
        assert dump is not None and dump.read(5) == b"PGDMP"


def test_a_memory_that_is_not_empty_is_not_replaced_without_force(
    running: ThrowawayStack, backup: tuple[Path, Any]
) -> None:
    before = read_rows(running)
    refused = running.run(["restore", str(backup[0])], check=False)
    assert refused.returncode == 2 or refused.returncode == 1
    assert "30 turns" in refused.stderr and "--force" in refused.stderr
    assert read_rows(running)["turns"] == before["turns"]


def test_a_backup_that_exists_is_not_written_over(running: ThrowawayStack, backup: tuple[Path, Any]) -> None:
    before = backup[0].read_bytes()
    refused = running.run(["backup", str(backup[0])], check=False)
    assert refused.returncode != 0 and "--force" in refused.stderr
    assert backup[0].read_bytes() == before


def test_everything_comes_back_and_the_service_goes_on(
    running: ThrowawayStack, backup: tuple[Path, dict[str, list[Any]]]
) -> None:
    path, before = backup
    with client_of(running) as client:
        client.post_turns(
            "plant", [{"role": "user", "content": "This was said after the backup."}], user_id="ann"
        )
        client.call("DELETE", "/v1/documents/rules.md")
    done = json.loads(running.run(["restore", str(path), "--force", "--json"]).stdout)
    assert done["lineage_violations"] == 0
    assert done["lineage_sessions"] == (1 if before["summaries"] else 0)
    after = read_rows(running)
    last_used = {"tokens"}  # the token was used meanwhile
    assert {name: rows for name, rows in after.items() if name not in last_used} == {
        name: rows for name, rows in before.items() if name not in last_used
    }
    with client_of(running) as client:
        answer = client.assemble(session_id="plant", query="pump 7 valve", budget_tokens=2000, user_id="ann")
        assert "Never deploy on a Friday." in answer["text"]
        assert "after the backup" not in answer["text"]
        client.post_turns("plant", [{"role": "user", "content": "And on it goes."}], user_id="ann")
        client.call("DELETE", "/v1/documents/rules.md")
    engine = open_engine(running.owner_url)
    with plain_transaction(engine) as connection:
        unforced = connection.execute(
            text(
                "SELECT count(*) FROM pg_class WHERE relnamespace = 'longtail'::regnamespace AND relkind = 'r' "
                "AND relrowsecurity AND NOT relforcerowsecurity AND relname NOT IN ('postings', 'lexicon')"
            )
        ).scalar_one()
        aside = connection.execute(text("SELECT to_regnamespace('longtail_before_restore')")).scalar_one()
    engine.dispose()
    assert unforced == 0
    assert aside is None


@pytest.mark.parametrize("damage", ["flipped", "cut", "none of ours"])
def test_a_damaged_backup_is_refused_and_changes_nothing(
    running: ThrowawayStack, backup: tuple[Path, Any], tmp_path: Path, damage: str
) -> None:
    whole = bytearray(backup[0].read_bytes())
    if damage == "flipped":
        whole[len(whole) // 2] ^= 1
    elif damage == "cut":
        del whole[len(whole) // 2 :]
    else:
        whole = bytearray(b"something else")
    broken = tmp_path / "broken.backup"
    broken.write_bytes(whole)
    before = read_rows(running)
    for arguments in (["restore", str(broken), "--force"], ["restore", str(broken), "--check"]):
        refused = running.run(arguments, check=False)
        assert refused.returncode != 0
        assert "damaged" in refused.stderr or "no backup" in refused.stderr
    assert read_rows(running)["turns"] == before["turns"]


def test_a_restore_that_fails_on_the_way_leaves_the_memory_as_it_was(
    running: ThrowawayStack, backup: tuple[Path, Any], tmp_path: Path
) -> None:
    import hashlib

    from api.stack.archive import Manifest, new_archive, write_dump, write_manifest

    with tarfile.open(backup[0]) as archive:
        said = archive.extractfile("manifest.json")
        assert said is not None
        manifest = json.load(said)
    broken = tmp_path / "whole-but-no-dump.backup"
    wrong = tmp_path / "dump"
    wrong.write_bytes(b"PGDMP" + bytes(2000))
    with new_archive(broken) as file, wrong.open("rb") as source:
        size, digest = write_dump(file, source, lambda _done: None)
        write_manifest(file, Manifest(**{**manifest, "dump_bytes": size, "dump_sha256": digest}))
    assert digest == hashlib.sha256(wrong.read_bytes()).hexdigest()
    before = read_rows(running)
    refused = running.run(["restore", str(broken), "--force"], check=False)
    assert refused.returncode != 0 and "pg_restore failed" in refused.stderr
    assert read_rows(running)["turns"] == before["turns"]
    with client_of(running) as client:
        client.post_turns("plant", [{"role": "user", "content": "Still here."}], user_id="ann")


def test_what_was_erased_and_revoked_since_does_not_come_back_with_a_restore(
    running: ThrowawayStack, tmp_path: Path
) -> None:
    path = tmp_path / "before.backup"
    run = running.run
    stolen = json.loads(run(["token", "create", "--tenant", "kept", "--json"]).stdout)
    run(["tenant", "create", "gone"])
    turns = {
        "harbour": [
            {"role": "user", "content": "The harbour gate opens at the sound of seven bells, always."}
        ],
        "market": [{"role": "user", "content": "The market hall closes when the last lamp is lit at night."}],
        "quay": [{"role": "user", "content": "The quay is swept each morning before the boats come in."}],
    }
    owners = {"harbour": "bea", "market": "cem", "quay": "cem"}
    with client_of(running) as client:
        for session, said in turns.items():
            client.post_turns(session, said, user_id=owners[session])
        client.put_document("cem's rules.md", "- Sweep the quay.\n", user_id="cem")
        while client.status()["pending"]:
            pass
        run(["backup", str(path)])
        for kind, name, whose in (
            ("namespace", "bea", {}),
            ("session", "market", {}),
            ("document", "cem's rules.md", {"user_id": "cem"}),
        ):
            body = {"kind": kind, "name": name, "confirm": name, "reason": "asked for", **whose}
            client.call("POST", "/v1/erasures", json=body)
        client.post_turns("late", [{"role": "user", "content": "Said after it, and erased after it."}])
        client.call("POST", "/v1/erasures", json={"kind": "session", "name": "late", "confirm": "late"})
    run(["token", "revoke", stolen["id"]])
    run(["tenant", "erase", "gone", "--yes"])
    done = json.loads(run(["restore", str(path), "--force", "--json"]).stdout)
    assert (done["erased_again"], done["revoked_again"]) == (4, 1)
    with client_of(running) as client:
        left = [one["session_id"] for one in client.list_sessions(user_id="cem")["sessions"]]
        assert left == ["quay"]
        assert client.list_sessions(user_id="bea")["sessions"] == []
        assert client.list_documents(user_id="cem")["documents"] == []
        for session in ("harbour", "market"):  # a host that sends it again does not bring it back either
            again = client.post_turns(session, turns[session], user_id=owners[session])
            assert (again["accepted"], again["erased"]) == ([], [0])
        record = client.call("GET", "/v1/erasures")["erasures"]
        assert sorted(one["kind"] for one in record if one["reason"] == "asked for") == [
            "document",
            "namespace",
            "session",
        ]
    thief = ServiceClient(url=running.settings.service_url(), token=stolen["token"])
    with thief, pytest.raises(Unauthorized):
        thief.list_sessions()
    names = [one["name"] for one in json.loads(run(["tenant", "list", "--json"]).stdout)["tenants"]]
    assert "gone" not in names and "kept" in names
