"""Claims about OpenClaw with the plugin, turn by turn through the real gateway."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from gateway import Gateway
from service import NAMESPACE, Service
from stub_model import Answer, Prompt, StubModel, text_of

from api.stack.throwaway import await_true

MARK = "<longtail-memory"
HOST_MARK = "BEGIN_OPENCLAW_INTERNAL_CONTEXT"


def reset(gateway: Gateway, key: str) -> None:
    assert gateway.call("sessions.reset", key=key, reason="new")["ok"]


def call_tool(name: str, **arguments: Any) -> Answer:
    """The model calls a tool; the host shows plugins' tools as a catalogue, behind one that calls them."""
    return {"tool": "tool_call", "arguments": {"id": name, "args": arguments}}


def position(prompt: Prompt, words: str) -> int:
    """Where in the conversation the newest message with these words is."""
    found = [index for index, message in enumerate(prompt.conversation) if words in text_of(message)]
    assert found, f"{words!r} is not in the conversation"
    return found[-1]


def history(prompt: Prompt) -> list[dict[str, Any]]:
    """The conversation before what memory and the host add to it."""
    added = [
        i
        for i, message in enumerate(prompt.conversation)
        if MARK in text_of(message) or HOST_MARK in text_of(message)
    ]
    return prompt.conversation[: added[0]] if added else prompt.conversation


def test_a_fact_of_the_first_turn_reaches_the_model_after_a_reset(
    gateway: Gateway, model: StubModel, service: Service
) -> None:
    key = "agent:main:dentist"
    gateway.type("My dentist is Doctor Okonkwo, her practice is in Porto.", key)
    service.settle()
    reset(gateway, key)
    asked = len(model.prompts)

    assert gateway.type("What is the name of my dentist?", key) == "Understood."

    prompt = model.since(asked)[0]
    question = position(prompt, "What is the name of my dentist?")
    recalled = prompt.conversation[question - 1]
    assert MARK in text_of(recalled) and "Okonkwo" in text_of(recalled)
    assert "Okonkwo" not in prompt.system, "what changes with the question is not in the stable part"
    assert question == 1, "the history before the reset is gone"


def test_the_stable_prefix_of_consecutive_model_calls_is_byte_identical(
    gateway: Gateway,
    model: StubModel,
    service: Service,
    once: Callable[[Answer, Answer], Callable[[Prompt], Answer]],
) -> None:
    rule = "- Never touch the boiler settings without asking."
    service.call(
        "PUT",
        "/v1/documents/AGENTS.md",
        params={"agent_id": "main"},
        content=rule,
        headers={"Content-Type": "text/markdown"},
    )
    key = "agent:main:prefix"
    asked = len(model.prompts)
    gateway.say("The boiler of the house is a Viessmann from 2011.", key)
    model.answer = once(
        {"tool": "longtail_search", "arguments": {"query": "boiler"}}, {"text": "Understood."}
    )
    gateway.say("Which boiler is it?", key)
    gateway.say("And how old is it?", key)

    prompts = model.since(asked)
    assert len(prompts) == 4, "three turns, one of them with a tool"
    assert len({prompt.system for prompt in prompts}) == 1
    assert rule in prompts[0].system
    for earlier, later in pairwise(prompts[1:]):
        begun = history(earlier)
        assert json.dumps(later.conversation[: len(begun)]) == json.dumps(begun)
    # Within a turn nothing before the tool's result changes.
    before, after = prompts[1:3]
    shown = position(before, "Which boiler is it?") + 1
    assert json.dumps(after.conversation[:shown]) == json.dumps(before.conversation[:shown])
    service.call("DELETE", "/v1/documents/AGENTS.md", params={"agent_id": "main"})


def test_a_tool_of_the_plugin_answers_the_model(
    gateway: Gateway,
    model: StubModel,
    service: Service,
    once: Callable[[Answer, Answer], Callable[[Prompt], Answer]],
) -> None:
    key = "agent:main:tools"
    gateway.say("The alarm code of the shed is kingfisher-7741.", key)
    service.settle()
    for call in (
        call_tool("longtail_search", query="alarm code of the shed"),
        call_tool("longtail_grep", pattern="kingfisher-[0-9]+", regex=True),
    ):
        asked = len(model.prompts)
        model.answer = once(call, {"text": "Understood."})
        gateway.say("Please look it up.", key)
        result = [m for m in model.since(asked)[-1].conversation if m["role"] == "tool"][-1]
        assert "kingfisher-7741" in text_of(result)


