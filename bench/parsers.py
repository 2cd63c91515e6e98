"""`make fuzz`: every parser that reads text from outside, on inputs made to break it.

Each parser gets texts, JSON or bytes that look like what it reads and then do not. It may refuse an input with one of its
own errors; any other exception is a fault, and hypothesis prints the smallest input that shows it.
"""

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from api.cli.memory.turn_files import check_turn_file, read_batches
from api.host.quick_json import MalformedJson, parse
from api.host.spool import check_line
from api.host.turns import clean_text, cut_text
from api.importers.reading import format_time, strip_ours
from api.importers.sources import chatgpt, claude_code, hindsight, jsonl, mem0, openclaw
from api.importers.sources.markdown_notes import split_notes
from api.proxy.dialects import DIALECTS, SHAPELESS, inject, read_events
from api.routing.cursors import read_cursor
from api.rpc.framing import LineFramer
from api.rpc.protocol import RpcError, read_json, read_request, write_json
from api.stack.archive import read_manifest
from models.documents.markdown import parse_markdown, partition_document
from models.documents.outline import read_hop_targets, read_outline
from models.domain.prompt.escaping import escape_attribute, escape_frames
from models.domain.prompt.markers import strip_injected
from models.domain.recall.time.temporal import event_slots, temporal_intent
from models.domain.recall.time.timeframes import find_time_frames
from models.domain.text.anchors import find_anchors
from models.domain.text.secrets import mask_values
from models.domain.text.sentences import split_sentences
from models.domain.text.technical.spans import extract_identifiers, find_technical_spans
from models.domain.text.terms import count_terms, extract_mentions
from models.domain.wishes.conversation import read_conversation
from models.errors import ServiceError

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
REFUSALS = (ServiceError, RpcError, MalformedJson)  # how a parser may say no

WORDS = (
    "# ", "- [ ] ", "> ", "```", "---\n", "[[link]]", "| a | b |\n|---|\n", "\t", "\r\n", "\n\n", "<!--",
    "<div>", "&amp;", "http://x.y/z?q=1", "foo_bar.baz()", "C:\\x\\y", "v1.2.3-rc1", "0xdeadbeef",
    "sha256:", "--flag=x", "$HOME", "a@b.c", "last Tuesday", "in March 2031", "2026-02-30", "99:99",
    "3 weeks ago", "the day before", "between 1 and 2 May", "0000-00-00", "always ", "never ", "you must ",
    "from now on ", "password is hunter2", "sk-", "Bearer ", "-----BEGIN ", '<longtail-memory id="',
    "</recalled>", "<|im_start|>", "\n\nHuman:", "\u200b", "\u202e", "\ufeff", "\x00", "e\u0301",
    "\U0001f3f4\U000e0067\U000e0062", "{", "}", "[", "]", '"', "\\", "\\u", "\\ud800", ":", ",", "null",
    "NaN", "1e999", "-", "(((", "'''''", "%s", "{{", "\u0130", "\xdf",
)  # fmt: skip
KEYS = (
    "role", "content", "text", "type", "id", "name", "session_id", "user_id", "sessionId", "message",
    "messages", "parts", "mapping", "children", "parent", "current_node", "author", "create_time",
    "timestamp", "uuid", "parentUuid", "isSidechain", "memory", "memories", "results", "metadata",
    "created_at", "updated_at", "memory_units", "fact_type", "mentioned_at", "data", "jsonrpc", "method",
    "params", "choices", "delta", "tool_calls", "function", "arguments", "index", "output", "input",
    "conversations", "conversation_id", "path", "body", "key", "customType", "toolCallId", "isHeartbeat",
    "turns", "system",
)  # fmt: skip
VALUES = (
    "user", "assistant", "tool", "system", "message", "text", "2.0", "session", "tool_use", "tool_result",
    "thinking", "2026-05-01T10:00:00Z", "world", "output_text", "message_start", "content_block_delta",
    "function_call",
)  # fmt: skip

