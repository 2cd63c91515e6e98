"""Claims about the small parts a hook is made of: JSON, texts, addresses, answers, what the model is shown."""

import doctest
import importlib
import json
import pkgutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import api.host
from api.host.claude_code import MAX_CONTEXT_UNITS, count_units, fit_context
from api.host.configuration import Configuration, default_home
from api.host.loopback import Away, quote, read_answer, split_url
from api.host.quick_json import MalformedJson, dump, parse
from api.host.turns import build_turns, clean_text, cut_text
from models.settings import Settings
from models.settings import default_home as default_home_of_the_settings

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_the_examples_in_the_docstrings_print_what_they_say() -> None:
    names = [found.name for found in pkgutil.iter_modules(api.host.__path__, "api.host.")]
    results = [doctest.testmod(importlib.import_module(name)) for name in names]
    assert sum(result.attempted for result in results) > 8
    assert not any(result.failed for result in results)


@given(values)
def test_json_is_written_and_read_as_the_standard_library_does(value: object) -> None:
    written = dump(value)
    assert written == json.dumps(value, separators=(",", ":"))
    assert parse(written) == json.loads(written)


@given(st.text())
def test_every_text_is_read_as_the_standard_library_reads_it_or_refused_as_it_does(text: str) -> None:
    try:
        expected = json.loads(text)
    except json.JSONDecodeError:
        with pytest.raises(MalformedJson):
            parse(text)
    else:
        assert repr(parse(text)) == repr(expected)


@pytest.mark.parametrize("text", ["", "{", '{"a": 1} x', "nul", "[" * 100_000, '"\x01"'])
def test_what_is_no_json_is_malformed(text: str) -> None:
    with pytest.raises(MalformedJson):
        parse(text)


def test_the_hook_and_the_service_agree_on_home_address_and_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("LONGTAIL_HOME", "LONGTAIL_API_URL", "LONGTAIL_TOKEN", "LONGTAIL_PORT", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert default_home() == str(default_home_of_the_settings())
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_home() == str(default_home_of_the_settings())
    monkeypatch.setenv("LONGTAIL_HOME", str(tmp_path))
    assert Configuration().api_url() == Settings().service_url()
    monkeypatch.setenv("LONGTAIL_PORT", "9999")
    assert Configuration().api_url() == Settings().service_url() == "http://127.0.0.1:9999"
    monkeypatch.setenv("LONGTAIL_PORT", "0")
    assert Configuration().api_url() == "" and Settings().knows_no_service(), "8765 may be another's"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "state.json").write_text('{"api_url": "http://127.0.0.1:1234/"}')
    (tmp_path / "token").write_text("lt_x\n")
    assert Configuration().api_url() == Settings().service_url() == "http://127.0.0.1:1234"
    assert Configuration().token() == Settings().client_token() == "lt_x"
    monkeypatch.setenv("LONGTAIL_API_URL", "http://127.0.0.1:4321")
    monkeypatch.setenv("LONGTAIL_TOKEN", "lt_y")
    assert Configuration().api_url() == Settings().service_url()
    assert Configuration().token() == Settings().client_token()


def test_the_hook_and_the_settings_have_the_same_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("HOOK_DEADLINE_MS", "HOOK_SEND_MS", "HOOK_BUDGET_TOKENS", "SPOOL_MAX_BYTES")
    for name in names:
        monkeypatch.delenv(f"LONGTAIL_{name}", raising=False)
    hook, settings = Configuration(), Settings()
    assert (hook.deadline_ms, hook.send_ms, hook.budget_tokens, hook.spool_max_bytes) == tuple(
        getattr(settings, name.lower()) for name in names
    )


@given(st.text(alphabet=st.characters(codec=None) | st.just("\x00"), max_size=50))
def test_a_cleaned_text_can_be_stored_and_has_as_many_characters(text: str) -> None:
    clean = clean_text(text)
    clean.encode()
    assert "\x00" not in clean and len(clean) == len(text)


@given(st.text(alphabet=st.characters(codec="utf-8")), st.integers(4, 40))
def test_pieces_of_a_text_are_small_and_joined_they_are_the_text(text: str, most: int) -> None:
    pieces = cut_text(text, most_bytes=most)
    assert "".join(pieces) == text
    assert all(len(piece.encode()) <= most for piece in pieces)


def test_a_text_too_long_for_one_turn_becomes_several_with_ids_of_their_own() -> None:
    turns = build_turns(role="user", text="word " * 400_000, id="p1:user")
    assert [turn["id"] for turn in turns] == ["p1:user", "p1:user:2", "p1:user:3"]
    assert "".join(turn["content"] for turn in turns) == "word " * 400_000
    assert build_turns(role="user", text=" \n", id="x") == []


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"\x00\xff\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{}",
        b"HTTP/1.1\r\n\r\n",
    ],
)
def test_half_an_answer_is_none(answer: bytes) -> None:
    with pytest.raises(Away):
        read_answer(answer)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8765", "ftp://x", "http://x:port"])
def test_an_address_that_is_none_is_away_and_not_a_crash(url: str) -> None:
    with pytest.raises(Away):
        split_url(url)


@given(st.text())
def test_a_quoted_segment_holds_no_separator(text: str) -> None:
    assert quote(text).isascii()
    assert not set(quote(text)) & set("/?# \r\n")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["authored", "recent_turns", "guidance", "recalled"]),
            st.text(alphabet=st.characters(codec="utf-8")).map(lambda text: (text or "x\n") * 700),
        ),
        unique_by=lambda section: section[0],
    )
)
def test_what_is_shown_never_exceeds_what_the_host_shows_whole(sections: list[tuple[str, str]]) -> None:
    assert count_units(fit_context(sections)) <= MAX_CONTEXT_UNITS


def test_rules_that_are_too_long_are_cut_at_a_line_and_say_so() -> None:
    shown = fit_context([("authored", "- a rule\n" * 2000), ("recalled", "x")])
    assert shown.startswith("- a rule\n") and "cut here" in shown
    assert shown.endswith("</longtail-memory>\n")
    assert "- a rule\n- a rule\n(cut" in shown
