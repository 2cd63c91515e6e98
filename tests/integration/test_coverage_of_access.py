"""Nobody reads what is not theirs, shown for everything there is: each table, view, function, route, method and task is
listed here with a probe or a reason, and one that is not makes this fail."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import text

from api.rpc.methods.registry import METHODS
from models.messages import QUEUE_OF_TASK
from models.store.engine import plain_transaction, tenant_transaction
from models.store.tenancy.tokens import Caller, find_caller

ARCHITECTURE = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
SECRET = "xanadu"  # in everything of Ann's, and in no question
SAID = (
    f"My favourite colour is {SECRET} blue, and I moved to {SECRET} street on 3 May 2026.",
    f"From now on always call me captain {SECRET}.",
)
POLICIES = {f"one_namespace_{command}" for command in ("select", "insert", "update", "delete")}
TABLES_OF_NOBODY = {
    "alembic_version": "the number of the schema",
    "encoders": "which model filled which table",
    "tenants": "its own row: a name, a threshold, a marker",
    "task_runs": "when scheduled tasks ran, for the whole service",
    "tokens": "no service role reads it",
    "passes": "ids of tenants and hashes that open nothing; no service role reads a secret (test_tenancy)",
    "tombstones": "no service role reads it",
    "tombstone_salts": "no service role reads it",
}
VIEWS = {
    *("pipeline", "gate", "sessions", "dead_letters", "compaction", "summaries", "lineage", "assemblies"),
    *("gate_daily", "memory_growth", "compaction_yield", "assembly_daily", "degraded_codes", "prompt_cache"),
    *(
        "memory_use",
        "most_recalled",
        "never_recalled",
        "junk_candidates",
        "lag_hourly",
        "usage",
        "rules_in_force",
    ),
}
# Functions that a service role may call: those of the API are probed below, workers act for everybody.
FUNCTIONS = {
    "longtail_api": {
        *(
            "current_tenant",
            "current_seal",
            "opens_all",
            "opened_namespaces",
            "opened",
            "readable",
            "stem",
            "count_useful",
        ),  # of the transaction
        *("authenticate", "living_tokens"),  # of whoever holds a token
        "measure_service",  # numbers without tenants
        *("issue_token", "list_tokens", "revoke_token", "check_administration"),  # probed as routes
        *("accept_turns", "find_home", "find_places", "read_context", "find_by_words"),
        *("erase", "is_buried"),  # within the tenant; erase asks what the token opens
    },
    "longtail_worker": {
        *(
            "current_tenant",
            "current_seal",
            "stem",
            "count_useful",
            "index_items",
            "claim_work",
            "hold_work",
            "ready_work",
            "claim_compactions",
        ),
        *("find_unfilled", "take_over"),  # across tenants, for an encoder that is being filled
        *("compacted_tenants", "compaction_pass", "prune_journals", "prune_assemblies", "unindex_summaries"),
    },
    "longtail_report": {"current_seal"},  # in the policies of what its views read
}
# What a message of each task carries: ids at most, never words, so that Redis holds nothing worth reading.
TASKS = {
    **dict.fromkeys(
        (
            "memory.ingest",
            "memory.embed_pending",
            "memory.gate_pending",
            "memory.reembed",
            "memory.sweep",
            "memory.compact_due",
        ),
        (),
    ),
    **dict.fromkeys(("memory.verify_lineage", "memory.prune_journal", "memory.prune_receipts"), ()),
    "memory.compact_session": ("tenant_id", "session_id"),
}


@dataclass
class Place:
    """Ann's memory, filled, and the ids of what is in it."""

    tenant: Any
    ids: dict[str, str]
    strangers: dict[
        str, str
    ]  # who asks -> their token: Bob and another agent of the tenant, and another tenant