texts = st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=12)), max_size=12).map("".join)
numbers = st.integers(0, 2**63)


def _make_scalar(chance: Random) -> Any:
    kind = chance.random()
    if kind < 0.4:
        return chance.choice(VALUES)
    if kind < 0.7:
        return "".join(chance.choices(WORDS, k=chance.randrange(4)))
    return chance.choice(
        (None, True, False, 0, -1, 2**70, 1.5, math.inf, math.nan, 1e300, "", "\ud800", "\u0130")
    )


def _make_value(chance: Random, depth: int = 3) -> Any:
    """JSON with the names that our sources use, and with what they never hold under them."""
    kind = chance.random()
    if depth == 0 or kind < 0.35:
        return _make_scalar(chance)
    if kind < 0.6:
        return [_make_value(chance, depth - 1) for _ in range(chance.randrange(4))]
    return _make_object(chance, depth)


def _make_object(chance: Random, depth: int = 4) -> dict[str, Any]:
    names = chance.sample(KEYS, k=chance.randrange(7))
    return {name: _make_value(chance, depth - 1) for name in names}


def _make_line(chance: Random) -> bytes:
    """An object as bytes, torn one time in three."""
    made = json.dumps(_make_object(chance) if chance.random() < 0.8 else _make_value(chance)).encode()
    if chance.random() < 0.33:
        place = chance.randrange(len(made) + 1)
        return made[:place] + chance.randbytes(chance.randrange(5)) + made[place + chance.randrange(5) :]
    return made


def _make_lines(chance: Random) -> bytes:
    return b"\n".join(_make_line(chance) for _ in range(chance.randrange(6)))


# Made from one number: hypothesis chooses it, and building the rest itself is twenty times as quick.
values = numbers.map(lambda number: _make_value(Random(number)))
objects = numbers.map(lambda number: _make_object(Random(number)))
lines = numbers.map(lambda number: _make_lines(Random(number)))
payloads = st.one_of(numbers.map(lambda number: _make_line(Random(number))), st.binary(max_size=60))


@dataclass(frozen=True)
class Parser:
    """What is called, and with what."""

    inputs: st.SearchStrategy[Any]
    call: Callable[[Any], object]


def _read_file(read: Callable[[Path], object], name: str, data: bytes) -> None:
    file = Path(_folder.name) / name
    file.write_bytes(data)
    read(file)


def _read_all(find_units: Callable[[Path], Iterable[Any]], file: Path) -> None:
    for unit in find_units(file):
        for _ in unit.read():
            pass


def _read_turns(file: Path) -> None:
    check_turn_file(file)
    list(read_batches(file))


def _read_rpc(data: bytes) -> None:
    framer = LineFramer(max_bytes=200)
    for line in [*framer.feed(data + b"\n"), *framer.finish()]:
        if isinstance(line, bytes):
            write_json({"method": read_request(read_json(line)).method})


def _speak(body: dict[str, Any]) -> None:
    for dialect in DIALECTS:
        try:
            dialect.read_messages(body)
        except SHAPELESS:
            continue
        inject(dialect, body, stable="rules", volatile="memories")
    for dialect in DIALECTS:
        for read in (dialect.read_answer, lambda given, it=dialect: it.read_stream(iter([given]))):
            try:
                read(body)
            except SHAPELESS:
                continue
    list(read_events(b"data: " + json.dumps(body).encode()))


def _read_time(text: str) -> None:
    find_time_frames(text, now=NOW)
    temporal_intent(text)
    event_slots(text)
    format_time(text)


def _escape(text: str) -> None:
    escaped = escape_frames(text)
    if escape_frames(escaped) != escaped:
        raise AssertionError("escaping twice is not escaping once")
    escape_attribute(text)


