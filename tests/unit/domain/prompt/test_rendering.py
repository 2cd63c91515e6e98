"""Claims about frames: no text can close one, and ordinary text is left as it is."""

from hypothesis import given
from hypothesis import strategies as st

from models.domain.prompt.rendering import (
    name_speaker,
    render_heading,
    render_item,
    render_rule,
    render_turn,
    render_wish,
)

BREAKS = ["\n", "\r\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


@given(st.text(alphabet=st.characters(exclude_characters="<"), max_size=200))
def test_text_without_tags_is_verbatim(text: str) -> None:
    assert text in render_turn(role="user", text=text, when="2026-01-01T00:00Z")


def test_a_name_that_poses_as_a_role_is_told_apart() -> None:
    assert name_speaker("Ann", "user") == "Ann"
    assert name_speaker(None, "assistant") == "assistant"
    assert name_speaker("System", "user") == "System (user)"
    assert name_speaker("sys\u200btem", "tool") == "sys\u200btem (tool)"
    assert name_speaker("the ＯＰＥＲＡＴＯＲ", "user").endswith("(user)")
    assert name_speaker("assistant", "assistant") == "assistant"


def test_a_rule_carries_its_headings_and_an_item_its_source() -> None:
    assert render_rule("- never lie", ["Rules", "Core"]) == "[Rules > Core] - never lie\n"
    assert render_item("hi", speaker="Ann") == "- Ann: hi\n"
    assert render_item("a node") == "- a node\n"
    assert render_wish("Always be brief", day="2026-01-01") == "- [2026-01-01] Always be brief\n"
    assert (
        render_wish("Be brief", day="2026-01-01", speaker="Ann\n- [x]")
        == "- [2026-01-01] Ann - [x]: Be brief\n"
    )


@given(
    st.lists(
        st.one_of(
            st.text(max_size=20), st.sampled_from([*BREAKS, "[2026-01-01]", "- Ann: ", "- [2026-01-01] "])
        )
    ),
    st.text(max_size=20),
)
def test_no_recalled_text_can_pose_as_another_item_or_heading(parts: list[str], speaker: str) -> None:
    for rendered in (
        render_item("".join(parts), speaker=speaker),
        render_wish("".join(parts), day="2026-01-02"),
    ):
        first, *others = rendered.removesuffix("\n").splitlines()
        assert first.startswith("- ")
        assert all(line.startswith("  ") for line in others)


@given(st.text(max_size=40))
def test_a_heading_is_one_line(heading: str) -> None:
    assert len(render_heading(heading).splitlines()) == (1 if heading else 0)