def test_a_compaction_shrinks_the_prompt_and_the_fact_is_still_recalled_and_expanded(
    gateway: Gateway,
    model: StubModel,
    service: Service,
    once: Callable[[Answer, Answer], Callable[[Prompt], Answer]],
) -> None:
    key = "agent:main:long"
    gateway.say("The ferry to Gozo that I booked has the number MT-4471.", key)
    for number in range(6):
        lines = [
            f"Line {line} of report {number} is about the harbour and its cranes." for line in range(110)
        ]
        gateway.say("\n".join(lines), key)
    service.settle()
    asked = len(model.prompts)
    gateway.say("Thank you so far.", key)
    before = model.since(asked)[0]
    assert "MT-4471" in json.dumps(history(before))

    done = gateway.run("sessions", "compact", key)
    assert done.returncode == 0 and "Compacted" in done.stdout, done.stdout + done.stderr
    journal = service.call("GET", "/v1/journal", params={"limit": 100})["entries"]
    assert "before_compaction" in {entry["event"] for entry in journal}

    asked = len(model.prompts)
    gateway.say("Which number does the ferry to Gozo have?", key)
    after = model.since(asked)[0]
    assert after.size < 0.7 * before.size
    assert "MT-4471" not in json.dumps(history(after))
    assert "MT-4471" in after.text
    found = service.matches("report 4 is about the harbour")
    assert len({hit["turn_id"] for hit in found}) == 1, "the raw turns are all there, once"

    covered = [hit for hit in service.matches("Line 3 of report") if hit["summary_id"]]
    assert covered, "no turn is covered by a summary"
    model.answer = once(call_tool("longtail_expand", summary_id=covered[0]["summary_id"]), {"text": "Read."})
    asked = len(model.prompts)
    assert gateway.say("What did the reports say, word for word?", key) == "Read."
    result = [m for m in model.since(asked)[-1].conversation if m["role"] == "tool"][-1]
    assert "Line 3 of report" in text_of(result)


def test_a_prompt_that_is_too_large_for_the_model_is_cut_and_answered(
    gateway: Gateway, model: StubModel
) -> None:
    key = "agent:main:overflow"
    for number in range(4):
        gateway.say(f"Chapter {number}. " + "The quay was wet and the nets were grey. " * 60, key)
    limit = model.prompts[-1].size

    def answer(prompt: Prompt) -> Answer:
        if prompt.size > limit:
            return {
                "overflow": "This model's maximum context length is 8192 tokens. Please reduce the length."
            }
        return {"text": "It went through."}

    model.answer = answer
    assert gateway.say("What was chapter 3 about?", key) == "It went through."


def test_an_outage_costs_no_turn_no_memory_and_no_visible_error(
    gateway: Gateway, model: StubModel, service: Service
) -> None:
    key = "agent:main:outage"
    gateway.say("Outage turn one: my bicycle is a red Brompton.", key)
    service.stack.run(["down"])
    seen = len(gateway.logs())
    try:
        for number, said in (("two", "my locker is B17"), ("three", "my coach is Ilse")):
            assert gateway.say(f"Outage turn {number}: {said}.", key) == "Understood."
        status = json.loads(gateway.run("longtail", "status", "--json").stdout)
        assert status["healthy"] is False
        assert status["spool"]["waiting"] == 2
    finally:
        service.stack.up()
    assert gateway.say("Outage turn four: my gym is in Sliema.", key) == "Understood."

    logs = gateway.logs()[seen:]
    assert "degraded" not in logs and "quarantin" not in logs and "remains queued" not in logs
    await_true(
        lambda: not json.loads(gateway.run("longtail", "flush", "--json").stdout)["waiting"],
        told="what waits on disk was not sent",
    )
    words = [hit["excerpt"].split(":")[0].split()[-1] for hit in service.matches("Outage turn")]
    assert words == ["one", "two", "three", "four"], "every turn once, in order"
    service.settle()
    reset(gateway, key)
    asked = len(model.prompts)
    gateway.say("Who is my coach?", key)
    assert "Ilse" in model.since(asked)[0].text


