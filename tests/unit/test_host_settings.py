"""Claims about our hooks in a settings file: beside what is there, and out again byte for byte."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.host.claude_install import SECONDS, InstallationRefused, build_commands, install, uninstall
from api.host.claude_settings import UnusableSettings, add_hooks, find_commands, remove_hooks

OURS = build_commands(home="/a home/with 'quotes'", user_id="ann")
THEIRS = {"matcher": "Bash", "hooks": [{"type": "command", "command": "say 'longtail' hook"}]}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
hooks = st.dictionaries(
    st.sampled_from(["Stop", "PreToolUse", "SessionStart", "Notification"]),
    st.lists(st.just(THEIRS), min_size=1, max_size=2),
    min_size=1,
)
settings_values = st.builds(
    lambda others, theirs: {**others, **({"hooks": theirs} if theirs else {})},
    st.dictionaries(st.text(max_size=6).filter(lambda key: key != "hooks"), values, max_size=4),
    st.none() | hooks,
)
layouts = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4, "ensure_ascii": False},
        {"indent": "\t"},
        {},
        {"separators": (",", ":")},
        {"indent": 0},
    ]
)


def write(value: object, layout: dict[str, Any], end: str) -> str:
    return json.dumps(value, **layout) + end


@given(settings_values, layouts, st.sampled_from(["", "\n", "\r\n"]), st.booleans())
def test_hooks_that_are_put_in_and_taken_out_leave_every_byte_as_it_was(
    value: dict[str, Any], layout: dict[str, Any], end: str, is_windows: bool
) -> None:
    text = write(value, layout, end)
    if is_windows and "indent" in layout:
        text = text.replace("\n", "\r\n")
    added = add_hooks(text, OURS)
    assert set(find_commands(added)) == set(SECONDS)
    assert remove_hooks(added) == text


@given(settings_values, layouts)
def test_everything_that_was_there_is_still_there_in_its_order(
    value: dict[str, Any], layout: dict[str, Any]
) -> None:
    after = json.loads(add_hooks(write(value, layout, "\n"), OURS))
    assert {key: inner for key, inner in after.items() if key != "hooks"} == {
        key: inner for key, inner in value.items() if key != "hooks"
    }
    for event, groups in (value.get("hooks") or {}).items():
        assert after["hooks"][event][: len(groups)] == groups


def test_adding_twice_is_adding_once_and_another_command_replaces_the_first() -> None:
    once = add_hooks('{\n  "hooks": {}\n}\n', OURS)
    assert add_hooks(once, OURS) == once
    moved = build_commands(home="/elsewhere", user_id=None)
    again = add_hooks(once, moved)
    assert find_commands(again) == {event: command for event, (command, _) in moved.items()}
    assert "/a home" not in again


def test_a_hook_of_ours_beside_theirs_in_one_group_is_cut_out_alone() -> None:
    group = {
        "hooks": [
            {"command": "theirs"},
            {"command": OURS["Stop"][0]},
            {"command": "longtail hook claude-code Stop"},
        ]
    }
    text = json.dumps({"hooks": {"Stop": [group]}}, indent=2)
    assert json.loads(remove_hooks(text)) == {"hooks": {"Stop": [{"hooks": [{"command": "theirs"}]}]}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "line 1"),
        ('{"a": 1,}', "line 1"),
        ('{\n  // why\n  "a": 1\n}', "line 2"),
        ("[]", "no JSON object"),
        ('{"hooks": []}', "'hooks' is no object"),
        ('{"hooks": {"Stop": {}}}', "'hooks.Stop' is no list"),
        ('{"hooks": {}, "hooks": {}}', "twice"),
        ("\ufeff{}", "BOM"),
        ("[" * 100_000, "nested"),
    ],
)
def test_what_claude_code_could_not_read_is_refused_with_the_place(text: str, why: str) -> None:
    with pytest.raises(UnusableSettings, match=why):
        add_hooks(text, OURS)


def test_a_file_nobody_changed_comes_back_byte_for_byte_with_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    original = b'{ "model":"opus" ,\n\n"hooks" : { } }'
    file.write_bytes(original)
    file.chmod(0o640)
    assert install(file, tmp_path / "home", OURS).action == "installed"
    assert install(file, tmp_path / "home", OURS).action == "unchanged"
    assert set(json.loads(file.read_bytes())["hooks"]) == set(SECONDS)
    assert uninstall(file, tmp_path / "home").action == "restored"
    assert file.read_bytes() == original
    assert file.stat().st_mode & 0o777 == 0o640
    assert not list((tmp_path / "home" / "hosts").iterdir())


def test_a_file_that_was_not_there_is_gone_again_with_the_folder_we_made(tmp_path: Path) -> None:
    file = tmp_path / ".claude" / "settings.json"
    install(file, tmp_path / "home", OURS)
    install(file, tmp_path / "home", build_commands(home=None, user_id=None))
    assert file.stat().st_mode & 0o777 == 0o600
    uninstall(file, tmp_path / "home")
    assert not file.parent.exists()


def test_what_was_changed_after_us_stays_and_ours_goes(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{\n  "model": "opus"\n}\n')
    install(file, tmp_path / "home", OURS)
    file.write_text(file.read_text().replace('"opus"', '"sonnet"'))
    assert uninstall(file, tmp_path / "home").action == "removed"
    assert file.read_text() == '{\n  "model": "sonnet"\n}\n'
    assert uninstall(file, tmp_path / "home").action == "absent"


def test_hooks_are_taken_out_also_where_our_record_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"a": 1}')
    install(file, tmp_path / "home", OURS)
    uninstall(file, tmp_path / "another home")
    assert file.read_text() == '{"a": 1}'


def test_a_link_to_the_settings_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    link = tmp_path / "settings.json"
    link.symlink_to(real)
    install(link, tmp_path / "home", OURS)
    assert link.is_symlink() and set(json.loads(real.read_text())["hooks"]) == set(SECONDS)
    uninstall(link, tmp_path / "home")
    assert link.is_symlink() and real.read_text() == "{}"


@pytest.mark.parametrize("broken", [b'{"a": 1,}', b"\xff\xfe", b""])
def test_a_malformed_file_is_left_exactly_as_it_is(tmp_path: Path, broken: bytes) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(broken)
    with pytest.raises(InstallationRefused):
        install(file, tmp_path / "home", OURS)
    with pytest.raises(InstallationRefused):
        uninstall(file, tmp_path / "home")
    assert file.read_bytes() == broken
    assert os.listdir(tmp_path) == ["settings.json"]