@pytest.fixture(scope="module")
def place(stack: Any, owner: Any, tenant_on: Callable[..., Any]) -> Iterator[Place]:
    tenant, other = tenant_on(stack, owner), tenant_on(stack, owner)
    client = tenant.client
    client.post_turns("s1", [{"role": "user", "content": one} for one in SAID], user_id="ann")
    older = [
        {"role": "user", "content": f"Beam {n} of the {SECRET} bridge was measured. " * 8} for n in range(60)
    ]
    client.post_turns("long", older, user_id="ann")
    client.put_document("ann.md", f"- Always mention {SECRET}.\n\nLore of {SECRET}.", user_id="ann")
    client.put_document("agent.md", f"- Never forget {SECRET}.\n\nAgents know {SECRET}.", agent_id="main")
    tenant.settle()
    client.compact("long", force=True)
    client.call("POST", "/v1/lifecycle", json={"event": "session_end", "session_id": "s1", "reason": SECRET})
    made = client.assemble(session_id="s1", query="colour", budget_tokens=2000, user_id="ann", explain=True)
    client.call("GET", f"/v1/assemblies/{made['assembly_id']}")  # waits until it is written
    rpc = {"collection": "dream:ann", "id": "d1", "text": f"A dream of {SECRET}."}
    client.call("POST", "/rpc", json={"jsonrpc": "2.0", "id": 1, "method": "insert_text", "params": rpc})
    memory = client.call("GET", "/v1/memories", params={"user_id": "ann"})["memories"][0]
    client.call("PATCH", f"/v1/memories/{memory['id']}", json={"text": memory["text"] + " Corrected."})
    label = {"labels": [{"id": memory["id"], "useful": True}]}
    client.call("POST", "/v1/feedback", json=label)
    tenant.settle()
    summary = tenant.one("SELECT id FROM longtail.summaries WHERE tenant_id = :tenant LIMIT 1")
    guidance = client.call("GET", "/v1/guidance", params={"user_id": "ann"})["guidance"][0]
    ids = {
        "memory": memory["id"],
        "summary": str(summary),
        "guidance": guidance["id"],
        "assembly": made["assembly_id"],
        "token": str(tenant.one("SELECT id FROM longtail.tokens WHERE tenant_id = :tenant LIMIT 1")),
    }
    strangers = {"another tenant": other.token}
    for name, bound in (("bob", {"namespaces": ["bob"]}), ("another agent", {"agents": ["other"]})):
        strangers[name] = tenant.issue(**bound)
    yield Place(tenant=tenant, ids=ids, strangers=strangers)
    for one in (tenant, other):
        one.client.__exit__()
        for engine in one.engines.values():
            engine.dispose()


