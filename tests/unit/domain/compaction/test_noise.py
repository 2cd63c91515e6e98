"""The summariser's view of a text (memory-model.md section 8, step 4)."""

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.compaction import noise as sanitizing
from models.domain.compaction.noise import Replacement, sanitize_text


def view(text: str) -> str:
    return sanitize_text(text).text


def encode(n: int, seed: bytes = b"seed") -> str:
    """n characters of base64 that look random, without padding."""
    raw = b"".join(hashlib.sha512(seed + bytes([i % 256, i // 256])).digest() for i in range(n // 80 + 2))
    return base64.b64encode(raw).decode()[:n]


noise = st.sampled_from(
    [
        encode(100),
        encode(79),
        "A" * 80,
        "f" * 64,
        "0x" + "ab" * 32,
        "\x1b[31m",
        "\x1b]0;title\x07",
        "\x1b",
        "\x00",
        "\r",
        "\n",
        "\r\n",
        "data:image/png;base64,iVBORw0KGgo=",
        "data:a/b,x",
        "content-type: text/html\n",
        "x-trace: 1\n",
        "-----BEGIN KEY-----\nabc\n-----END KEY-----",
        encode(76) + "\n" + encode(76, b"two") + "\n",
        "=",
        "/usr/lib/python/site/packages/name/",
        "some-slug-of-words-",
        "+",
        " ",
        "[",
        "word",
    ]
)


def test_the_bounds_are_those_of_section_8() -> None:
    assert (sanitizing.MIN_BASE64_CHARS, sanitizing.MIN_HEX_CHARS) == (80, 64)


@given(st.text("abc ÄÖ.,!?\n\t'\"()-äö漢字0123", max_size=60))
def test_prose_comes_back_unchanged(text: str) -> None:
    result = sanitize_text(text)
    assert result.text == text
    assert result.replaced == ()


@given(st.lists(noise | st.text(max_size=5), max_size=12).map("".join))
def test_a_second_pass_changes_nothing_and_the_view_is_never_longer(text: str) -> None:
    once = sanitize_text(text)
    assert view(once.text) == once.text
    assert len(once.text) <= len(text)
    if not once.replaced:
        assert once.text == text.replace("\r\n", "\n") or "\r" in text


@given(st.lists(noise | st.text(max_size=5), max_size=12).map("".join))
def test_no_long_run_of_hex_and_no_control_character_is_left(text: str) -> None:
    left = view(text)
    run = 0
    for char in left:
        run = run + 1 if char in "0123456789abcdefABCDEF" else 0
        assert run < 64
        assert char in "\n\t" or not ("\x00" <= char < " " or "\x7f" <= char <= "\x9f")


# --- base64 --------------------------------------------------------------------------------------------------


def test_base64_is_replaced_from_eighty_characters_up() -> None:
    assert view(f"see {encode(79)} ok") == f"see {encode(79)} ok"
    assert view(f"see {encode(80)} ok") == "see [base64, 80 chars] ok"
    assert view("Q" * 80) == "[base64, 80 chars]"


def test_padding_goes_with_its_payload() -> None:
    assert view(encode(80) + "==.") == "[base64, 82 chars]."
    assert view(encode(80) + "===") == "[base64, 82 chars]="


def test_the_url_safe_alphabet_counts_too() -> None:
    run = encode(120).replace("+", "-").replace("/", "_")
    assert view(run) == "[base64, 120 chars]"


@given(st.binary(min_size=60, max_size=400))
def test_almost_any_encoded_payload_is_replaced(raw: bytes) -> None:
    # Hashed first: a payload of zeros is a run of one letter, which other tests cover.
    spread = b"".join(hashlib.sha256(raw + bytes([i])).digest() for i in range(len(raw) // 32 + 1))
    for text in (base64.b64encode(spread).decode(), base64.urlsafe_b64encode(spread).decode()):
        if len(text.rstrip("=")) >= 80:
            assert view(text).startswith("[base64, ")


@pytest.mark.parametrize(
    "readable",
    [
        "/usr/local/lib/python3/site-packages/longtail/models/domain/encoders/assets/minilm/tokenizer",
        "fix-the-thing-that-breaks-when-the-budget-is-small-and-the-tail-is-long-enough-to-matter-here",
        "src/main/java/org/example/service/impl/AbstractSingletonProxyFactoryBeanDefinitionReaderTest",
        "-" * 120,
        "_" * 120,
        "550e8400-e29b-41d4-a716-446655440000-550e8400-e29b-41d4-a716-446655440000-550e8400-e29b-41d4",
    ],
)
def test_long_paths_slugs_rulers_and_ids_stay(readable: str) -> None:
    assert len(readable) >= 80
    assert view(f"in {readable} there") == f"in {readable} there"


def test_a_plus_or_padding_betrays_a_payload() -> None:
    path = "/usr/local/lib/python3/site/packages/longtail/models/domain/encoders/assets/minilm/token"
    assert len(path) >= 80
    assert view(path) == path
    assert view(path + "+") == f"[base64, {len(path) + 1} chars]"
    assert view(path + "=") == f"[base64, {len(path) + 1} chars]"


def test_a_piece_too_long_for_a_word_makes_a_run_unreadable() -> None:
    assert (
        view("lib/" + "word" * 15 + "/" + "a" * 3 + "z" * 13)
        == "lib/" + "word" * 15 + "/" + "a" * 3 + "z" * 13
    )
    assert view("lib/" + "word" * 16 + "/" + "a" * 3 + "z" * 13) == "[base64, 85 chars]"


def test_one_separator_between_words_is_enough_to_read_a_run() -> None:
    run = "word" * 15 + "/" + "word" * 5
    assert view(run) == run


@pytest.mark.parametrize(
    ("piece", "is_kept"), [("gh12ij345", True), ("gh12ij34", False), ("Gh12Ij34", False)]
)
def test_a_piece_that_changes_too_often_is_no_word(piece: str, is_kept: bool) -> None:
    run = "/".join([*["words"] * 14, piece])
    assert view(run) == (run if is_kept else f"[base64, {len(run)} chars]")


def test_a_long_line_before_a_wrapped_block_is_its_own_payload() -> None:
    text = "\n".join([encode(100), encode(76, b"a"), encode(76, b"b")])
    assert view(text) == "[base64, 100 chars]\n[base64, 153 chars]"
    after = "\n".join([encode(76, b"a"), encode(76, b"b"), encode(100)])
    assert view(after) == "[base64, 153 chars]\n[base64, 100 chars]"


def test_payload_wrapped_into_lines_is_one_payload() -> None:
    block = "\n".join([encode(76), encode(76, b"b"), encode(30, b"c") + "=="])
    assert view(f"Mail:\n{block}\nBye all") == f"Mail:\n[base64, {len(block)} chars]\nBye all"
    without_tail = "\n".join([encode(64), encode(64, b"b")])
    assert view(f"{without_tail}\nthat was it") == f"[base64, {len(without_tail)} chars]\nthat was it"


def test_a_single_wrapped_line_is_no_payload() -> None:
    assert view(encode(76) + "\nand then") == encode(76) + "\nand then"
    assert view(encode(59) + "\n" + encode(59)) == encode(59) + "\n" + encode(59)


# --- hex -----------------------------------------------------------------------------------------------------


def test_hex_is_replaced_from_sixty_four_digits_up() -> None:
    assert view("at " + "a1" * 32 + " ok") == "at [hex, 64 chars] ok"
    assert view("at " + "a1" * 31 + "f ok") == "at " + "a1" * 31 + "f ok"


def test_hex_is_called_hex_at_any_length_and_in_any_case() -> None:
    assert view("A1" * 100) == "[hex, 200 chars]"
    assert view("0x" + "aB" * 32) == "0x[hex, 64 chars]"
    assert view("sha256:" + "0f" * 32) == "sha256:[hex, 64 chars]"


def test_a_digest_inside_a_path_goes_and_the_path_stays() -> None:
    assert (
        view("/var/lib/store/objects/sha256/" + "0f" * 32) == "/var/lib/store/objects/sha256/[hex, 64 chars]"
    )


# --- data URLs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "data:image/png;base64,iVBORw0KGgo=",
        "data:text/plain,hello",
        "data:;base64,aGk=",
        "DATA:image/svg+xml;charset=utf-8;base64,PHN2Zz4=",
        "data:;charset=utf-8;base64,aGk=",
        "data:a/b,x",
    ],
)
def test_data_urls_become_a_placeholder(url: str) -> None:
    assert view(f"img ({url}) end") == "img ([data url]) end"


@pytest.mark.parametrize(
    "text", ["data: a, b", "data:foo,bar", "metadata:a/b,x", "data:image/png;base64,", "data:,x"]
)
def test_what_only_begins_like_a_data_url_stays(text: str) -> None:
    assert view(text) == text


# --- transport noise -----------------------------------------------------------------------------------------


def test_terminal_codes_and_control_characters_vanish() -> None:
    assert view("\x1b[1;31mred\x1b[0m \x1b]0;title\x07done\x00\x7f\u200b\ufeff") == "red done"
    assert view("\x1b]8;;http://x\x1b\\link") == "link"


def test_a_control_character_does_not_hide_a_payload() -> None:
    assert view(encode(40) + "\x00" + encode(40, b"b")) == "[base64, 80 chars]"


def test_tabs_and_line_feeds_are_text() -> None:
    assert view("a\tb\nc") == "a\tb\nc"


def test_line_ends_become_line_feeds() -> None:
    assert view("a\r\nb\rc\r\r\nd") == "a\nb\nc\nd"


def test_a_run_of_headers_becomes_one_placeholder() -> None:
    text = "Mail:\nContent-Type: text/html\nX-Trace-Id: 77\nMIME-Version: 1.0\nHello"
    assert view(text) == "Mail:\n[headers]\nHello"
    assert view("Content-Type: text/html\nContent-Length: 5") == "[headers]"


def test_a_single_header_line_may_be_a_note() -> None:
    assert view("Connection: lost it at noon\nso we met") == "Connection: lost it at noon\nso we met"
    assert view("a Content-Type: x\na Content-Type: y") == "a Content-Type: x\na Content-Type: y"


def test_a_pem_block_becomes_a_placeholder() -> None:
    body = "\n".join([encode(64), encode(20, b"x")])
    text = f"key:\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nok"
    assert view(text) == "key:\n[pem block]\nok"


def test_what_was_replaced_is_counted_by_kind() -> None:
    text = f"\x00{encode(80)} {encode(90)} {'ab' * 32}\x00\x00"
    assert sanitize_text(text).replaced == (
        Replacement(kind="control", count=3, chars=3),
        Replacement(kind="base64", count=2, chars=170),
        Replacement(kind="hex", count=1, chars=64),
    )


def test_every_kind_of_noise_is_counted_under_its_name() -> None:
    text = "\n".join(
        [
            "via: a",
            "via: b",
            "data:a/b,x",
            "-----BEGIN A-----x-----END A-----",
            encode(76),
            encode(76, b"b"),
            ".",
        ]
    )
    assert sanitize_text(text).replaced == (
        Replacement(kind="headers", count=1, chars=14),
        Replacement(kind="pem", count=1, chars=33),
        Replacement(kind="data_url", count=1, chars=10),
        Replacement(kind="base64", count=1, chars=153),
    )
    assert sanitize_text("Ab" * 50).replaced == (Replacement(kind="hex", count=1, chars=100),)


# --- hostile input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "f",
        "Ab3",
        "ab-",
        "f" * 63 + "g",
        "A" * 76 + "\n",
        "A" * 79 + "\n ",
        "data:",
        "data:a/b;",
        "data:;c",
        "\x1b[",
        "\x1b]",
        "\x1b]" + "a" * 4095,
        "\r",
        "\x00",
        "-----BEGIN A-----",
        "via: a\n",
        "via: a\n\n",
        "x-",
        "\nx-aaaaaaaaaaaaaaaa",
        "=",
    ],
    ids=lambda piece: ascii(piece[:12]),
)
def test_a_megabyte_of_one_pattern_takes_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    sanitize_text(text)
