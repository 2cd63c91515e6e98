"""A state machine over accept, compact, expand and hurt: every turn is always reachable, word for word."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
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
from models.domain.records import Identity, NewTurn
from models.domain.verification import verify_session
from models.encoders.toy import ToyEncoder
from models.store.compactions import recount_session
from models.store.engine import tenant_transaction
from models.store.history import list_turns
from models.store.lineage import dissolve_summary, load_lineage
from models.store.summaries import expand_to_turns, load_active_summaries
from models.store.turns import accept_turns
from workers.compact import compact_session

STEPS = 12
EXAMPLES = 8


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
            self.said: list[str] = []

        @rule(
            count=st.integers(min_value=1, max_value=45), role=st.sampled_from(["user", "assistant", "mixed"])
        )
        def accept(self, count: int, role: str) -> None:
            contents = [f"{texts[(len(self.said) + n) % 2000]} ({len(self.said) + n})" for n in range(count)]
            roles = ["user", "assistant"] if role == "mixed" else [role]
            with tenant_transaction(api, tenant.id) as connection:
                accept_turns(
                    connection,
                    tenant_id=tenant.id,
                    session_id=self.session,
                    identity=Identity(),
                    turns=[
                        NewTurn(role=roles[n % len(roles)], content=content)
                        for n, content in enumerate(contents)
                    ],
                )
            self.said += contents

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

        @invariant()
        def every_turn_is_reachable_word_for_word(self) -> None:
            if not getattr(self, "said", None):
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
            assert [one.turn.content for one in kept] == self.said
            assert len(below) == len(set(below))
            bare = {one.turn.id for one in kept if one.summary_id is None}
            assert set(below) | bare == {one.turn.id for one in kept}
            assert not set(below) & bare
            assert verify_session(lineage, min_turns=4) == ()

    return Sessions


def test_every_turn_is_always_reachable(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
