"""Claims about what is written down besides memory: no log and no report quotes what somebody said."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from models.errors import InvalidInput, ServiceError
from models.logs import show_exception
from models.store.engine import plain_transaction

WORD = "xylophagous"  # in nothing else that the stack logs


def nest(levels: int) -> dict[str, Any]:
    """An object in an object, so many times."""
    nested: dict[str, Any] = {"leaf": WORD}
    for _ in range(levels - 1):
        nested = {"in": nested}
    return nested


def test_metadata_may_be_nested_32_levels_and_no_more(tenant: Any) -> None:
    turn = {"role": "user", "content": "hi", "metadata": nest(32)}
    tenant.client.post_turns("s", [turn])
    assert tenant.client.list_turns("s")["turns"][0]["metadata"] == nest(32)
    for levels in (33, 120):
        with pytest.raises(InvalidInput) as refused:
            tenant.client.post_turns("s", [{**turn, "metadata": nest(levels)}])
        assert refused.value.code == "metadata_too_deep"
    deep = {"jsonrpc": "2.0", "id": 1, "method": "insert_session_turn"}
    params = {"sessionId": "s", "id": "m", "text": "hi", "metadata": nest(60)}
    answer = tenant.client.call("POST", "/rpc", json={**deep, "params": params})
    assert answer["error"]["data"]["code"] == "metadata_too_deep"


NUL_PATHS = (
    ("POST", "/v1/sessions/a%00b/turns"),
    ("GET", "/v1/sessions/a%00b/turns"),
    ("GET", "/v1/sessions/a%00b"),
    ("POST", "/v1/sessions/a%00b/compact"),
    ("GET", "/v1/documents/a%00b"),
    ("DELETE", "/v1/namespaces/a%00b"),
)


@pytest.mark.parametrize(("method", "path"), NUL_PATHS)
def test_a_nul_in_a_path_is_422(tenant: Any, method: str, path: str) -> None:
    body = {"turns": [{"role": "user", "content": WORD}]} if path.endswith("/turns") else {}
    with httpx.Client(base_url=tenant.client.url, trust_env=False) as client:
        answer = client.request(
            method,
            path,
            headers={"Authorization": f"Bearer {tenant.token}"},
            json=body if method == "POST" else None,
        )
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] == "nul_character"


def test_a_hostile_run_leaves_no_word_of_it_in_any_log_or_report(tenant: Any) -> None:
    with httpx.Client(base_url=tenant.client.url, trust_env=False, timeout=300) as client:
        client.headers["Authorization"] = f"Bearer {tenant.token}"
        for method, path in NUL_PATHS:
            client.request(method, path, json={"turns": [{"role": "user", "content": WORD}]})
        for body in hostile_bodies():
            for path in (
                "/v1/sessions/s/turns",
                "/v1/assemble",
                "/v1/search",
                "/v1/grep",
                "/rpc",
                "/v1/import",
            ):
                client.post(path, content=body, headers={"Content-Type": "application/json"})
        for content in (f"{WORD} \ud800", f"{WORD}\x00", "x" * 5_000_000 + WORD):
            client.post(
                "/v1/sessions/s/turns",
                content=json.dumps({"turns": [{"role": "user", "content": content}]}),
                headers={"Content-Type": "application/json"},
            )
    with refusing_index(tenant):
        tenant.say("s", f"{WORD} " * 2000, f"I always {WORD}.", user_id="ann")
        tenant.settle()
    assert tenant.one("SELECT count(*) FROM longtail.dead_letters WHERE tenant_id = :tenant") > 0
    reasons = tenant.rows("SELECT reason FROM reporting.dead_letters WHERE tenant = :name", name=tenant.name)
    assert reasons and not [row for row in reasons if WORD in row.reason]
    for log in Path(tenant.stack.settings.home).rglob("*.log*"):
        assert WORD not in log.read_text(errors="replace"), log


def test_no_log_names_a_session_or_whose_it_is(tenant: Any) -> None:
    """A name is what erasing somebody would leave behind: hosts call sessions after numbers and addresses."""
    session, user = f"whatsapp:+{WORD}", f"{WORD}@example.org"
    beams = [f"Beam {number} of the bridge was measured on that day. " * 8 for number in range(40)]
    tenant.say(session, *beams, user_id=user)
    tenant.settle()
    assert tenant.client.compact(session, force=True)["did_compact"]
    tenant.client.assemble(session_id=session, query="the bridge", budget_tokens=500, user_id=user)
    body = {"kind": "namespace", "name": user, "confirm": user}
    tenant.client.call("POST", "/v1/erasures", json=body)
    logs = list(Path(tenant.stack.settings.home).rglob("*.log*"))
    assert any("compaction.ended" in log.read_text(errors="replace") for log in logs)
    for log in logs:
        assert WORD not in log.read_text(errors="replace"), log


def hostile_bodies() -> list[bytes]:
    deep = b'{"a":' * 500 + f'"{WORD}"'.encode() + b"}" * 500
    return [
        f'{{"turns": [{{"role": "{WORD}", "content": "{WORD}"}}]}}'.encode(),
        f'{{"query": "{WORD}", "session_id": "s\\u0000", "budget_tokens": 100}}'.encode(),
        f'{{"pattern": "({WORD}", "regex": true}}'.encode(),
        f'{{"{WORD}": '.encode(),
        f'{{"jsonrpc": "2.0", "id": 1, "method": "{WORD}", "params": {{"text": "{WORD}"}}}}'.encode(),
        b'{"turns": [{"role": "user", "content": "x", "metadata": ' + deep + b"}]}",
    ]


@contextmanager
def refusing_index(tenant: Any) -> Iterator[None]:
    """The database refuses to index anything of this tenant, and quotes what it refused."""
    with plain_transaction(tenant.owner) as connection:
        connection.execute(
            text(
                "CREATE FUNCTION longtail.quote_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION "
                "'refused: %', (SELECT content FROM longtail.turns WHERE id = NEW.id) USING DETAIL = NEW::text; END $$"
            )
        )
        connection.execute(
            text(
                "CREATE TRIGGER quoting BEFORE INSERT ON longtail.items FOR EACH ROW "
                f"WHEN (NEW.tenant_id = '{tenant.id}') EXECUTE FUNCTION longtail.quote_it()"
            )
        )
        connection.execute(text("GRANT EXECUTE ON FUNCTION longtail.quote_it() TO longtail_worker"))
    try:
        yield
    finally:
        with plain_transaction(tenant.owner) as connection:
            connection.execute(text("DROP TRIGGER quoting ON longtail.items"))
            connection.execute(text("DROP FUNCTION longtail.quote_it()"))


def test_a_traceback_in_a_log_has_frames_and_kinds_and_no_messages() -> None:
    try:
        try:
            raise ValueError(WORD)
        except ValueError as error:
            raise KeyError(WORD) from error
    except KeyError as error:
        shown = show_exception((type(error), error, error.__traceback__))
    assert WORD not in shown
    assert "KeyError" in shown and "ValueError" in shown and "test_private_logs.py" in shown
    assert "no room" in show_exception((ServiceError, ServiceError("no room"), None))
