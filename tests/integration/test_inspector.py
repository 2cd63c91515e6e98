"""The Inspector over HTTP: who gets in, what a token opens, what a form may do. The browser's part is in tests/browser."""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi.routing import APIRoute

from api.inspector.pages import HEADERS
from api.inspector.routes import ROUTERS
from api.stack.throwaway import await_true
from models.store.engine import plain_transaction
from models.store.memory.decisions import spread_signals

SECRET = "xylograph"  # in everything of Ann's, and in no question
ROUTES = {
    (method, route.path)
    for router in ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute)
    for method in route.methods
}
OPEN = {("GET", "/inspector/static/{name}"), ("GET", "/inspector/login"), ("POST", "/inspector/login")}
# Every page, and how somebody else would ask for Ann's; values are filled in.
GETS = {
    "/inspector": ["/inspector"],
    "/inspector/sessions": [
        "/inspector/sessions",
        "/inspector/sessions?user_id=ann",
        "/inspector/sessions?namespace=ann",
    ],
    "/inspector/sessions/{session_id:path}": ["/inspector/sessions/long"],
    "/inspector/summaries/{summary_id}": ["/inspector/summaries/{summary}"],
    "/inspector/prompt": [
        "/inspector/prompt",
        "/inspector/prompt?session_id=long&query=bridge",
        "/inspector/prompt?session_id=new&query=bridge&user_id=ann",
    ],
    "/inspector/receipts/{assembly_id}": ["/inspector/receipts/{assembly}"],
    "/inspector/compare": ["/inspector/compare?a={assembly}&b={assembly}"],
    "/inspector/gate": ["/inspector/gate"],
    "/inspector/rules": ["/inspector/rules"],
    "/inspector/documents": [
        "/inspector/documents?name=ann.md&binding=user:ann",
        "/inspector/documents?name=ann.md",
    ],
    "/inspector/work": ["/inspector/work"],
    "/inspector/{path:path}": ["/inspector/nowhere", "/inspector/logout"],
}
POSTS = {
    "/inspector/logout": {},
    "/inspector/receipts/{assembly_id}/replay": {},
    "/inspector/gate/labels": {"turn_id": "{turn}", "useful": "yes"},
    "/inspector/guidance/{guidance_id}/forget": {},
    "/inspector/guidance/{guidance_id}/correct": {"text": "mine"},
    "/inspector/dead-letters/{item_id}/replay": {},
    "/inspector/dead-letters/replay": {},
}


class Visitor:
    """Somebody with a cookie, and the key their forms carry."""

    def __init__(self, url: str, token: str) -> None:
        self.client = httpx.Client(base_url=url, trust_env=False, timeout=300)
        answer = self.client.post("/inspector/login", data={"token": token})
        assert answer.status_code == 303, answer.text
        found = re.search(r'name="form_key" value="([^"]+)"', self.client.get("/inspector").text)
        assert found
        self.form_key = found[1]

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(path, **options)

    def post(self, path: str, **fields: str) -> httpx.Response:
        return self.client.post(path, data={"form_key": self.form_key, **fields})


@pytest.fixture
def enter() -> Iterator[Callable[[Any, str], Visitor]]:
    made: list[Visitor] = []

    def log_in(tenant: Any, token: str | None = None) -> Visitor:
        made.append(Visitor(tenant.client.url, token or tenant.token))
        return made[-1]

    yield log_in
    for visitor in made:
        visitor.client.close()


@pytest.fixture
def anns(tenant: Any) -> dict[str, str]:
    """Ann's memory, filled, and the ids of what is in it."""
    client = tenant.client
    talk = [f"Beam {n} of the {SECRET} bridge was measured on {n + 1} May 2026. " * 6 for n in range(40)]
    said = client.post_turns("long", [{"role": "user", "content": one} for one in talk], user_id="ann")
    wish = f"From now on always call me captain {SECRET}."
    client.post_turns("s1", [{"role": "user", "content": wish}], user_id="ann")
    client.put_document("ann.md", f"- Always mention {SECRET}.", user_id="ann")
    tenant.settle()
    client.compact("long", force=True)
    made = client.assemble(session_id="long", query="bridge", budget_tokens=2000, explain=True)
    client.call("GET", f"/v1/assemblies/{made['assembly_id']}")  # waits until it is written
    return {
        "turn": said["accepted"][0],
        "summary": str(tenant.one("SELECT id FROM longtail.summaries WHERE tenant_id = :tenant LIMIT 1")),
        "guidance": str(tenant.one("SELECT id FROM longtail.guidance WHERE tenant_id = :tenant LIMIT 1")),
        "assembly": made["assembly_id"],
    }