_folder = tempfile.TemporaryDirectory(prefix="longtail-fuzz-")
PARSERS: dict[str, Parser] = {
    "markdown": Parser(texts, parse_markdown),
    "document": Parser(texts, partial(partition_document, count_tokens=len, tokenizer_id="chars")),
    "outline": Parser(texts, lambda text: (read_outline(text), read_hop_targets(text))),
    "notes": Parser(texts, lambda text: list(split_notes(text))),
    "escaping": Parser(texts, _escape),
    "injected blocks": Parser(texts, lambda text: (strip_injected(text, "0123456789abcdef"), strip_ours(text))),
    "time expressions": Parser(texts, _read_time),
    "technical spans": Parser(texts, lambda text: (find_technical_spans(text), extract_identifiers(text))),
    "anchors and terms": Parser(texts, lambda text: (find_anchors(text), count_terms(text), extract_mentions(text))),
    "sentences": Parser(texts, split_sentences),
    "rules in talk": Parser(texts, read_conversation),
    "secrets": Parser(values, mask_values),
    "cursors": Parser(texts, partial(read_cursor, parts=2)),
    "hook input": Parser(payloads, lambda data: parse(data.decode("utf-8", "replace"))),
    "hook texts": Parser(texts, lambda text: cut_text(clean_text(text), most_bytes=64)),
    "spool lines": Parser(payloads, check_line),
    "JSON-RPC lines": Parser(lines, _read_rpc),
    "proxied calls": Parser(objects, _speak),
    "turn files": Parser(lines, partial(_read_file, _read_turns, "t.jsonl")),
    "import chatgpt": Parser(payloads, partial(_read_file, partial(_read_all, chatgpt.find_units), "conversations.json")),
    "import mem0": Parser(payloads, partial(_read_file, partial(_read_all, mem0.find_units), "mem0.json")),
    "import hindsight": Parser(payloads, partial(_read_file, partial(_read_all, hindsight.find_units), "hindsight.json")),
    "import jsonl": Parser(lines, partial(_read_file, partial(_read_all, jsonl.find_units), "turns.jsonl")),
    "import claude-code": Parser(lines, partial(_read_file, partial(_read_all, claude_code.find_units), "c.jsonl")),
    "import openclaw": Parser(lines, partial(_read_file, partial(_read_all, openclaw.find_units), "o.jsonl")),
    "backup files": Parser(payloads, partial(_read_file, read_manifest, "b.backup")),
}  # fmt: skip


def attack(name: str, *, examples: int, chosen_seed: int) -> int:
    """Call one parser with so many inputs; how many it was. Raises what it raises, with the input that shows it."""
    parser = PARSERS[name]
    calls = 0

    @seed(chosen_seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(parser.inputs)
    def run(given_input: Any) -> None:
        nonlocal calls
        calls += 1
        try:
            parser.call(given_input)
        except REFUSALS:
            return

    run()
    return calls


def main() -> int:
    """Attack every parser until enough inputs were tried; 1 where one of them fell over."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--inputs", type=int, default=100_000)
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    arguments.add_argument("--only", choices=PARSERS, default=None)
    given_arguments = arguments.parse_args()
    names = [given_arguments.only] if given_arguments.only else list(PARSERS)
    share = -(-given_arguments.inputs // len(names))
    total, broken = 0, []
    for name in names:
        start, calls = time.monotonic(), 0
        while calls < share:  # hypothesis stops early where it has seen every input of a kind
            try:
                calls += attack(name, examples=share - calls, chosen_seed=given_arguments.seed + calls)
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                broken.append(name)
                print(f"{name}: {type(error).__name__}: {error}\n{''.join(getattr(error, '__notes__', []))}")
                break
        total += calls
        print(f"{name:20} {calls:7} inputs {time.monotonic() - start:7.1f} s", flush=True)
    result = f"fell over: {', '.join(broken)}" if broken else "nothing fell over"
    print(f"{total} inputs, seed {given_arguments.seed}: {result}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
