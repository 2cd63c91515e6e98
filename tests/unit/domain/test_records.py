"""Who speaks, what it weighs and where it belongs (memory-model.md section 4)."""

import importlib
import pkgutil
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

import models.domain
from models.domain.records import (
    AUTHORED_STABILITY,
    GLOBAL_NAMESPACE,
    RESERVED_NAMESPACE_PREFIXES,
    ROLES,
    STABILITY_WEIGHT,
    Identity,
    NewTurn,
    Turn,
    durable_namespace,
    provenance_class,
)

names = st.none() | st.text(max_size=5)


def test_the_stability_weights_are_those_of_section_4() -> None:
    assert STABILITY_WEIGHT == {"system": 0.8, "user": 0.6, "assistant": 0.4, "tool": 0.2}
    assert AUTHORED_STABILITY == 1.0


def test_every_role_has_a_weight_and_a_provenance() -> None:
    assert ROLES == ("user", "assistant", "system", "tool")
    assert set(ROLES) == set(STABILITY_WEIGHT)
    assert {role: provenance_class(role) for role in ROLES} == {
        "user": "session_turn",
        "assistant": "session_turn",
        "system": "session_turn",
        "tool": "tool_output",
    }


@given(names, names, names)
def test_an_identity_is_empty_when_nothing_of_it_is_said(
    user: str | None, key: str | None, agent: str | None
) -> None:
    identity = Identity(user_id=user, session_key=key, agent_id=agent)
    assert identity.is_empty == (not any((user, key, agent)))
    assert identity.is_empty == (durable_namespace(identity, "s") == "session:s") or user == "session:s"


@pytest.mark.parametrize(
    ("identity", "namespace"),
    [
        (Identity(user_id="ann", session_key="k", agent_id="main"), "ann"),
        (Identity(session_key="k", agent_id="main"), "session-key:k"),
        (Identity(agent_id="main"), "agent-id:main"),
        (Identity(user_id="", session_key="", agent_id=""), "session:s1"),
        (Identity(), "session:s1"),
    ],
)
def test_the_first_identity_that_is_present_names_the_namespace(identity: Identity, namespace: str) -> None:
    assert durable_namespace(identity, "s1") == namespace


@given(names, names)
def test_every_namespace_made_here_begins_with_a_reserved_word(key: str | None, agent: str | None) -> None:
    """A user may not call itself into the memory of a session, an agent or a document."""
    assert durable_namespace(Identity(session_key=key, agent_id=agent), "s").startswith(
        RESERVED_NAMESPACE_PREFIXES
    )


def test_the_reserved_words_are_those_the_service_makes_namespaces_of() -> None:
    made = ("session-key:k", "agent-id:a", "session:s", "authored:d", "elevated:user:u", GLOBAL_NAMESPACE)
    assert all(
        name.startswith(prefix) for name, prefix in zip(made, RESERVED_NAMESPACE_PREFIXES, strict=True)
    )
    assert GLOBAL_NAMESPACE == "global"
    assert not "ann".startswith(RESERVED_NAMESPACE_PREFIXES)


def test_what_a_host_does_not_say_is_unknown_and_not_empty() -> None:
    said = NewTurn(role="user", content="hello")
    assert (said.ts, said.host_message_id, said.name, dict(said.metadata)) == (None, None, None, {})
    kept = Turn(
        id=UUID(int=1),
        session_id="s",
        position=0,
        seq=1,
        namespace="ann",
        role="user",
        content="hello",
        ts=datetime(2026, 1, 1, tzinfo=UTC),
    )
    assert (kept.name, kept.host_message_id, dict(kept.metadata)) == (None, None, {})
    nobody = Identity()
    assert (nobody.user_id, nobody.session_key, nobody.agent_id) == (None, None, None)


def test_no_two_turns_share_their_metadata() -> None:
    one, other = (NewTurn(role="user", content="hello") for _ in range(2))
    assert one.metadata is not other.metadata


IN_THE_MAKING = {"Adoption", "Fill", "Said"}  # filled step by step inside one module
POSITIONAL = {"Cue", "Fate", "_Announcer"}  # rows of tables, and one that is made in every other line


def test_every_record_of_the_domain_is_frozen_slotted_and_built_by_name() -> None:
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(models.domain.__path__, "models.domain.")
    ]
    records = {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
    }
    assert len(records) > 70
    assert {name for name, one in records.items() if "__slots__" not in vars(one)} == set()
    assert {name for name, one in records.items() if not one.__dataclass_params__.frozen} == IN_THE_MAKING
    by_place = {name for name, one in records.items() if not all(field.kw_only for field in fields(one))}
    assert by_place == POSITIONAL | (IN_THE_MAKING - {"Adoption"})
