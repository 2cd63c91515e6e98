"""Which frames rule in a rule file, alternative by alternative: modal verbs, predicates behind "is", approvals, places."""

import pytest

from models.domain.rules.detector import Modality, read_authored

OBLIGATION, PROHIBITION, PERMISSION = Modality.OBLIGATION, Modality.PROHIBITION, Modality.PERMISSION

DUTIES = """
agents must sign; agents shall sign; agents should sign; agents ought to sign; agents need to sign; the agent needs to sign
the agent has to sign; agents have to sign; agents are required to sign; agents are supposed to sign
agents are expected to sign; agents are obliged to sign; tabs are recommended here; tabs are strongly preferred
brevity is encouraged here; it is important to sign; it is essential to sign; it is crucial that agents sign
it is vital to sign; it is critical to sign; it is imperative to sign; it is necessary to sign; a lock is mandatory here
a lock is compulsory here; a lock is non-negotiable here; a lock is obligatory here; we recommend tabs; i recommend tabs
he strongly recommends tabs; he highly recommended tabs; uploads require authorization; uploads require authorisation
uploads require approval; uploads require permission; uploads require consent; uploads require confirmation
uploads require a sign-off; uploads require my prior written review; an upload requires tests; notes belong in the wiki
a note belongs under docs; a note belongs inside it; a note belongs here; notes belong there; notes belong elsewhere
the rule is always to sign; the policy is to sign; the workflow is that agents sign; the convention is always to sign
a policy of signing commits holds; it's mandatory here; locks will be mandatory here
"""
BANS = """
agents must not sign; agents must never sign; agents mustn't sign; agents shall not sign; agents shouldn't sign
agents ought to not sign; no agent must sign; nothing should change; nobody should sign; none should sign
neither should sign
you may not sign; agents may never sign; agents may only read; only the two owners may sign; no one may sign
nobody may sign; no agent may sign; at no time may agents sign; we don't recommend tabs; we do not recommend tabs
tabs are forbidden here; tabs are strictly prohibited; tabs are disallowed here; tabs are banned here
tabs are off-limits here; tabs are off limits here; tabs are unacceptable here; tabs are discouraged here
tabs are not allowed here; tabs are never permitted here; tabs are not acceptable here; tabs are not recommended here
tabs are not encouraged here; this is for owners only; tabs are meant for makefiles only; tabs are only for makefiles
"""
LEAVES = """
you may sign it; feel free to sign; agents are free to sign; agents are welcome to sign; there is no need to sign
you don't need to sign; you do not have to sign; agents are allowed to sign; agents are permitted to sign
agents are not required to sign; you are not expected to sign
"""
TALK = """
you may be late; you may have seen it; you may need it; you may want it; you may see it; you may find it; you may notice it
you may encounter it; you may already know; you may wish for it; you may get it; you may also like it
jobs may not start; this is not mandatory here; tabs are not forbidden here; he must sign; she really must sign
it must have been late; it should've worked; it must now rain; you should see it; you should notice it
you should be able to log in; you should be fine; it should look like this; it should feel like home; it should work
it should be enough; it should take a minute; he has to sign; agents do not need to sign; nobody doesn't need to sign
if agents must sign it rains; when agents must sign it rains; whether agents must sign; which agents must sign
because agents must sign; what agents must sign; why the agents must sign; how agents must sign; where agents must sign
while agents must sign; until agents must sign; unless agents must sign; whenever agents must sign; who must sign
whatever agents must sign; the wish that must go; agents required to sign; the workflow is old; the policy of truth holds
agents belong to us; uploads require patience; they recommend tabs; must agents sign?; tabs are lovely here
"""
ACTIONS = """
agents must sign notes = sign note
secrets must be committed = commit secret
secrets must always be committed = commit secret
secrets must only be taken = take secret
tests must be run = run test
flags must be set = set flag
files must be put away = put file
docs must be read = read doc
notes must be kept = keep note
copies must be made = make copie
mails must be sent = send mail
images must be built = build image
work must be done = do work
locks must be held = hold lock
tests must be fast = fast
it is forbidden to log tokens = log token
it is important that agents sign = agents sign
logging tokens is forbidden = log token
we recommend tabs = use tab
we do not recommend globals = use global
"""


def split_phrases(text: str) -> list[str]:
    return [phrase for line in text.strip().splitlines() for phrase in line.split("; ")]


def read_forces(sentence: str) -> list[Modality]:
    mark = "" if sentence.endswith("?") else "."
    return [span.modality for span in read_authored(sentence.capitalize() + mark).spans]


@pytest.mark.parametrize("sentence", split_phrases(DUTIES))
def test_a_frame_of_duty_obliges(sentence: str) -> None:
    assert read_forces(sentence) == [OBLIGATION]


@pytest.mark.parametrize("sentence", split_phrases(BANS))
def test_a_frame_of_ban_forbids(sentence: str) -> None:
    assert PROHIBITION in read_forces(sentence)


@pytest.mark.parametrize("sentence", split_phrases(LEAVES))
def test_a_frame_of_leave_permits(sentence: str) -> None:
    assert read_forces(sentence) == [PERMISSION]


@pytest.mark.parametrize("sentence", split_phrases(TALK))
def test_a_chance_a_guess_or_a_case_does_not_rule(sentence: str) -> None:
    assert read_forces(sentence) == []


@pytest.mark.parametrize("line", ACTIONS.strip().splitlines())
def test_a_frame_names_what_is_done(line: str) -> None:
    sentence, _, action = line.partition(" = ")
    (span,) = read_authored(sentence.capitalize() + ".").spans
    assert span.action == action


@pytest.mark.parametrize("mark", ["", ".", ",", ";", ":", "!"])
def test_the_word_of_a_frame_is_seen_before_any_mark(mark: str) -> None:
    (span,) = read_authored(f"Tabs are forbidden{mark} ").spans
    assert span.modality is PROHIBITION


def test_the_word_of_a_frame_is_seen_between_stars() -> None:
    assert read_forces("agents *must* sign") == [OBLIGATION]


def test_the_fifth_frame_of_a_clause_is_not_read() -> None:
    frames = ["agents must sign", "must wait", "must look", "must stay", "must not push"]
    assert read_forces(" and ".join(frames)) == [OBLIGATION]
    assert read_forces(" and ".join(frames[1:])) == [OBLIGATION, PROHIBITION]
    assert read_forces("agents must sign, and agents must not push") == [OBLIGATION, PROHIBITION]
