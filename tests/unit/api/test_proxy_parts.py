"""Claims about what the proxy leaves for memory: every word, in calls that the API takes."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

import api.proxy.dialects
import api.proxy.memory
from api.proxy.dialects import Message
from api.proxy.memory import MOST_CALL_BYTES, MOST_CALL_TURNS, make_turns, split_calls

LONG = "The quay was wet.\n" * 300_000  # 5.4 MB
messages = st.lists(
    st.builds(Message, role=st.sampled_from(["user", "assistant", "tool"]), text=st.text() | st.just(LONG)),
    max_size=5,
)


@pytest.mark.parametrize("module", [api.proxy.dialects, api.proxy.memory])
def test_the_examples_in_the_docstrings_print_what_they_say(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


@given(messages, st.integers(min_value=0, max_value=1200))
def test_calls_hold_every_turn_once_in_order_and_keep_to_the_limits(said: list[Message], more: int) -> None:
    turns = make_turns([*said, *(Message(role="user", text=f"ok {number}") for number in range(more))])
    calls = split_calls(turns)
    assert [turn for call in calls for turn in call] == turns
    assert len({turn["id"] for turn in turns}) == len(turns)
    for call in calls:
        assert 0 < len(call) <= MOST_CALL_TURNS
        assert sum(len(turn["content"].encode()) for turn in call) <= MOST_CALL_BYTES