def bury(tenant: Any, turn_id: str) -> None:
    """As if the workers had given the turn up."""
    tenant.rows(
        "WITH gone AS (UPDATE longtail.work SET stage = 'failed', last_error = 'ValueError' WHERE item_id = :id "
        "RETURNING tenant_id, item_id) INSERT INTO longtail.dead_letters (tenant_id, item_id, stage, reason, attempts) "
        "SELECT tenant_id, item_id, 'ingested', 'ValueError', 3 FROM gone RETURNING 1",
        id=turn_id,
    )


def fill(path: str, ids: dict[str, str]) -> str:
    names = {**ids, "assembly_id": ids["assembly"], "guidance_id": ids["guidance"], "item_id": ids["turn"]}
    for name, value in names.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def test_every_page_and_form_is_probed_here() -> None:
    probed = {("GET", path) for path in GETS} | {("POST", path) for path in POSTS}
    assert probed | OPEN == ROUTES


def test_without_a_login_every_page_leads_to_it_and_no_form_does_anything(tenant: Any, anns: Any) -> None:
    with httpx.Client(base_url=tenant.client.url, trust_env=False) as client:
        client.headers["Authorization"] = f"Bearer {tenant.token}"  # opens the API, and no page
        for paths in GETS.values():
            for path in paths:
                answer = client.get(fill(path, anns))
                assert (answer.status_code, answer.headers["location"][:16]) == (303, "/inspector/login")
        for path, fields in POSTS.items():
            answer = client.post(fill(path, anns), data=fields)
            assert answer.status_code == 303, path
            assert answer.headers["location"] == "/inspector/login"
        assert client.get("/inspector/work", headers={"X-Part": "1"}).status_code == 401


def test_every_answer_forbids_what_is_foreign(tenant: Any, enter: Any) -> None:
    visitor = enter(tenant)
    missing = f"/inspector/receipts/{uuid4()}"
    for path in (
        "/inspector",
        "/inspector/login",
        missing,
        "/inspector/prompt?budget=x",
        "/inspector/work?x=1",
    ):
        answer = visitor.get(path)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, path
        assert "text/html" in answer.headers["content-type"]
        assert "style=" not in answer.text and "<script>" not in answer.text
    style = visitor.get("/inspector/static/inspector.css")
    assert style.headers["content-type"].startswith("text/css")
    assert (
        visitor.get(
            "/inspector/static/inspector.css", headers={"If-None-Match": style.headers["etag"]}
        ).status_code
        == 304
    )
    assert visitor.get("/inspector/static/..%2Fpages.py").status_code == 404


def test_an_address_that_leads_nowhere_is_a_page_with_a_way_back(tenant: Any, enter: Any) -> None:
    answer = enter(tenant).get("/inspector/nowhere")
    assert answer.status_code == 404
    assert "there is no page" in answer.text
    assert 'href="/inspector/sessions"' in answer.text


def test_the_cookie_is_of_the_inspector_alone_and_holds_no_token(tenant: Any) -> None:
    with httpx.Client(base_url=tenant.client.url, trust_env=False) as client:
        answer = client.post("/inspector/login", data={"token": tenant.token, "next": "//evil.example"})
        assert answer.headers["location"] == "/inspector"
        cookie = answer.headers["set-cookie"]
        assert {"HttpOnly", "SameSite=strict", "Path=/inspector"} <= set(cookie.split("; "))
        assert tenant.token not in cookie
        assert client.get("/v1/status").status_code == 401  # the API takes no cookie
        assert client.post("/inspector/login", data={"token": "lt_nobody"}).status_code == 401


def test_a_login_over_https_is_sent_over_https_alone(tenant: Any) -> None:
    with httpx.Client(base_url=tenant.client.url, trust_env=False) as client:
        host = client.base_url.netloc.decode()
        for origin, is_secure in ((f"https://{host}", True), (f"http://{host}", False)):
            answer = client.post("/inspector/login", data={"token": tenant.token}, headers={"Origin": origin})
            assert ("Secure" in answer.headers["set-cookie"].split("; ")) is is_secure, origin


def test_an_empty_query_shows_what_a_session_starts_with(tenant: Any, enter: Any) -> None:
    tenant.say("s1", "I moved to Tromsø in May.", user_id="ann")
    tenant.settle()
    visitor = enter(tenant)
    assert 'class="stacked"' not in visitor.get("/inspector/prompt?session_id=s2&user_id=ann").text
    page = visitor.get("/inspector/prompt?session_id=s2&user_id=ann&query=").text
    assert "Tromsø" in page
    assert 'name="user_id" value="ann"' in page, "the form asks for the user of a new session"


