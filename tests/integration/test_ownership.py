"""Claims about whose a session is: nobody else reads it or adds to it, unless it was opened for all."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import text

from api.client import ServiceClient
from models.errors import Conflict, Forbidden, NotFound, ServiceError
from models.store.engine import plain_transaction, tenant_transaction
from models.store.tenancy.tokens import Caller, find_caller

TOKENS: dict[ServiceClient, str] = {}
SECRET = "The vault opens with 7-13-22, says Ann."


@pytest.fixture
def home(tenant: Any) -> Any:
    """Ann's session, with one secret in it."""
    tenant.say("s1", SECRET, user_id="ann")
    return tenant


@pytest.fixture
def bind(tenant: Any) -> Iterator[Callable[..., ServiceClient]]:
    """Clients with tokens that open only what they name."""
    made: list[ServiceClient] = []

    def make(*namespaces: str, agents: list[str] | None = None) -> ServiceClient:
        token = tenant.issue(namespaces=list(namespaces) or None, agents=agents)
        made.append(ServiceClient(url=tenant.client.url, token=token))
        TOKENS[made[-1]] = token
        return made[-1]

    yield make
    for client in made:
        client.__exit__()


def ask(client: ServiceClient, session: str = "s1", **identity: Any) -> str:
    found: str = client.assemble(session_id=session, query="the vault", budget_tokens=2000, **identity)[
        "text"
    ]
    return found


REFUSED_TO_BOB: dict[str, Callable[[Any], Any]] = {
    "assemble": lambda client: ask(client, user_id="bob"),
    "turns": lambda client: client.post_turns("s1", [{"role": "user", "content": "x"}], user_id="bob"),
    "search": lambda client: client.search(query="vault", session_id="s1", user_id="bob"),
    "history": lambda client: client.call("GET", "/v1/sessions/s1/turns", params={"user_id": "bob"}),
    "session": lambda client: client.call("GET", "/v1/sessions/s1", params={"user_id": "bob"}),
    "grep": lambda client: client.grep(pattern="vault", session_id="s1", user_id="bob"),
    "compact": lambda client: client.call("POST", "/v1/sessions/s1/compact", json={"user_id": "bob"}),
    "export": lambda client: b"".join(client.export(session_id="s1", user_id="bob")),
    "lifecycle": lambda client: client.call(
        "POST", "/v1/lifecycle", json={"event": "session_end", "session_id": "s1", "user_id": "bob"}
    ),
    "by key": lambda client: ask(client, session_key="main"),
    "by agent": lambda client: ask(client, agent_id="main"),
}


@pytest.mark.parametrize("way", REFUSED_TO_BOB)
def test_another_identity_gets_409_with_the_remedy(home: Any, way: str) -> None:
    with pytest.raises(Conflict) as refused:
        REFUSED_TO_BOB[way](home.client)
    assert refused.value.code == "session_of_another"
    assert "shared" in (refused.value.remedy or "")
    assert "ann" not in refused.value.detail
    assert home.one("SELECT namespace FROM longtail.sessions WHERE tenant_id = :tenant") == "ann"


def test_a_host_that_names_nobody_reads_the_session_as_its_owner(home: Any) -> None:
    assert SECRET in ask(home.client)
    home.say("s1", "and on Sundays it stays shut")
    assert home.rows("SELECT DISTINCT namespace FROM longtail.turns WHERE tenant_id = :tenant") == [("ann",)]


def test_less_of_an_identity_is_still_the_owner_and_more_of_it_makes_it_known(tenant: Any) -> None:
    tenant.say("s", "first", agent_id="main")
    tenant.say("s", "second", agent_id="main", session_key="k")
    tenant.say("s", "third", agent_id="main", session_key="k", user_id="ann")
    tenant.say("s", "fourth", session_key="k")
    found = tenant.rows("SELECT namespace FROM longtail.turns WHERE tenant_id = :tenant ORDER BY position")
    assert [row.namespace for row in found] == ["agent-id:main", "session-key:k", "ann", "ann"]
    with pytest.raises(Conflict):
        tenant.say("s", "fifth", session_key="k", user_id="bob")
    assert "third" in ask(tenant.client, "s", session_key="k")


