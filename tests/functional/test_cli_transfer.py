"""Claims about export, import and erase as a person types them."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any


def run(tenant: Any, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    before = dict(tenant.stack.env)
    tenant.stack.env["LONGTAIL_TOKEN"] = tenant.token
    try:
        done: subprocess.CompletedProcess[str] = tenant.stack.run(arguments, check=check)
    finally:
        tenant.stack.env.clear()
        tenant.stack.env.update(before)
    return done


def test_memory_moves_from_tenant_to_tenant_through_a_file(
    tenant: Any, new_tenant: Callable[[], Any], tmp_path: Path
) -> None:
    tenant.say("s1", "My dog is called Bramble and she is a seven year old border collie.", user_id="ann")
    tenant.say("s2", "hello", user_id="bob")
    tenant.settle()
    file = tmp_path / "memory.ndjson"
    run(tenant, "export", "--out", str(file))
    printed = run(tenant, "export", "--user", "bob").stdout.splitlines()
    assert [json.loads(line)["content"] for line in printed if '"type": "turn"' in line] == ["hello"]
    assert json.loads(printed[-1])["type"] == "end"
    other = new_tenant()
    refused = run(other, "import", "longtail", str(file), check=False)
    assert refused.returncode == 2
    assert "--new-ids" in refused.stderr or "ids=new" in refused.stderr
    done = run(other, "import", "longtail", str(file), "--new-ids", "--json")
    assert json.loads(done.stdout)["new"]["turn"] == 2
    other.settle()
    found = other.client.search(query="what is the dog called?", user_id="ann")["results"]
    assert "Bramble" in found[0]["text"]
    assert list(tmp_path.iterdir()) == [file]


def test_a_broken_file_is_refused_by_line_and_an_unknown_kind_by_name(tenant: Any, tmp_path: Path) -> None:
    file = tmp_path / "broken.ndjson"
    file.write_text("{}\n")
    refused = run(tenant, "import", "longtail", str(file), check=False)
    assert refused.returncode == 2
    assert "line 1" in refused.stderr
    assert "longtail" in run(tenant, "import", "mem9", str(file), check=False).stderr


def test_erase_says_what_would_go_and_does_it_only_when_told_to(tenant: Any) -> None:
    tenant.say("s1", "one", "two", user_id="ann")
    asked = run(tenant, "erase", "ann", check=False)
    assert asked.returncode == 2
    assert "2 raw turns" in asked.stderr
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 2
    assert "2 turns" in run(tenant, "erase", "ann", "--yes").stdout
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 0