def test_signals_that_found_nothing_are_counted_apart(tenant: Any) -> None:
    tenant.say("s1", "Fixed ORA-00942 in src/db.py", "ok", "My sister Ines lives in Porto", user_id="ann")
    tenant.settle()
    with plain_transaction(tenant.owner) as connection:
        spread = spread_signals(connection, tenant_id=tenant.id, bins=20, most=100)
    for name in ("t", "p", "d", "h", "score"):
        zeros = f"SELECT count(*) FROM longtail.gate_decisions WHERE tenant_id = :tenant AND {name} = 0"
        assert (spread[name].zeros, spread[name].total) == (tenant.one(zeros), 3), name
    assert 0 < spread["t"].zeros < 3


def test_a_form_of_another_site_or_of_another_login_is_refused(tenant: Any, anns: Any, enter: Any) -> None:
    one, other = enter(tenant), enter(tenant)
    path = f"/inspector/guidance/{anns['guidance']}/forget"
    refused = [
        one.client.post(path, data={}),
        one.client.post(path, data={"form_key": other.form_key}),
        one.client.post(path, data={"form_key": one.form_key}, headers={"Origin": "http://evil.example"}),
        one.client.post(path, data={"form_key": one.form_key}, headers={"Sec-Fetch-Site": "cross-site"}),
        one.client.post("/inspector/login", data={"token": tenant.token}, headers={"Origin": "null"}),
    ]
    assert [answer.status_code for answer in refused] == [403] * 5
    assert tenant.one("SELECT forgotten_at FROM longtail.guidance WHERE tenant_id = :tenant LIMIT 1") is None


@pytest.mark.parametrize("who", ["bob", "another tenant"])
def test_a_token_shows_and_changes_nothing_of_others(
    tenant: Any, anns: Any, enter: Any, new_tenant: Any, who: str
) -> None:
    visitor = enter(tenant, tenant.issue(namespaces=["bob"]) if who == "bob" else new_tenant().token)
    bury(tenant, anns["turn"])
    for paths in GETS.values():
        for path in paths:
            answer = visitor.get(fill(path, anns))
            assert answer.status_code != 500, path
            assert SECRET not in answer.text, path
            assert ">ann<" not in answer.text, path
    for path, fields in POSTS.items():
        if path != "/inspector/logout":
            answer = visitor.post(
                fill(path, anns), **{name: fill(value, anns) for name, value in fields.items()}
            )
            assert answer.status_code in {403, 404, 422}, (path, answer.status_code)
            assert SECRET not in answer.text, path
    assert tenant.one("SELECT count(*) FROM longtail.dead_letters WHERE tenant_id = :tenant") == 1
    assert tenant.one("SELECT count(*) FROM longtail.feedback WHERE tenant_id = :tenant") == 0
    assert tenant.one("SELECT forgotten_at FROM longtail.guidance WHERE tenant_id = :tenant LIMIT 1") is None


def test_a_token_that_may_only_read_is_offered_no_deed_and_does_none(
    tenant: Any, anns: Any, enter: Any
) -> None:
    token = tenant.issue(scopes=("read",))
    bury(tenant, anns["turn"])
    reader = enter(tenant, token)
    assert SECRET in reader.get("/inspector/rules").text
    for page, deed in (("rules", "Forget"), ("gate", 'value="yes"'), ("work", "Replay")):
        assert deed not in reader.get(f"/inspector/{page}").text
        assert deed in enter(tenant).get(f"/inspector/{page}").text
    for path in ("/inspector/guidance/{guidance}/forget", "/inspector/dead-letters/{turn}/replay"):
        assert reader.post(fill(path, anns)).status_code == 403


def test_words_stay_words_on_every_page(tenant: Any, enter: Any) -> None:
    attack = f"<script>alert('{SECRET}')</script>"
    client = tenant.client
    client.put_document(f"{attack}.md", f"- Never say {attack}.\n", user_id=f"u{attack}")
    wish = f"From now on always say {attack} to me."
    client.post_turns(f"s{attack}", [{"role": "user", "content": wish, "name": attack}], user_id=f"u{attack}")
    tenant.settle()
    visitor = enter(tenant)
    pages = {
        path: visitor.get(path, params=asked).text
        for path, asked in (
            ("/inspector/sessions", None),
            (f"/inspector/sessions/s{attack}", None),
            ("/inspector/prompt", {"session_id": f"s{attack}", "query": attack}),
            ("/inspector/gate", None),
            ("/inspector/rules", None),
            ("/inspector/documents", {"name": f"{attack}.md", "binding": f"user:u{attack}"}),
            ("/inspector/login", {"next": f"/inspector/{attack}"}),
        )
    }
    for path, page in pages.items():
        assert SECRET in page, path
        assert "<script>" not in page, path


