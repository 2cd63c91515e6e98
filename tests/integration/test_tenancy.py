"""Claims about tenants: same ids, and neither sees the other, from the API and from SQL."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from api.client import ServiceClient
from models.errors import Forbidden, Unauthorized
from models.store.engine import plain_transaction, tenant_transaction
from models.store.tenancy.tokens import token_digest
from models.tables import TENANT_TABLES

SECRET = "My safe code is 4711 and I prefer to change it on 3 May."
HIDDEN = {"tokens", "tombstones", "tombstone_salts"}
HIDDEN_FROM_SERVICE = {"longtail_api": HIDDEN, "longtail_worker": {*HIDDEN, "assemblies"}}


@pytest.fixture
def two(new_tenant: Callable[[], Any]) -> tuple[Any, Any]:
    one, other = new_tenant(), new_tenant()
    turn = {"role": "user", "content": SECRET, "id": "same-id"}
    one.client.post_turns("same-session", [turn], user_id="same-user")
    one.settle()
    return one, other


def test_another_tenants_memory_is_neither_recalled_nor_found(two: tuple[Any, Any]) -> None:
    one, other = two
    ask = {
        "session_id": "same-session",
        "query": "what is my safe code?",
        "budget_tokens": 2000,
        "user_id": "same-user",
    }
    assert "4711" in one.client.assemble(**ask)["text"]
    seen = other.client.assemble(**ask)
    assert "4711" not in seen["text"]
    assert seen["items"] == []
    assert other.client.search(query="safe code", user_id="same-user")["results"] == []


def test_the_same_ids_in_two_tenants_are_two_turns(two: tuple[Any, Any]) -> None:
    one, other = two
    turn = {"role": "user", "content": "mine", "id": "same-id"}
    answer = other.client.post_turns("same-session", [turn], user_id="same-user")
    assert len(answer["accepted"]) == 1
    assert one.one("SELECT content FROM longtail.turns WHERE tenant_id = :tenant") == SECRET


@pytest.mark.parametrize("role", ["longtail_api", "longtail_worker"])
def test_sql_as_a_service_role_sees_one_tenant_only(two: tuple[Any, Any], role: str) -> None:
    one, other = two
    filled = 0
    for table in set(TENANT_TABLES) - HIDDEN_FROM_SERVICE[role]:
        with tenant_transaction(one.as_role(role), one.id) as connection:
            filled += connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() > 0
        with tenant_transaction(one.as_role(role), other.id) as connection:
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() == 0, table
        with plain_transaction(one.as_role(role)) as connection:
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() == 0, table
    assert filled >= 6  # the test would prove nothing on empty tables


@pytest.mark.parametrize("role", ["longtail_api", "longtail_worker"])
def test_a_service_role_that_names_a_tenant_without_its_pass_sees_and_changes_nothing(
    two: tuple[Any, Any], role: str
) -> None:
    one, other = two
    strangers_pass = other.one("SELECT secret FROM longtail.passes WHERE tenant = :tenant")
    seal = one.one("SELECT encode(seal, 'hex') FROM longtail.passes WHERE tenant = :tenant")
    for given in ("", str(uuid4()), str(strangers_pass), str(one.id), seal[:32]):
        with plain_transaction(one.as_role(role)) as connection:
            for name, value in (("tenant_id", one.id), ("pass", given), ("opens", "*"), ("across", "on")):
                connection.execute(
                    text("SELECT set_config(:name, :value, true)"),
                    {"name": f"longtail.{name}", "value": str(value)},
                )
            for table in ({*TENANT_TABLES, "tenants"} - HIDDEN_FROM_SERVICE[role]) - {"tokens"}:
                column = "id" if table == "tenants" else "tenant_id"
                mine = text(f"SELECT count(*) FROM longtail.{table} WHERE {column} = :tenant")
                assert connection.execute(mine, {"tenant": one.id}).scalar_one() == 0, table
            changed = connection.execute(
                text("UPDATE longtail.work SET attempts = 9 WHERE tenant_id = :tenant"), {"tenant": one.id}
            )
            assert changed.rowcount == 0


@pytest.mark.parametrize("role", ["longtail_api", "longtail_worker"])
def test_no_service_role_reads_a_pass_or_makes_one(two: tuple[Any, Any], role: str) -> None:
    one, _ = two
    for statement in (
        "SELECT secret FROM longtail.passes",
        "SELECT * FROM longtail.passes",
        "UPDATE longtail.passes SET secret = gen_random_uuid()",
        "INSERT INTO longtail.passes (tenant) VALUES (gen_random_uuid())",
        "DELETE FROM longtail.passes",
        "SELECT longtail.give_pass()",
    ):
        with (
            pytest.raises(DBAPIError, match="permission denied"),
            tenant_transaction(one.as_role(role), one.id) as connection,
        ):
            connection.execute(text(statement))


def test_a_pass_is_given_with_a_token_or_with_work_and_not_otherwise(two: tuple[Any, Any]) -> None:
    one, other = two
    secret = one.one("SELECT secret FROM longtail.passes WHERE tenant = :tenant")
    with plain_transaction(one.as_role("longtail_api")) as connection:
        ask = text("SELECT pass FROM longtail.authenticate(:digest)")
        assert connection.execute(ask, {"digest": token_digest(one.token)}).scalar_one() == secret
        assert connection.execute(ask, {"digest": token_digest("lt_guess")}).all() == []
        with pytest.raises(DBAPIError, match="permission denied"):
            connection.execute(text("SELECT longtail.compaction_pass(:tenant, 'x')"), {"tenant": one.id})
    with plain_transaction(one.as_role("longtail_worker")) as connection:
        ask = text("SELECT longtail.compaction_pass(:tenant, :session)")
        known = {"tenant": one.id, "session": "same-session"}
        assert connection.execute(ask, known).scalar_one() == secret  # its turns wait to be compacted
        assert connection.execute(ask, {**known, "session": "no-such-session"}).scalar_one() is None
        assert connection.execute(ask, {**known, "tenant": other.id}).scalar_one() is None


def test_a_service_role_cannot_write_into_another_tenant(two: tuple[Any, Any]) -> None:
    one, other = two
    with (
        pytest.raises(Forbidden, match="does not open"),
        tenant_transaction(one.as_role("longtail_api"), one.id) as connection,
    ):
        connection.execute(
            text("INSERT INTO sessions (tenant_id, session_id, namespace) VALUES (:tenant, 'x', 'x')"),
            {"tenant": other.id},
        )


def test_service_roles_own_nothing_and_cannot_bypass_row_security(tenant: Any) -> None:
    found = tenant.rows(
        "SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname LIKE 'longtail_%'"
    )
    roles = {row.rolname: row for row in found}
    for name in ("longtail_api", "longtail_worker", "longtail_report"):
        assert not roles[name].rolsuper
        assert not roles[name].rolbypassrls
    owners = tenant.rows("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'longtail'")
    assert [row.tableowner for row in owners] == ["longtail_owner"]


def test_every_table_with_a_tenant_has_row_security(tenant: Any) -> None:
    found = tenant.rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'longtail'::regnamespace AND relrowsecurity"
    )
    assert set(TENANT_TABLES) <= {row.relname for row in found}


def test_no_service_role_can_read_tokens(tenant: Any) -> None:
    for role in ("longtail_api", "longtail_worker", "longtail_report"):
        with (
            pytest.raises(DBAPIError, match="permission denied"),
            tenant_transaction(tenant.as_role(role), tenant.id) as connection,
        ):
            connection.execute(text("SELECT * FROM longtail.tokens"))


def test_the_report_role_reads_reports_and_no_memory_text(two: tuple[Any, Any]) -> None:
    one, _ = two
    with plain_transaction(one.as_role("longtail_report")) as connection:
        rows = connection.execute(
            text("SELECT tenant, keep FROM reporting.gate WHERE tenant = :name"), {"name": one.name}
        )
        assert len(rows.all()) == 1
    with (
        pytest.raises(DBAPIError, match="permission denied"),
        plain_transaction(one.as_role("longtail_report")) as connection,
    ):
        connection.execute(text("SELECT content FROM longtail.turns"))


def test_an_unknown_token_is_refused_with_the_remedy(tenant: Any) -> None:
    with (
        ServiceClient(url=tenant.client.url, token="lt_nobody") as stranger,
        pytest.raises(Unauthorized) as refused,
    ):
        stranger.status()
    assert "token" in (refused.value.remedy or "")


def test_a_token_of_one_namespace_opens_no_other(tenant: Any) -> None:
    with tenant.enter(namespaces=["ann"]) as bound:
        bound.post_turns("s", [{"role": "user", "content": "hi"}], user_id="ann")
        with pytest.raises(Forbidden):
            bound.post_turns("s2", [{"role": "user", "content": "hi"}], user_id="bob")
        with pytest.raises(Forbidden):
            bound.assemble(session_id="s3", query="x", budget_tokens=100, user_id="bob")
        with pytest.raises(Forbidden):
            bound.search(query="x", user_id="bob")


def test_a_read_only_token_cannot_write(tenant: Any) -> None:
    with tenant.enter(scopes=["read"]) as reader:
        assert reader.status()["pending"] == 0
        with pytest.raises(Forbidden, match="write"):
            reader.post_turns("s", [{"role": "user", "content": "hi"}])


def test_row_security_binds_the_owner_too_but_for_what_is_read_by_index_alone(tenant: Any) -> None:
    unforced = tenant.rows(
        "SELECT relname FROM pg_class WHERE relnamespace = 'longtail'::regnamespace AND relkind = 'r' "
        "AND relname = ANY(:names) AND NOT relforcerowsecurity",
        names=[*TENANT_TABLES, "tenants"],
    )
    assert {name for (name,) in unforced} == {"postings", "lexicon"}


def test_a_function_of_the_owner_sees_no_other_tenant_on_behalf_of_a_service_role(
    two: tuple[Any, Any],
) -> None:
    one, other = two
    with plain_transaction(one.owner) as connection:
        connection.execute(
            text(
                "CREATE OR REPLACE FUNCTION longtail.forgets_to_filter() RETURNS bigint LANGUAGE sql STABLE "
                "SECURITY DEFINER AS 'SELECT count(*) FROM longtail.turns'"
            )
        )
        connection.execute(text("GRANT EXECUTE ON FUNCTION longtail.forgets_to_filter() TO longtail_api"))
    try:
        seen = []
        for whose in (one.id, other.id):
            with tenant_transaction(one.as_role("longtail_api"), whose) as connection:
                seen.append(connection.execute(text("SELECT longtail.forgets_to_filter()")).scalar_one())
        assert seen == [1, 0]
    finally:
        with plain_transaction(one.owner) as connection:
            connection.execute(text("DROP FUNCTION longtail.forgets_to_filter()"))
