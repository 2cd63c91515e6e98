"""Claims about heartbeats: what a host says to itself is told from what people say."""

import pytest

from models.domain.heartbeats import find_skipped, is_heartbeat, is_ignored
from models.domain.records import NewTurn
from models.settings import Settings

PROMPT = (
    "Read HEARTBEAT.md if it exists (workspace context). Follow it strictly. "
    "If nothing needs attention, reply HEARTBEAT_OK."
)
IGNORED = Settings().ignored_session_patterns()


@pytest.mark.parametrize(
    "turn",
    [
        NewTurn(role="user", content="anything", is_heartbeat=True),
        NewTurn(role="user", content="anything", metadata={"isHeartbeat": True}),
        NewTurn(role="user", content="anything", metadata={"heartbeat": True}),
        NewTurn(role="user", content=PROMPT),
        NewTurn(role="assistant", content="HEARTBEAT_OK"),
        NewTurn(role="assistant", content="\n**HEARTBEAT_OK**\n"),
    ],
)
def test_a_heartbeat_is_one_by_its_flag_or_by_its_words(turn: NewTurn) -> None:
    assert is_heartbeat(turn)


@pytest.mark.parametrize(
    "turn",
    [
        NewTurn(role="user", content="Why do you answer HEARTBEAT_OK all the time?"),
        NewTurn(role="user", content="HEARTBEAT_OK"),
        NewTurn(role="user", content="Please read HEARTBEAT.md and tell me what is in it."),
        NewTurn(role="assistant", content="Your disk is full. HEARTBEAT_OK otherwise."),
        NewTurn(role="user", content="hi", metadata={"isHeartbeat": False, "heartbeat": "every hour"}),
        NewTurn(role="tool", content=PROMPT),
    ],
)
def test_what_people_say_about_heartbeats_is_none(turn: NewTurn) -> None:
    assert not is_heartbeat(turn)


@pytest.mark.parametrize(
    "name",
    [
        "agent:main:cron:nightly",
        "cron:7",
        "agent:main:subagent:4f",
        "Agent:Main:SubAgent:4f",
        "agent:main:heartbeat",
    ],
)
def test_scheduled_runs_and_sub_agents_are_ignored_by_default(name: str) -> None:
    assert is_ignored([None, name], IGNORED)
    said = [NewTurn(role="user", content="I moved to Lisbon.")]
    assert find_skipped(said, names=[name], ignored=IGNORED) == {0}


@pytest.mark.parametrize("name", ["s1", "agent:main:main", "micron:1", "agent:main:heartbeats-and-health"])
def test_other_sessions_are_kept(name: str) -> None:
    assert not is_ignored([name], IGNORED)