ASK = {"query": "what is the favourite colour?", "session_id": "s1"}
# Every route, and how a stranger would try it: with Ann's name, and with nobody's.
ROUTES: dict[str, list[dict[str, Any]]] = {
    "get /v1/sessions/{session_id}/turns": [
        {},
        {"params": {"user_id": "ann"}},
        {"params": {"namespace": "ann"}},
    ],
    "post /v1/sessions/{session_id}/turns": [
        {"json": {"user_id": who, "turns": [{"role": "user", "content": "mine"}]}}
        for who in ("ann", "bob", None)
    ],
    "post /v1/grep": [
        {"json": {"pattern": "favourite"}},
        {"json": {"pattern": "favourite", "user_id": "ann"}},
        {"json": {"pattern": "favourite", "session_id": "s1"}},
    ],
    "post /v1/assemble": [
        {"json": {**ASK, "budget_tokens": 4000, **who}}
        for who in (
            {},
            {"user_id": "ann"},
            {"user_id": "bob"},
            {"agent_id": "main"},
            {"user_id": "bob", "agent_id": "main"},
        )
    ],
    "post /v1/search": [
        {"json": {**ASK, **who}} for who in ({}, {"user_id": "ann"}, {"user_id": "bob"}, {"agent_id": "main"})
    ],
    "get /v1/documents": [{}, {"params": {"user_id": "ann"}}, {"params": {"agent_id": "main"}}],
    "get /v1/documents/{name}": [{"params": {"user_id": "ann"}}, {"params": {"agent_id": "main"}}, {}],
    "put /v1/documents/{name}": [
        {"content": "- Never.", "params": {"user_id": "ann"}},
        {"content": "- Never.", "params": {"agent_id": "main"}},
    ],
    "delete /v1/documents/{name}": [{"params": {"user_id": "ann"}}, {"params": {"agent_id": "main"}}],
    "post /v1/feedback": [{"json": {"labels": [{"id": "{memory}", "useful": False}]}}],
    "get /v1/calibration": [{}],
    "get /v1/status": [{"params": {"counts": "true"}}],
    "post /v1/sessions/{session_id}/compact": [{"json": {}}, {"json": {"user_id": "ann"}}],
    "get /v1/summaries/{summary_id}": [{}, {"params": {"user_id": "ann"}}],
    "get /v1/summaries/{summary_id}/expand": [{}, {"params": {"user_id": "ann"}}],
    "post /v1/lifecycle": [{"json": {"event": "session_end", "session_id": "s1"}}],
    "get /v1/journal": [{}, {"params": {"user_id": "ann"}}, {"params": {"session_id": "s1"}}],
    "post /v1/lineage/verify": [{"json": {}}, {"json": {"session_id": "long", "repair": True}}],
    "get /v1/memories": [{}, {"params": {"user_id": "ann"}}, {"params": {"session_id": "s1"}}],
    "get /v1/memories/{memory_id}": [{"params": {"explain": "true"}}],
    "post /v1/memories": [
        {"json": {"text": "mine", "user_id": "ann"}},
        {"json": {"text": "mine", "scope": "global"}},
    ],
    "patch /v1/memories/{memory_id}": [{"json": {"text": "mine"}}],
    "delete /v1/memories/{memory_id}": [{}],
    "get /v1/guidance": [{}, {"params": {"user_id": "ann"}}, {"params": {"collection": "elevated:user:ann"}}],
    "patch /v1/guidance/{guidance_id}": [{"json": {"text": "mine"}}],
    "delete /v1/guidance/{guidance_id}": [{}],
    "get /v1/profile": [{}, {"params": {"user_id": "ann"}}],
    "get /v1/sessions": [{}, {"params": {"user_id": "ann"}}],
    "get /v1/sessions/{session_id}": [{}, {"params": {"user_id": "ann"}}],
    "get /v1/namespaces": [{}],
    "delete /v1/namespaces/{namespace}": [{"params": {"confirm": "ann"}}],
    "get /v1/erasures": [{}],
    "get /v1/erasures/{erasure_id}": [{}],
    "post /v1/erasures": [
        {"json": {"kind": kind, "name": name, "confirm": name, **whose}}
        for kind, name, whose in (
            ("namespace", "ann", {}),
            ("session", "s1", {}),
            ("memory", "{memory}", {}),
            ("document", "ann.md", {"user_id": "ann"}),
        )
    ],
    "get /v1/export": [{}, {"params": {"user_id": "ann"}}, {"params": {"session_id": "s1"}}],
    "post /v1/import": [{"content": '{"type": "header", "format": "longtail", "version": 1}\n'}],
    "get /v1/assemblies/{assembly_id}": [{}],
    "post /v1/assemblies/{assembly_id}/replay": [{}],
    "get /v1/tokens": [{}],
    "delete /v1/tokens/{token_id}": [{}],
    "post /v1/tokens/{token_id}/rotate": [{}],
}
ROUTES_OF_NOBODY = {
    "get /healthz": "the process answers",
    "get /readyz": "PostgreSQL and the encoder are there",
    "get /metrics": "numbers without tenants",
    "post /rpc": "each method is probed by itself",
    "put /v1/calibration": "the caller's own tenant, for a token of the whole tenant",
    "post /v1/tokens": "the caller's own tenant, for a token of the whole tenant",
}
PATH_VALUES = {"session_id": "s1", "name": "ann.md", "namespace": "ann", "erasure_id": str(uuid4())}
COLLECTIONS = (
    *("session:s1", "session_raw:s1", "session_summary:long", "turns:ann", "user:ann", "dream:ann"),
    *("elevated:user:ann", "elevated:session:s1", "authored:hard", "authored:soft", "authored:variant"),
)
RPC: dict[str, list[dict[str, Any]]] = {
    "health": [{}],
    "status": [{}],
    "flush": [{}],
    "ensure_collections": [{"collections": [name]} for name in COLLECTIONS],
    "insert_session_turn": [{"sessionId": "s1", "id": "x", "text": "mine"}],
    "insert_text": [{"collection": name, "id": "x", "text": "mine"} for name in COLLECTIONS],
    "search_text": [{"collection": name, "text": "colour"} for name in COLLECTIONS],
    "search_text_collections": [{"collections": [name], "text": "colour"} for name in COLLECTIONS],
    "list_collection": [{"collection": name} for name in COLLECTIONS],
    "list_by_meta": [{"collection": name, "key": "role", "value": "user"} for name in COLLECTIONS],
    "delete": [{"collection": name, "id": "{memory}"} for name in COLLECTIONS],
    "delete_batch": [{"collection": name, "ids": ["{memory}", "d1"]} for name in COLLECTIONS],
    "bump_access_counts": [{"updates": [{"collection": name, "ids": ["d1"]}]} for name in COLLECTIONS],
    "compact_session": [{"sessionId": "s1"}],
    "expand_summary": [{"sessionId": "long", "summaryId": "{summary}"}],
    "query_raw_session": [{"sessionId": "s1", "text": "colour"}],
    "session_lifecycle_hint": [{"hook": "session_end", "sessionId": "s1"}],
    "list_lifecycle_journal": [{}, {"sessionId": "s1"}],
    "export_memory": [{}, {"userId": "ann"}],
    "flush_namespace": [{"userId": "ann"}],
    "gating_scalar": [{"userId": "ann", "text": "my favourite colour"}],
    "ingest_markdown_document": [{"sourceDoc": "ann.md", "text": "- Never."}],
    "delete_authored_document": [{"sourceDoc": "ann.md"}],
    "promote_dream_entries": [
        {
            "userId": "ann",
            "sourceDoc": "d",
            "entries": [
                {"text": "a dream of nobody at all", "score": 1, "recallCount": 9, "uniqueQueries": 9}
            ],
        }
    ],
}
HELD = ("turns", "sessions", "memories", "guidance", "documents", "summaries", "records", "journal", "tokens")