def test_a_heartbeat_leaves_no_memory(gateway: Gateway, model: StubModel, service: Service) -> None:
    model.answer = lambda _: {"text": "HEARTBEAT_OK"}
    asked = len(model.prompts)
    wish = "From now on always polish the samovar before noon."
    done = gateway.run("system", "event", "--text", wish, "--mode", "now", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    await_true(
        lambda: any("samovar" in prompt.text for prompt in model.since(asked)),
        told=lambda: f"the heartbeat did not run:\n{gateway.logs()[-3000:]}",
    )
    model.answer = lambda _: {"text": "Understood."}
    gateway.say("A turn after the heartbeat, about marzipan.", "agent:main:main")

    service.settle()
    assert service.matches("marzipan"), "turns after it are kept"
    assert not service.matches("samovar")
    assert not service.matches("HEARTBEAT_OK")
    guidance = service.call("GET", "/v1/guidance")
    assert "samovar" not in json.dumps(guidance)


def test_sessions_of_cron_leave_no_memory_but_read_it(
    gateway: Gateway, model: StubModel, service: Service
) -> None:
    gateway.say("The cat of my neighbour is called Zenobia.", "agent:main:pets")
    service.settle()
    asked = len(model.prompts)
    gateway.type("Nightly job: what is the cat of my neighbour called?", "agent:main:cron:nightly")
    assert "Zenobia" in model.since(asked)[0].text
    assert not service.matches("Nightly job")


def test_a_sub_agent_reads_memory_and_what_it_says_is_not_kept(
    gateway: Gateway, model: StubModel, service: Service
) -> None:
    gateway.say("The harbour master of Skagen is called Ingeborg.", "agent:main:skagen")
    service.settle()
    task = "Errand: find out who the harbour master of Skagen is."
    asked = len(model.prompts)

    def is_errand(prompt: Prompt) -> bool:
        return any("[Subagent Task]" in text_of(one) for one in prompt.conversation if one["role"] == "user")

    def answer(prompt: Prompt) -> Answer:
        if is_errand(prompt):
            return {"text": "The errand found pumpernickel."}
        if "Send somebody" in prompt.text and not any(one["role"] == "tool" for one in prompt.conversation):
            return call_tool("sessions_spawn", task=task)
        return {"text": "Understood."}

    model.answer = answer
    gateway.say("Send somebody to find out.", "agent:main:parent")
    # The parent hears of the child's end when the host has run all hooks of it.
    await_true(
        lambda: any("found pumpernickel" in prompt.text for prompt in model.since(asked)),
        told=lambda: f"no sub-agent ended:\n{gateway.logs()[-3000:]}",
    )
    child = next(prompt for prompt in model.since(asked) if is_errand(prompt))
    assert ":subagent:" in child.text and "Ingeborg" in child.text
    gateway.say("Thank you for the errand.", "agent:main:parent")

    assert service.matches("Thank you for the errand"), "the parent's own turns are kept"
    assert not service.matches("Subagent Task"), "what the child was told is not"
    assert {hit["role"] for hit in service.matches("pumpernickel")} <= {"tool"}, "nor what it said"


def test_the_commands_tell_what_the_memory_holds(
    gateway: Gateway, model: StubModel, service: Service
) -> None:
    key = "agent:main:commands"
    gateway.say("The gate of the vineyard opens with the word tramontane.", key)
    service.settle()
    reset(gateway, key)

    status = json.loads(gateway.run("longtail", "status", "--json").stdout)
    assert status["healthy"] and status["spool"]["waiting"] == 0
    assert "tramontane" in gateway.run("longtail", "search", "vineyard gate").stdout
    lines = gateway.run("longtail", "export").stdout.splitlines()
    kinds = [
        json.loads(line).get("kind") or json.loads(line).get("type") for line in lines if line.startswith("{")
    ]
    assert kinds[0] == "header" and kinds[-1] == "end" and any("tramontane" in line for line in lines)
    journal = json.loads(gateway.run("longtail", "journal", "--json").stdout)
    assert {"before_reset", "session_end"} <= {entry["event"] for entry in journal}
    namespaces = {one["namespace"] for one in service.call("GET", "/v1/namespaces")["namespaces"]}
    assert {name for name in namespaces if name.startswith(("agent-id:", "session"))} == {NAMESPACE}
