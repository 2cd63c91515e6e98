"""Claims about wrong input: a clear 4xx with code, field and remedy; never a 500, nothing half-written."""

import json
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from models.errors import InvalidInput

TURNS = "/v1/sessions/s/turns"
GOOD = {"role": "user", "content": "fine"}
ASK = {"session_id": "s", "query": "x", "budget_tokens": 100}


@pytest.fixture
def http(tenant: Any) -> Any:
    with httpx.Client(
        base_url=tenant.client.url, headers={"Authorization": f"Bearer {tenant.token}"}, timeout=300
    ) as client:
        yield client


def turns(*given: Any, **more: Any) -> dict[str, Any]:
    return {"turns": list(given), **more}


BAD_TURNS = [
    ("empty text", turns({**GOOD, "content": ""}), 422, "empty_text", "turns.0.content"),
    ("blank text", turns(GOOD, {**GOOD, "content": " \n"}), 422, "empty_text", "turns.1.content"),
    (
        "5 MB text",
        turns(GOOD, {**GOOD, "content": "x" * 5_000_000}),
        413,
        "turn_too_large",
        "turns.1.content",
    ),
    ("NUL", turns(GOOD, {**GOOD, "content": "a\x00b"}), 422, "nul_character", "turns.1.content"),
    ("NUL in a name", turns({**GOOD, "name": "a\x00b"}), 422, "nul_character", "turns.0.name"),
    ("unknown role", turns(GOOD, {**GOOD, "role": "robot"}), 422, "unknown_value", "turns.1.role"),
    ("future", turns({**GOOD, "ts": "2999-01-01T00:00:00Z"}), 422, "timestamp_in_future", "turns.0.ts"),
    (
        "before 1970",
        turns({**GOOD, "ts": "1969-12-31T23:59:59Z"}),
        422,
        "timestamp_before_1970",
        "turns.0.ts",
    ),
    ("no zone", turns({**GOOD, "ts": "2026-01-01T00:00:00"}), 422, "naive_timestamp", "turns.0.ts"),
    ("not a time", turns({**GOOD, "ts": "yesterday"}), 422, "invalid_value", "turns.0.ts"),
    ("10,000 turns", turns(*[GOOD] * 10_000), 413, "too_many_turns", "turns"),
    ("no turns", turns(), 422, "empty_list", "turns"),
    ("missing turns", {}, 422, "missing_field", "turns"),
    ("unknown field", turns(GOOD, colour="red"), 422, "unknown_field", "colour"),
    ("content is a list", turns({**GOOD, "content": ["x"]}), 422, "invalid_value", "turns.0.content"),
    ("reserved user id", turns(GOOD, user_id="session:x"), 422, "reserved_name", "user_id"),
    ("empty user id", turns(GOOD, user_id=""), 422, "empty_text", "user_id"),
    ("an array", [], 400, "malformed_json", None),
]
BAD_ASKS = [
    ("zero budget", {**ASK, "budget_tokens": 0}, 422, "invalid_value", "budget_tokens"),
    ("negative budget", {**ASK, "budget_tokens": -5}, 422, "invalid_value", "budget_tokens"),
    ("budget as text", {**ASK, "budget_tokens": "many"}, 422, "invalid_value", "budget_tokens"),
    ("endless budget", {**ASK, "budget_tokens": 10**12}, 422, "invalid_value", "budget_tokens"),
    ("unknown tokenizer", {**ASK, "tokenizer": "gpt-nine"}, 422, "unknown_tokenizer", "tokenizer"),
    ("tokenizer as path", {**ASK, "tokenizer": "../../etc/passwd"}, 422, "unknown_tokenizer", "tokenizer"),
    ("missing session", {"query": "x", "budget_tokens": 100}, 422, "missing_field", "session_id"),
    ("empty session", {**ASK, "session_id": ""}, 422, "empty_text", "session_id"),
    ("zero deadline", {**ASK, "deadline_ms": 0}, 422, "invalid_value", "deadline_ms"),
    ("NUL in query", {**ASK, "query": "a\x00"}, 422, "nul_character", "query"),
]


def check_problem(response: httpx.Response, status: int, code: str, field: str | None) -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["code"] == code, problem
    assert problem.get("field") == field
    assert problem["remedy"]
    assert problem["detail"]
    assert problem["status"] == status


@pytest.mark.parametrize(
    ("body", "status", "code", "field"), [case[1:] for case in BAD_TURNS], ids=[c[0] for c in BAD_TURNS]
)
def test_bad_turns_are_refused_whole(
    tenant: Any, http: Any, body: Any, status: int, code: str, field: str | None
) -> None:
    check_problem(http.post(TURNS, json=body), status, code, field)
    assert tenant.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 0
    assert tenant.one("SELECT count(*) FROM longtail.sessions WHERE tenant_id = :tenant") == 0


@pytest.mark.parametrize(
    ("body", "status", "code", "field"), [case[1:] for case in BAD_ASKS], ids=[c[0] for c in BAD_ASKS]
)
def test_bad_requests_for_a_prompt_are_refused(
    http: Any, body: Any, status: int, code: str, field: str | None
) -> None:
    check_problem(http.post("/v1/assemble", json=body), status, code, field)