def fill(value: Any, ids: dict[str, str]) -> Any:
    """The probe with the ids of Ann's things in it."""
    if isinstance(value, str):
        for name, found in ids.items():
            value = value.replace(f"{{{name}}}", found)
        return value
    if isinstance(value, dict):
        return {key: fill(inner, ids) for key, inner in value.items()}
    return [fill(inner, ids) for inner in value] if isinstance(value, list) else value


def count_held(place: Place) -> dict[str, Any]:
    """How much Ann's tenant holds, and which of it is still as it was."""
    counts = {
        name: place.tenant.one(f"SELECT count(*) FROM longtail.{name} WHERE tenant_id = :tenant")
        for name in HELD
    }
    owned = "(namespace = 'ann' OR namespace LIKE 'agent-id:main')"
    return {
        "memories": counts["memories"],
        "documents": place.tenant.one(
            "SELECT count(*) FROM longtail.documents WHERE tenant_id = :tenant AND binding IN ('user:ann', 'agent:main') "
            f"AND body LIKE '%{SECRET}%'"
        ),
        "turns": place.tenant.one(
            f"SELECT count(*) FROM longtail.turns WHERE tenant_id = :tenant AND {owned}"
        ),
        "sessions": place.tenant.one(
            f"SELECT count(*) FROM longtail.sessions WHERE tenant_id = :tenant AND {owned}"
        ),
        "standing": place.tenant.one(
            "SELECT count(*) FROM longtail.memories WHERE tenant_id = :tenant AND forgotten_at IS NULL"
        ),
        "guidance": place.tenant.one(
            "SELECT count(*) FROM longtail.guidance WHERE tenant_id = :tenant AND forgotten_at IS NULL"
        ),
        "summaries": counts["summaries"],
        "dreams": place.tenant.one(
            "SELECT count(*) FROM longtail.records WHERE tenant_id = :tenant AND collection = 'dream:ann'"
        ),
        "tokens": place.tenant.one(
            "SELECT count(*) FROM longtail.tokens WHERE tenant_id = :tenant AND revoked_at IS NULL"
        ),
        "useful": place.tenant.one(
            "SELECT bool_and(is_useful) FROM longtail.feedback WHERE tenant_id = :tenant"
        ),
    }


