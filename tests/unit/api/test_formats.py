"""Claims about shapes: the same text in each, nothing of the host's lost, breakpoints where a cache can use them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.assemble.formats import measure_stable_prefix, shape_answer, to_anthropic, to_openai, to_parts
from api.assemble.schemas import AssembleIn, MessageIn
from models.domain.prompt.assembly import Assembly, assemble
from models.domain.prompt.budget import Reserves
from models.domain.prompt.rendering import Layout, render_item, render_rule, render_turn
from models.domain.prompt.supply import Block, Supply, TailBlock
from models.domain.prompt.tail import TailTurn
from models.domain.prompt.tokens import CharsCounter

MARKER = "0123456789abcdef"
messages = st.lists(
    st.builds(
        MessageIn,
        role=st.sampled_from(["system", "developer", "user", "assistant", "tool"]),
        content=st.text(alphabet="ab \n<>", max_size=12),
    ),
    max_size=6,
)


def make(
    *, rules: int = 2, turns: int = 5, wishes: int = 1, recalled: int = 3, layout: Layout = "two"
) -> Assembly:
    supply = Supply(
        hard=[Block(id=f"h{i}", rendered=render_rule(f"rule {i}")) for i in range(rules)],
        tail=[
            TailBlock(
                id=f"t{i}",
                rendered=render_turn(role="user", text=f"turn {i}", when="2026-01-01T00:00Z"),
                turn=TailTurn(id=f"t{i}", role="user", position=i),
            )
            for i in range(turns)
        ],
        guidance=[Block(id=f"g{i}", rendered=render_item(f"wish {i}")) for i in range(wishes)],
        recall=[Block(id=f"r{i}", rendered=render_item(f"memory {i}")) for i in range(recalled)],
    )
    return assemble(
        supply,
        total=4000,
        counter=CharsCounter(),
        reserves=Reserves(),
        min_turns=4,
        marker=MARKER,
        layout=layout,
    )


def join_blocks(blocks: list[dict[str, Any]]) -> str:
    return "".join(block["text"] for block in blocks)


assemblies = st.builds(
    make,
    rules=st.integers(0, 2),
    turns=st.integers(0, 3),
    wishes=st.integers(0, 1),
    recalled=st.integers(0, 2),
)


@given(assemblies, messages)
def test_openai_messages_are_the_hosts_with_our_text_in_two_places(
    assembly: Assembly, shown: list[MessageIn]
) -> None:
    shaped = to_openai(assembly, shown)
    joined = "".join(message["content"] for message in shaped)
    assert joined.count(assembly.stable) >= 1
    assert joined.count(assembly.volatile) >= 1
    kept = list(shaped)
    if assembly.stable:
        assert kept[0]["role"] in {"system", "developer"}
        assert kept[0]["content"].endswith(assembly.stable)
        own = kept[0]["content"].removesuffix(assembly.stable)
        if shown and shown[0].role in {"system", "developer"}:
            kept[0] = {"role": kept[0]["role"], "content": own if own == shown[0].content else own[:-1]}
        else:
            assert own == ""
            kept = kept[1:]
    if assembly.volatile:
        newest = max(index for index, message in enumerate(kept) if message["role"] == "user")
        assert kept[newest]["content"].startswith(assembly.volatile)
        said = kept[newest]["content"].removeprefix(assembly.volatile)
        kept[newest] = {"role": "user", "content": said}
        if not any(message.role == "user" for message in shown):
            assert said == ""
            kept = kept[:-1]
    assert kept == [{"role": message.role, "content": message.content} for message in shown]


def test_there_is_never_a_second_system_message_of_ours() -> None:
    shown = [MessageIn(role="system", content="You are kind."), MessageIn(role="user", content="hi")]
    shaped = to_openai(make(), shown)
    assert [message["role"] for message in shaped] == ["system", "user"]
    assert shaped[0]["content"].startswith("You are kind.\n<longtail-memory")


def test_recalled_text_never_gets_the_trust_of_the_system_prompt() -> None:
    for shown in ([], [MessageIn(role="system", content="x"), MessageIn(role="user", content="y")]):
        assert "memory 0" not in to_openai(make(), shown)[0]["content"]
        assert "memory 0" not in join_blocks(to_anthropic(make(), shown)[0])


@given(assemblies, messages)
def test_anthropic_blocks_joined_are_the_same_text(assembly: Assembly, shown: list[MessageIn]) -> None:
    system, shaped = to_anthropic(assembly, shown)
    own = [
        message.content for message in shown if message.role in {"system", "developer"} and message.content
    ]
    assert join_blocks(system) == "".join(own) + assembly.stable
    assert all(block["text"] for block in system), "the API refuses empty blocks"
    assert {message["role"] for message in shaped} <= {"user", "assistant"}
    said = "".join(join_blocks(message["content"]) for message in shaped)
    hosts = "".join(message.content for message in shown if message.role not in {"system", "developer"})
    assert said.replace(assembly.volatile, "", 1) == hosts
    assert all(block["text"] for message in shaped for block in message["content"])


def test_the_volatile_part_is_the_first_block_of_the_newest_user_message() -> None:
    shown = [MessageIn(role=role, content=role) for role in ("user", "assistant", "user", "assistant")]
    _, shaped = to_anthropic(make(), shown)
    assert [len(message["content"]) for message in shaped] == [1, 1, 2, 1]
    assert shaped[2]["content"][0]["text"] == make().volatile


def test_breakpoints_stand_after_the_rules_and_after_the_newest_turn() -> None:
    system, _ = to_anthropic(make(), [])
    marked = [block["text"] for block in system if "cache_control" in block]
    assert len(marked) == 2
    assert "rule 1" in marked[0]
    assert "turn 4" in marked[1]
    assert system[-1]["text"].startswith("</recent_turns>")
    assert "cache_control" not in system[-1]


def test_a_cache_of_blocks_finds_all_but_the_newest_turn_again() -> None:
    before, _ = to_anthropic(make(turns=5), [])
    after, _ = to_anthropic(make(turns=6), [])
    kept = before[:-1]
    assert [block["text"] for block in after[: len(kept)]] == [block["text"] for block in kept]


@pytest.mark.parametrize("turns", [0, 1, 5])
def test_the_stable_prefix_is_what_the_next_stable_part_begins_with(turns: int) -> None:
    now, later = make(turns=turns), make(turns=turns + 1)
    prefix = now.stable[: measure_stable_prefix(now)]
    assert prefix
    assert later.stable.startswith(prefix)


def test_nothing_to_say_is_no_message_and_no_block() -> None:
    empty = make(rules=0, turns=0, wishes=0, recalled=0)
    assert to_openai(empty, []) == []
    assert to_anthropic(empty, []) == ([], [])
    assert to_parts(empty) == []
    assert measure_stable_prefix(empty) == 0


def test_each_part_is_a_block_that_bears_the_mark_and_joined_they_are_the_text() -> None:
    assembly = make(layout="each")
    parts = to_parts(assembly)
    assert [part.section for part in parts] == ["authored", "recent_turns", "guidance", "recalled"]
    assert [part.trust for part in parts] == ["authored", "conversation", "stated", "untrusted"]
    assert [part.is_stable for part in parts] == [True, True, False, False]
    assert "".join(part.text for part in parts) == assembly.text
    for part in parts:
        assert part.text.startswith(f'<longtail-memory id="{MARKER}">\n<{part.section}>\n')
        assert part.text.endswith(f"</{part.section}>\n</longtail-memory>\n")


def test_a_format_fills_its_own_fields_and_no_others() -> None:
    filled = {
        name: {
            field
            for field in ("system", "messages", "parts")
            if getattr(
                shape_answer(
                    make(),
                    AssembleIn.model_validate(
                        {"session_id": "s", "query": "q", "budget_tokens": 9, "format": name}
                    ),
                ),
                field,
            )
            is not None
        }
        for name in ("text", "messages", "anthropic", "parts")
    }
    assert filled == {
        "text": set(),
        "messages": {"messages"},
        "anthropic": {"system", "messages"},
        "parts": {"parts"},
    }
