"""A state machine over accept, compact, expand, erase and hurt: every turn is always reachable, word for word."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bench.texts import make_texts
from models.domain.compaction.verification import verify_session
from models.domain.records import Identity, NewTurn
from models.encoders.toy import ToyEncoder
from models.store.compaction.lineage import dissolve_summary, load_lineage
from models.store.compaction.progress import recount_session
from models.store.compaction.summaries import expand_to_turns, load_active_summaries, load_sources
from models.store.conversation.history import list_turns, load_kept_turns
from models.store.conversation.turns import accept_turns
from models.store.engine import tenant_transaction
from models.store.tenancy.erasure import erase
from workers.compaction.passes import compact_session

STEPS = 14
EXAMPLES = 10


@pytest.fixture
def machine(tenant: Any) -> type[RuleBasedStateMachine]:
    """The machine, bound to this test's tenant; each example has a session of its own."""
    worker = tenant.as_role("longtail_worker")
    api = tenant.as_role("longtail_api")
    counter = iter(range(10**9))
    texts = make_texts(2000)

    class Sessions(RuleBasedStateMachine):
        @initialize()
        def open_session(self) -> None:
            self.session = f"s{next(counter)}"
            self.said: list[tuple[str, str]] = []  # namespace, words
            self.number = 0

        @rule(
            count=st.integers(min_value=1, max_value=45),
            role=st.sampled_from(["user", "assistant", "mixed"]),
            user=st.sampled_from([None, "ann", "bob"]),
        )
        def accept(self, count: int, role: str, user: str | None) -> None:
            contents = [f"{texts[(self.number + n) % 2000]} ({self.number + n})" for n in range(count)]
            self.number += count
            named = Identity(user_id=f"{self.session}-{user}") if user else Identity()
            roles = ["user", "assistant"] if role == "mixed" else [role]
            with tenant_transaction(api, tenant.id) as connection:
                accepted = accept_turns(
                    connection,
                    whose=tenant.id,
                    session_id=self.session,
                    identity=named,
                    is_shared=True,
                    turns=[
                        NewTurn(role=roles[n % len(roles)], content=content)
                        for n, content in enumerate(contents)
                    ],
                )
            self.said += [(accepted.namespace, content) for content in contents]

        @precondition(lambda self: self.said)
        @rule(tail=st.sampled_from([0.0, 0.01, 0.1]), per_pass=st.sampled_from([7, 40, 200]))
        def compact(self, tail: float, per_pass: int) -> None:
            changed = tenant.stack.settings.model_copy(
                update={"tail_target": tail, "compaction_pass_turns": per_pass}
            )
            compact_session(worker, ToyEncoder(), tenant.id, self.session, settings=changed)

        @precondition(lambda self: self.said)
        @rule(pick=st.integers(min_value=0, max_value=10**6))
        def forget_a_summary(self, pick: int) -> None:
            """What a repair does: a summary and all that is joined to it go, the turns do not."""
            with tenant_transaction(api, tenant.id) as connection:
                active = load_active_summaries(connection, tenant_id=tenant.id, session_id=self.session)
                if active:
                    dissolve_summary(
                        connection, tenant_id=tenant.id, summary_id=active[pick % len(active)].id
                    )
                    recount_session(connection, tenant_id=tenant.id, session_id=self.session)

        @precondition(lambda self: self.said)
        @rule(pick=st.integers(min_value=0, max_value=10**6))
        def expand(self, pick: int) -> None:
            """Down to the raw turns of one namespace, in order, and one level at a time to the same."""
            with tenant_transaction(api, tenant.id) as connection:
                active = load_active_summaries(connection, tenant_id=tenant.id, session_id=self.session)
                if not active:
                    return
                top = active[pick % len(active)]
                whole = expand_to_turns(connection, tenant_id=tenant.id, summary_id=top.id)
                below = [top.id]
                stepwise: list[UUID] = []
                while below:
                    turns, children = load_sources(connection, tenant_id=tenant.id, summary_id=below.pop())
                    stepwise += turns
                    below += children
                kept = load_kept_turns(connection, tenant_id=tenant.id, ids=whole)
            assert len(whole) == top.turn_count
            assert sorted(stepwise) == sorted(whole)
            assert {one.turn.namespace for one in kept} == {top.namespace}
            spoken = [content for namespace, content in self.said if namespace == top.namespace]
            assert [one.turn.content for one in kept] == [
                content for content in spoken if content in {one.turn.content for one in kept}
            ]

        @precondition(lambda self: self.said)
        @rule(pick=st.integers(min_value=0, max_value=10**6))
        def erase(self, pick: int) -> None:
            """The one way a turn leaves: its namespace does; what others said in the session stays reachable."""
            namespaces = sorted({namespace for namespace, _ in self.said})
            gone = namespaces[pick % len(namespaces)]
            with tenant_transaction(api, tenant.id) as connection:
                erase(
                    connection,
                    kind="namespace",
                    name=gone,
                    token_id=None,
                    reason="asked for",
                    erasure_id=uuid4(),
                )
            self.said = [(namespace, content) for namespace, content in self.said if namespace != gone]

        @invariant()
        def every_turn_is_reachable_word_for_word(self) -> None:
            if not hasattr(self, "said"):
                return
            with tenant_transaction(api, tenant.id, is_snapshot=True) as connection:
                kept = list_turns(
                    connection, tenant_id=tenant.id, session_id=self.session, after_position=-1, count=10_000
                )
                active = load_active_summaries(connection, tenant_id=tenant.id, session_id=self.session)
                below = [
                    turn_id
                    for one in active
                    for turn_id in expand_to_turns(connection, tenant_id=tenant.id, summary_id=one.id)
                ]
                lineage = load_lineage(
                    connection, tenant_id=tenant.id, session_id=self.session, encoder="toy"
                )
            assert [(one.turn.namespace, one.turn.content) for one in kept] == self.said
            assert len(below) == len(set(below))
            bare = {one.turn.id for one in kept if one.summary_id is None}
            assert set(below) | bare == {one.turn.id for one in kept}
            assert not set(below) & bare
            assert verify_session(lineage, min_turns=4) == ()

    return Sessions


def test_every_turn_is_always_reachable(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(machine, settings=settings(max_examples=EXAMPLES, stateful_step_count=STEPS))