def test_every_route_has_a_probe_or_a_reason(place: Place) -> None:
    document = httpx.get(place.tenant.client.url + "/openapi.json", trust_env=False).json()
    found = {f"{method} {path}" for path, operations in document["paths"].items() for method in operations}
    assert found == set(ROUTES) | set(ROUTES_OF_NOBODY)


@pytest.mark.parametrize("who", ["bob", "another agent", "another tenant"])
def test_no_route_shows_or_changes_what_is_anothers(place: Place, who: str) -> None:
    before = count_held(place)
    with httpx.Client(base_url=place.tenant.client.url, trust_env=False, timeout=300) as client:
        client.headers["Authorization"] = f"Bearer {place.strangers[who]}"
        for route, probes in ROUTES.items():
            method, path = route.split(" ")
            ids = {f"{name}_id": found for name, found in place.ids.items()}
            values = {**PATH_VALUES, **ids}
            for probe in probes:
                sent = fill(probe, place.ids)
                answer = client.request(method, path.format(**values), **sent)
                assert answer.status_code != 500, (route, sent, answer.text)
                assert SECRET not in answer.text, (route, sent, answer.text[:300])
    assert count_held(place) == before


def test_every_method_of_json_rpc_has_a_probe() -> None:
    assert set(RPC) == set(METHODS)


@pytest.mark.parametrize("who", ["bob", "another agent", "another tenant"])
def test_no_method_shows_or_changes_what_is_anothers(place: Place, who: str) -> None:
    before = count_held(place)
    with httpx.Client(base_url=place.tenant.client.url, trust_env=False, timeout=300) as client:
        client.headers["Authorization"] = f"Bearer {place.strangers[who]}"
        for method, probes in RPC.items():
            for probe in probes:
                params = fill(probe, place.ids)
                body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                answer = client.post("/rpc", json=body)
                assert '"code":-32603' not in answer.text, (method, params, answer.text)
                assert SECRET not in answer.text, (method, params, answer.text[:300])
    assert count_held(place) == before


def caller_of(place: Place, token: str) -> Caller:
    with plain_transaction(place.tenant.owner) as connection:
        found = find_caller(connection, token=token)
    assert found is not None
    return found


def test_every_table_is_locked_by_tenant_and_by_namespace_or_says_why_not(place: Place) -> None:
    rows = place.tenant.rows(
        "SELECT relname, array_agg(polname::text) AS policies FROM pg_class LEFT JOIN pg_policy ON polrelid = pg_class.oid "
        "WHERE relnamespace = 'longtail'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') GROUP BY relname"
    )
    tables = {row.relname: set(row.policies) for row in rows}
    assert set(TABLES_OF_NOBODY) <= set(tables)
    for name, policies in tables.items():
        if name not in TABLES_OF_NOBODY:
            assert {"one_tenant"} | POLICIES <= policies, name
    engine = place.tenant.as_role("longtail_api")
    strangers = [caller_of(place, token) for token in place.strangers.values()]
    filled = 0
    for name in set(tables) - set(TABLES_OF_NOBODY):
        rows_of = text(f"SELECT * FROM longtail.{name}")
        with tenant_transaction(engine, place.tenant.id) as connection:
            filled += connection.execute(rows_of).first() is not None
        for stranger in strangers:
            with tenant_transaction(engine, stranger) as connection:
                seen = [row for row in connection.execute(rows_of) if place.tenant.id in tuple(row)]
            assert not [row for row in seen if SECRET in str(row)], name
            # whose it is; "ann" as a mere word may stand in what the stranger wrote itself
            owners = [
                {key: value for key, value in row._mapping.items() if key not in {"term", "terms"}}
                for row in seen
            ]
            assert not [row for row in owners if "'ann'" in str(row)], name
    assert filled >= 20  # the test would prove nothing on empty tables