@pytest.mark.parametrize("path", [TURNS, "/v1/assemble", "/v1/search"])
@pytest.mark.parametrize("body", [b"{", b"", b"\xff\xfe", b"nonsense"])
def test_malformed_json_is_refused(http: Any, path: str, body: bytes) -> None:
    response = http.post(path, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code in {400, 422}
    assert response.json()["code"] in {"malformed_json", "missing_field"}


def test_lone_surrogates_are_refused_by_name(tenant: Any, http: Any) -> None:
    body = json.dumps(turns({**GOOD, "content": "bad \ud800 text"})).encode()
    check_problem(
        http.post(TURNS, content=body, headers={"Content-Type": "application/json"}),
        422,
        "lone_surrogate",
        "turns.0.content",
    )
    body = json.dumps({**ASK, "query": "\udfff"}).encode()
    check_problem(
        http.post("/v1/assemble", content=body, headers={"Content-Type": "application/json"}),
        422,
        "lone_surrogate",
        "query",
    )
    body = json.dumps(turns({**GOOD, "metadata": {"k": "\ud800"}})).encode()
    response = http.post(TURNS, content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 422


def test_our_own_client_hands_half_characters_over_and_says_what_the_api_says(tenant: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        tenant.client.search(query="half a smile: \ud83d")
    assert refused.value.code == "lone_surrogate"


@pytest.mark.parametrize(
    "metadata", [{"k": "a\x00b"}, {"a\x00": 1}, {"deep": [{"k": ["\x00"]}]}, {"k": "x" * 70_000}]
)
def test_metadata_that_cannot_be_stored_is_refused(http: Any, metadata: Any) -> None:
    response = http.post(TURNS, json=turns({**GOOD, "metadata": metadata}))
    assert response.status_code in {413, 422}
    assert response.json()["field"] == "turns.0.metadata"


def test_metadata_with_nan_is_refused(http: Any) -> None:
    body = b'{"turns": [{"role": "user", "content": "x", "metadata": {"k": NaN}}]}'
    response = http.post(TURNS, content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (422, "not_json")


def test_a_body_over_the_limit_is_refused_before_it_is_parsed(http: Any) -> None:
    check_problem(http.post(TURNS, content=b"x" * (17 * 1024 * 1024)), 413, "body_too_large", None)


def test_a_streamed_body_over_the_limit_is_refused_too(http: Any) -> None:
    def chunks() -> Any:
        for _ in range(20):
            yield b"x" * (1024 * 1024)

    try:
        response = http.post(TURNS, content=chunks())
    except httpx.TransportError:
        return  # the server closed the connection while we were still sending
    assert response.status_code == 413


def test_no_token_and_a_wrong_one_are_refused(tenant: Any) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eA=="}):
        response = httpx.post(tenant.client.url + "/v1/assemble", json=ASK, headers=headers)
        check_problem(response, 401, "unauthorized", None)
        assert response.headers["www-authenticate"] == "Bearer"


def test_an_unknown_path_and_a_wrong_method_are_problems_too(http: Any) -> None:
    check_problem(http.get("/v1/nothing"), 404, "not_found", None)
    check_problem(http.delete("/v1/assemble"), 405, "method_not_allowed", None)


def test_documents_that_are_not_text_are_refused(http: Any) -> None:
    for body, code in ((b"", "empty_text"), (b"\xff\xfe\x00", "not_utf8"), (b"- a\x00b", "nul_character")):
        check_problem(http.put("/v1/documents/x.md", content=body), 422, code, None)
    check_problem(http.put("/v1/documents/x.md", content=b"- a\n" * 100_000), 413, "document_too_large", None)


def test_odd_but_legal_turns_are_kept_exactly(tenant: Any, http: Any) -> None:
    odd = [
        "\u202eright to left",
        "a\u0300 combining",
        "😀" * 1000,
        "\x07bell \x1b[31mred",
        "x" * 1_000_000,
        "\ufeffbom",
    ]
    response = http.post(TURNS, json=turns(*[{**GOOD, "content": text} for text in odd]))
    assert response.status_code == 202
    found = tenant.rows("SELECT content FROM longtail.turns WHERE tenant_id = :tenant ORDER BY position")
    assert [row.content for row in found] == odd
    tenant.settle()
    assert tenant.one("SELECT count(*) FROM longtail.dead_letters WHERE tenant_id = :tenant") == 0


def test_a_session_id_may_hold_anything_printable(tenant: Any) -> None:
    for session in ("a/b", "ünï", "with space", "agent:main:e2e", "%2F", "?x=1#y"):
        tenant.client.post_turns(session, [GOOD])
        found = tenant.one(
            "SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant AND session_id = :s", s=session
        )
        assert found == 1, session


@pytest.mark.parametrize("name", [" ", "\t", "\u200b", "\u00a0\u202e", "\u3164", "\x01"], ids=ascii)
def test_a_name_that_nobody_can_see_names_nobody(http: Any, tenant: Any, name: str) -> None:
    """Over JSON-RPC too: what would be kept under it could not be told apart in any list."""
    for path, identity, field in (
        (f"/v1/sessions/{quote(name, safe='')}/turns", {}, "session_id"),
        (TURNS, {"user_id": name}, "user_id"),
        (TURNS, {"session_key": name}, "session_key"),
        (TURNS, {"agent_id": name}, "agent_id"),
    ):
        answer = http.post(path, json=turns(GOOD, **identity))
        assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
            422,
            "empty_text",
            field,
        )
    call = {"sessionId": name, "id": "1", "text": "fine", "metadata": {}}
    answer = http.post(
        "/rpc", json={"jsonrpc": "2.0", "id": 1, "method": "insert_session_turn", "params": call}
    )
    assert answer.json()["error"]["data"]["code"] == "empty_text"
    assert tenant.one("SELECT count(*) FROM longtail.sessions WHERE tenant_id = :tenant") == 0