def test_looking_at_a_prompt_counts_no_reads(tenant: Any, anns: Any, enter: Any) -> None:
    visitor = enter(tenant)
    reads = "SELECT max(access_count) FROM longtail.items WHERE tenant_id = :tenant"

    await_true(lambda: tenant.one(reads) == 1)  # the host's prompt
    for query in ("bridge", "beam"):
        assert visitor.get(f"/inspector/prompt?session_id=long&query={query}").status_code == 200
    tenant.client.assemble(session_id="long", query="bridge", budget_tokens=2000)
    await_true(lambda: tenant.one(reads) == 2)


def test_a_label_goes_to_feedback_and_calibration(tenant: Any, anns: Any, enter: Any) -> None:
    visitor = enter(tenant)
    assert "No labels yet" in visitor.get("/inspector/gate").text
    for useful in ("yes", "no"):
        answer = visitor.post("/inspector/gate/labels", turn_id=anns["turn"], useful=useful)
        assert answer.headers["location"] == f"/inspector/gate#e-{anns['turn']}"
    assert tenant.rows("SELECT is_useful FROM longtail.feedback WHERE tenant_id = :tenant") == [(False,)]
    assert "No labels yet" not in visitor.get("/inspector/gate").text
    assert visitor.post("/inspector/gate/labels", turn_id="x", useful="yes").status_code == 422


def test_a_wish_is_corrected_and_forgotten(tenant: Any, anns: Any, enter: Any) -> None:
    visitor = enter(tenant)
    path = f"/inspector/guidance/{anns['guidance']}"
    words = "From now on always call me admiral."
    assert visitor.post(f"{path}/correct", text=words).status_code == 303
    tenant.settle()
    assert words in visitor.get("/inspector/rules").text
    assert visitor.post(f"{path}/correct", text=" ").status_code == 422
    assert visitor.post(f"{path}/forget").headers["location"] == "/inspector/rules#wishes"
    assert tenant.one("SELECT forgotten_at FROM longtail.guidance WHERE tenant_id = :tenant LIMIT 1")


def test_a_dead_letter_is_replayed_to_its_end(tenant: Any, anns: Any, enter: Any) -> None:
    visitor = enter(tenant)
    bury(tenant, anns["turn"])
    assert "ValueError" in visitor.get("/inspector/work").text
    assert visitor.post(f"/inspector/dead-letters/{anns['turn']}/replay").status_code == 303
    tenant.settle()
    stage = "SELECT stage FROM longtail.work WHERE item_id = :id"
    assert tenant.one(stage, id=anns["turn"]) == "done"
    assert visitor.post("/inspector/dead-letters/replay").status_code == 404
    assert "No dead letters" in visitor.get("/inspector/work").text


def test_the_last_run_of_every_scheduled_task_is_written_down(tenant: Any, enter: Any) -> None:
    deadline = time.monotonic() + 300
    seen: set[str] = set()
    while not {"memory.sweep", "memory.compact_due"} <= seen and time.monotonic() < deadline:
        seen = {row.name for row in tenant.rows("SELECT name FROM longtail.task_runs WHERE error IS NULL")}
        time.sleep(0.2)
    assert {"memory.sweep", "memory.compact_due"} <= seen
    page = enter(tenant).get("/inspector").text
    assert page.count('class="good"') == 4


def test_a_revoked_token_and_a_logout_end_the_login(tenant: Any, enter: Any) -> None:
    token = tenant.issue()
    revoked, left = enter(tenant, token), enter(tenant)
    tenant.rows(
        "UPDATE longtail.tokens SET revoked_at = now() WHERE token_sha256 = sha256(:token) RETURNING 1",
        token=token.encode(),
    )
    deadline = time.monotonic() + 300
    while (status := revoked.get("/inspector").status_code) == 200 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert status == 303
    kept = dict(left.client.cookies)
    assert left.post("/inspector/logout").status_code == 303
    left.client.cookies.update(kept)
    assert left.get("/inspector").status_code == 303