def test_every_report_is_known_and_holds_no_words(place: Place) -> None:
    views = place.tenant.rows("SELECT viewname FROM pg_views WHERE schemaname = 'reporting'")
    assert {row.viewname for row in views} == VIEWS
    with plain_transaction(place.tenant.as_role("longtail_report")) as connection:
        for name in sorted(VIEWS):
            for row in connection.execute(text(f"SELECT * FROM reporting.{name}")):
                assert SECRET not in str(row), name


def test_every_function_is_known_to_those_who_may_call_it(place: Place) -> None:
    for role, known in FUNCTIONS.items():
        rows = place.tenant.rows(
            "SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'longtail'::regnamespace "
            "AND has_function_privilege(:role, oid, 'EXECUTE')",
            role=role,
        )
        assert {row.proname for row in rows} == known, role


def test_the_architecture_page_names_every_definer_function(place: Place) -> None:
    rows = place.tenant.rows(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'longtail'::regnamespace AND prosecdef"
    )
    named = set(re.findall(r"`(\w+)`", ARCHITECTURE))
    assert {row.proname for row in rows} <= named


def test_functions_of_the_api_stay_within_what_a_token_opens(place: Place) -> None:
    engine = place.tenant.as_role("longtail_api")
    calls = (
        "SELECT longtail.find_by_words(ARRAY['colour'], ARRAY['ann', 'authored:user:ann'], 10, 10)",
        "SELECT longtail.find_places('s1', 'bob', 'bob', NULL, NULL)",
        "SELECT longtail.read_context(:tenant, 's1', NULL, NULL, NULL, NULL, 1000, 10, 'longtail.embeddings_minilm')",
        "SELECT longtail.find_home('s1', NULL, NULL, NULL, NULL)",
        "SELECT longtail.list_tokens()",
        "SELECT longtail.erase('namespace', 'ann', NULL, NULL, uuidv7())",
        "SELECT longtail.erase('session', 's1', NULL, NULL, uuidv7())",
        "SELECT longtail.erase('document', E'user:ann\nann.md', NULL, NULL, uuidv7())",
    )
    for name, token in place.strangers.items():
        caller = caller_of(place, token)
        for statement in calls:
            try:
                with tenant_transaction(engine, caller) as connection:
                    values = {"tenant": place.tenant.id}
                    found = [str(row) for row in connection.execute(text(statement), values)]
            except Exception as refused:  # noqa: BLE001 - however it is refused, it says nothing
                found = [str(refused)]
            assert not [row for row in found if SECRET in row], (name, statement)
            assert "UndefinedFunction" not in str(found), "a call that nobody can make proves nothing"
    assert count_held(place)["turns"] == len(SAID) + 60


def test_every_task_carries_ids_at_most() -> None:
    assert set(TASKS) == set(QUEUE_OF_TASK)


def test_nothing_in_the_api_opens_a_transaction_for_a_tenant_as_a_whole() -> None:
    """A caller's transactions are opened with the caller, so that row security knows what the token opens."""
    root = Path(__file__).parents[2] / "api"
    background = {
        root / "background" / "reads.py",
        root / "background" / "receipts.py",
        root / "background" / "rules.py",  # after the answer, for all
        root / "stack" / "backup.py",  # as the owner, for whoever restores
    }
    for path in root.rglob("*.py"):
        if path in background or "cli" in path.parts:
            continue
        for found in re.finditer(
            r"(?:tenant_transaction|one_round_trip)\(\s*([^()]*?)[,)]\s*([\w.]*)", path.read_text()
        ):
            assert not found[2].endswith("tenant_id"), f"{path}: {found[0]}"