def test_a_session_that_nobody_named_becomes_its_first_named_speakers(tenant: Any) -> None:
    tenant.say("s", "hello")
    tenant.say("s", "I am Ann", user_id="ann")
    with pytest.raises(Conflict):
        tenant.say("s", "I am Bob", user_id="bob")


def test_a_shared_session_is_everybodys_and_each_speaker_feeds_their_own_memory(tenant: Any) -> None:
    for who in ("ann", "bob"):
        turn = {"role": "user", "content": f"{who} says hello to all", "name": who}
        tenant.client.call(
            "POST", "/v1/sessions/g/turns", json={"user_id": who, "shared": True, "turns": [turn]}
        )
    found = tenant.rows("SELECT namespace FROM longtail.turns WHERE tenant_id = :tenant ORDER BY position")
    assert [row.namespace for row in found] == ["ann", "bob"]
    prompt = ask(tenant.client, "g", user_id="bob")
    assert "ann says hello" in prompt
    assert tenant.client.call("GET", "/v1/sessions/g")["is_shared"] is True


def test_a_session_of_one_identity_is_not_shared_afterwards(home: Any) -> None:
    turn = {"role": "user", "content": "let me in"}
    with pytest.raises(Conflict):
        home.client.call(
            "POST", "/v1/sessions/s1/turns", json={"user_id": "ann", "shared": True, "turns": [turn]}
        )


def test_a_token_of_bob_neither_reads_nor_takes_over_anns_session(home: Any, bind: Any) -> None:
    bob = bind("bob")
    for call in REFUSED_TO_BOB.values():
        with pytest.raises(ServiceError) as refused:
            call(bob)
        assert isinstance(refused.value, Conflict | Forbidden | NotFound), refused.value
    for call in (
        lambda: ask(bob),
        lambda: bob.post_turns("s1", [{"role": "user", "content": "mine now"}]),
        lambda: bob.list_turns("s1"),
        lambda: bob.grep(pattern="vault", session_id="s1"),
        lambda: bob.compact("s1"),
        lambda: rpc(bob, "query_raw_session", sessionId="s1", text="vault"),
        lambda: rpc(bob, "list_collection", collection="session_raw:s1"),
        lambda: rpc(bob, "list_collection", collection="session:s1"),
        lambda: rpc(bob, "search_text", collection="session_raw:s1", text="vault"),
        lambda: rpc(bob, "insert_session_turn", sessionId="s1", id="x", text="mine now"),
        lambda: rpc(bob, "compact_session", sessionId="s1"),
    ):
        with pytest.raises((Conflict, Forbidden)):
            call()
    assert home.one("SELECT namespace FROM longtail.sessions WHERE tenant_id = :tenant") == "ann"
    assert home.one("SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant") == 1
    assert "vault" not in str(bob.call("GET", "/v1/sessions")) + str(bob.grep(pattern="vault"))


