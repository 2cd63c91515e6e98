"""Counting with a real tokenizer file: exact, bounded, shared by threads, and closed to odd names."""

import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.domain.prompt.tokens import CharsCounter, TokenCounter
from models.encoders.token_files import (
    MINILM_TOKENIZER_PATH,
    BrokenTokenizerFile,
    FileTokenCounter,
    UnknownTokenizer,
    list_token_counters,
    load_token_counter,
    make_encodable,
)

MINILM = FileTokenCounter(MINILM_TOKENIZER_PATH)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one small tokenizer, `words`: a token per word or sign, and limits that must not apply."""
    content: dict[str, object] = {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": {"Fixed": 9},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {"[PAD]": 0, "[UNK]": 1}, "unk_token": "[UNK]"},
    }
    (tmp_path / "words.json").write_text(json.dumps(content))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("   ", 0),
        ("hello world", 2),
        ("Tokenization, tokenized.", 6),  # token ##ization , token ##ized .
        ("日本語", 3),
        ("Привет, мир!", 11),  # a letter a token, and two signs
        ("مرحبا بالعالم", 12),
        ("안녕하세요", 12),  # by the parts of its syllables
        ("naïve café", 2),  # accents go
        ("👍🏽 👩‍👩‍👧‍👦", 2),  # an emoji is one unknown token, whatever it is joined from
        ("def f(x_1: int) -> None:\n    return {'a': x_1 ** 2}", 26),
        ("a\x00b", 1),  # the NUL vanishes, the letters join
        ("\ud800", 0),  # replaced, and the replacement sign is dropped like the NUL
        ("hello " * 1000, 1000),  # the file itself stops at 128
        ("[SEP]", 3),  # typed text is never a control token
    ],
)
def test_minilm_counts_its_own_tokens(text: str, tokens: int) -> None:
    assert MINILM.count(text) == tokens


def test_limits_saved_in_a_file_do_not_apply(folder: Path) -> None:
    counter = FileTokenCounter(folder / "words.json")
    assert [counter.count(text) for text in ("", "one", "one two three, four")] == [0, 1, 5]


def test_the_id_is_the_name_or_the_content(folder: Path) -> None:
    path = folder / "words.json"
    assert FileTokenCounter(path, name="words").id == "words"
    before = FileTokenCounter(path)
    assert re.fullmatch(r"file:[0-9a-f]{12}", before.id)
    assert before.sha256.startswith(before.id.removeprefix("file:"))
    path.write_text(path.read_text() + "\n")
    assert FileTokenCounter(path).id != before.id


def test_names_lead_to_their_counters(folder: Path) -> None:
    assert isinstance(load_token_counter("chars", folder=None), CharsCounter)
    assert load_token_counter("minilm", folder=folder).id == "minilm"
    words = load_token_counter("words", folder=folder)
    assert words.id == FileTokenCounter(folder / "words.json").id
    assert words.count("one two") == 2


def test_built_in_names_cannot_be_taken_over(folder: Path) -> None:
    (folder / "chars.json").write_text("{}")
    (folder / "minilm.json").write_text("{}")
    assert load_token_counter("chars", folder=folder).count("abcd") == 1
    assert load_token_counter("minilm", folder=folder).count("hello world") == 2
    assert list_token_counters(folder) == ["chars", "minilm", "words"]


def test_an_unknown_name_is_told_the_known_ones(folder: Path) -> None:
    with pytest.raises(
        UnknownTokenizer, match=r"'gpt' is unknown, known are chars, minilm, words; put gpt\.json"
    ):
        load_token_counter("gpt", folder=folder)
    with pytest.raises(UnknownTokenizer, match="known are chars, minilm; set LONGTAIL_TOKENIZER_FOLDER"):
        load_token_counter("words", folder=None)
    with pytest.raises(ValueError, match="known are chars, minilm;"):
        load_token_counter("words", folder=folder / "absent")


@pytest.mark.parametrize(
    "name", ["", "../words", "sub/words", "/etc/passwd", "words\x00", "words\n", "wörds", "a b", "..\\words"]
)
def test_no_name_leads_out_of_the_folder(folder: Path, name: str) -> None:
    inner = folder / "inner"
    (inner / "sub").mkdir(parents=True)
    for place in (inner / "sub", inner):
        (place / "words.json").write_bytes((folder / "words.json").read_bytes())
    for odd in ("wörds.json", "a b.json", ".json"):
        (inner / odd).write_bytes((folder / "words.json").read_bytes())
    with pytest.raises(UnknownTokenizer):
        load_token_counter(name, folder=inner)


def test_odd_file_names_are_not_offered(folder: Path) -> None:
    (folder / "a b.json").write_text("{}")
    (folder / "folder.json").mkdir()
    assert list_token_counters(folder) == ["chars", "minilm", "words"]


def test_a_file_that_is_no_tokenizer_is_named_with_the_remedy(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"version": "1.0"')
    with pytest.raises(
        BrokenTokenizerFile, match=rf"{re.escape(str(broken))} is not a tokenizer\.json .* put a"
    ):
        FileTokenCounter(broken)
    with pytest.raises(BrokenTokenizerFile, match=r"cannot be read \(No such file or directory\); put a"):
        FileTokenCounter(tmp_path / "absent.json")


def test_threads_share_one_counter_and_agree(folder: Path) -> None:
    counter: TokenCounter = FileTokenCounter(folder / "words.json")
    texts = [" ".join(["word"] * (number % 50)) for number in range(2000)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(counter.count, texts)) == [number % 50 for number in range(2000)]


def test_the_cache_stays_small_and_keeps_what_is_used(folder: Path) -> None:
    counter = FileTokenCounter(folder / "words.json", cached_counts=2)
    read: list[str] = []
    tokenizer = counter._tokenizer

    class Reading:
        """The same tokenizer, noting what it is asked to read."""

        def encode(self, text: str, *, add_special_tokens: bool) -> object:
            read.append(text)
            return tokenizer.encode(text, add_special_tokens=add_special_tokens)

    counter._tokenizer = Reading()
    for text in ("one", "one two", "one", "one two three", "one", "one two"):
        assert counter.count(text) == len(text.split())
    assert read == ["one", "one two", "one two three", "one two"]


@settings(max_examples=200)
@given(st.text(alphabet=st.characters(), max_size=80))
def test_any_text_is_counted_and_a_trailing_word_adds_its_own_tokens(text: str) -> None:
    assert MINILM.count(text + " hello world") == MINILM.count(text) + 2


@given(st.text(alphabet=st.characters(), max_size=80))
def test_encodable_text_is_left_alone_and_the_rest_becomes_encodable(text: str) -> None:
    made = make_encodable(text)
    made.encode()
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert made == text


def test_a_lone_surrogate_is_replaced_and_a_pair_is_joined() -> None:
    assert make_encodable("a\ud800b\udc00") == "a\ufffdb\ufffd"
    assert make_encodable("\ud83d\ude00!") == "😀!"


def test_the_shipped_tokenizer_is_the_one_named_in_its_notice() -> None:
    notice = (MINILM_TOKENIZER_PATH.parent / "NOTICE").read_text()
    assert MINILM_TOKENIZER_PATH.name in notice
    assert MINILM.sha256 in notice
    assert os.path.getsize(MINILM_TOKENIZER_PATH) == 466_247