def rpc(client: ServiceClient, method: str, **params: Any) -> Any:
    """The result of a call, or the refusal as an error of ours."""
    answer = client.call("POST", "/rpc", json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    if "error" in answer:
        kind = {-32003: Forbidden}.get(answer["error"]["code"], Conflict)
        raise kind(answer["error"]["message"])
    return answer["result"]


def test_a_bound_token_need_not_name_itself(tenant: Any, bind: Any) -> None:
    ann = bind("ann")
    ann.post_turns("mine", [{"role": "user", "content": SECRET}])
    assert tenant.one("SELECT namespace FROM longtail.sessions WHERE tenant_id = :tenant") == "ann"
    assert SECRET in ask(ann, "mine")


def test_a_token_of_a_user_opens_no_agents_documents(home: Any, bind: Any) -> None:
    home.client.put_document("agent.md", "- Never say the word kumquat.", agent_id="main")
    home.client.put_document("all.md", "- Always greet.")
    ann, with_agent = bind("ann"), bind("ann", agents=["main"])
    with pytest.raises(Forbidden):
        ask(ann, user_id="ann", agent_id="main")
    with pytest.raises(Forbidden):
        ann.post_turns("s1", [{"role": "user", "content": "x"}], user_id="ann", agent_id="main")
    with pytest.raises(Forbidden):
        ann.call("GET", "/v1/documents/agent.md", params={"agent_id": "main"})
    home.say("s1", "hi", user_id="ann", agent_id="main")
    assert "kumquat" not in ask(ann, user_id="ann")
    assert "Always greet" in ask(ann, user_id="ann")
    assert "kumquat" in ask(with_agent, user_id="ann", agent_id="main")


def caller_of(tenant: Any, client: ServiceClient) -> Caller:
    with plain_transaction(tenant.owner) as connection:
        found = find_caller(connection, token=TOKENS[client])
    assert found is not None
    return found


def test_the_database_decides_again_where_a_check_was_forgotten(home: Any, bind: Any) -> None:
    home.settle()
    ann, bob = caller_of(home, bind("ann")), caller_of(home, bind("bob"))
    engine = home.as_role("longtail_api")
    for table in ("turns", "sessions", "items", "work", "embeddings_minilm", "postings", "lexicon"):
        count = text(f"SELECT count(*) FROM {table}")
        with tenant_transaction(engine, ann) as connection:
            assert connection.execute(count).scalar_one() > 0, table
        with tenant_transaction(engine, bob) as connection:
            assert connection.execute(count).scalar_one() == 0, table
    words = text("SELECT count(*) FROM longtail.find_by_words(ARRAY['vault'], ARRAY['ann'], 10, 10)")
    with tenant_transaction(engine, ann) as connection:
        assert connection.execute(words).scalar_one() == 1
    with tenant_transaction(engine, bob) as connection:
        assert connection.execute(words).scalar_one() == 0
    for deed in (
        "INSERT INTO sessions (tenant_id, session_id, namespace) VALUES (:tenant, 'x', 'ann')",
        "INSERT INTO records (tenant_id, collection, id, namespace, body) VALUES (:tenant, 'c', 'i', 'ann', 'x')",
        "SELECT longtail.erase('namespace', 'ann', NULL, NULL, uuidv7())",
    ):
        with pytest.raises(Forbidden, match="does not open"), tenant_transaction(engine, bob) as connection:
            connection.execute(text(deed), {"tenant": home.id})


def test_a_transaction_that_names_no_namespaces_sees_none(home: Any) -> None:
    with plain_transaction(home.as_role("longtail_api")) as connection:
        connection.execute(text("SELECT set_config('longtail.tenant_id', :t, true)"), {"t": str(home.id)})
        assert connection.execute(text("SELECT count(*) FROM turns")).scalar_one() == 0


def test_unknown_query_parameters_are_refused_with_the_known_ones(home: Any) -> None:
    home.say("s2", "I always want tea, never coffee.", user_id="bob")
    home.settle()
    for path in ("/v1/guidance", "/v1/memories", "/v1/sessions", "/v1/documents", "/v1/status", "/healthz"):
        with pytest.raises(ServiceError) as refused:
            home.client.call("GET", path, params={"usr_id": "ann"})
        assert refused.value.code == "unknown_parameter"
        assert refused.value.field == "usr_id"
    assert "user_id" in refused_remedy(home, "/v1/guidance")


def refused_remedy(tenant: Any, path: str) -> str:
    with pytest.raises(ServiceError) as refused:
        tenant.client.call("GET", path, params={"x": "y"})
    return refused.value.remedy or ""


def test_a_list_of_one_user_holds_nothing_of_another_however_the_user_is_named(home: Any) -> None:
    home.say("s2", "From now on always answer me in Latin.", user_id="bob")
    home.settle()
    for named in ({"user_id": "ann"}, {"namespace": "ann"}):
        assert home.client.call("GET", "/v1/guidance", params=named)["guidance"] == []
        lines = b"".join(home.client.export(**named))
        assert b"Latin" not in lines and b"vault" in lines
    assert home.client.call("GET", "/v1/guidance", params={"user_id": "bob"})["guidance"] != []
