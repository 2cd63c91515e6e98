"""Claims about JSON-RPC by itself: framing, requests, errors, batches, and that nothing a client sends is an exception."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.middleware.rates import RateLimiter
from api.rpc.collections import find_place
from api.rpc.dispatcher import Dispatcher, Method, Params, Session
from api.rpc.framing import LineFramer, TooLong
from api.rpc.methods.documents import SourceMeta
from api.rpc.methods.registry import METHODS as ALL_METHODS
from api.rpc.protocol import RpcError, read_json, read_request, show_result, write_json
from api.stack.sockets.endpoints import read_endpoints
from models.errors import InvalidInput, Misconfigured, NotFound, TransientError
from models.store.tenancy.tokens import Caller

LINES = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"x")), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def frames(data: list[bytes], *, max_bytes: int) -> list[bytes | TooLong]:
    framer = LineFramer(max_bytes=max_bytes)
    found = [frame for part in data for frame in framer.feed(part)]
    return [*found, *framer.finish()]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges)]


@given(LINES, st.lists(st.integers(0, 10_000), max_size=20), st.integers(1, 60), st.booleans())
def test_however_a_stream_is_cut_the_same_lines_come_out(
    lines: list[bytes], places: list[int], max_bytes: int, ends: bool
) -> None:
    stream = b"\n".join(lines) + (b"\n" if ends else b"")
    assert frames(cut(stream, places), max_bytes=max_bytes) == frames([stream], max_bytes=max_bytes)


@given(LINES)
def test_every_line_that_fits_comes_out_once_in_order_without_blank_ones(lines: list[bytes]) -> None:
    found = frames([b"\n".join(lines)], max_bytes=1000)
    assert found == [line.strip(b" \t\r") for line in lines if line.strip(b" \t\r")]


@given(st.integers(1, 50), st.integers(0, 200))
def test_a_line_too_long_is_one_refusal_and_the_next_line_is_read(max_bytes: int, over: int) -> None:
    long = b"x" * (max_bytes + 1 + over)
    assert frames([long, b"\nok\n"[: max_bytes + 2]], max_bytes=max_bytes)[0] == TooLong(len(long))
    if max_bytes >= 2:
        assert frames([long, b"\nok\n"], max_bytes=max_bytes) == [TooLong(len(long)), b"ok"]


def test_a_line_too_long_is_not_kept_in_memory() -> None:
    framer = LineFramer(max_bytes=1024)
    for _ in range(1000):
        assert list(framer.feed(b"x" * 4096)) == []
    assert sum(map(len, framer._parts)) == 0
    assert list(framer.feed(b"\n")) == [TooLong(4096 * 1000)]


@given(JSON, JSON)
def test_an_answer_is_one_line_of_ascii_that_says_what_was_answered(request_id: Any, result: Any) -> None:
    line = write_json(show_result("x", result))
    assert b"\n" not in line and line.isascii()
    assert json.loads(line)["result"] == result


@given(JSON)
def test_whatever_json_comes_it_is_a_request_or_an_error_of_the_protocol(message: Any) -> None:
    is_request = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
    if not is_request:
        with pytest.raises(RpcError, check=lambda error: error.code == -32600):
            read_request(message)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":NaN}', b"1" * 5000, b"1e999", b'{"a":1}}', b"\x00"],
)
def test_what_is_not_json_is_a_parse_error(text: bytes) -> None:
    with pytest.raises(RpcError) as refused:
        read_json(text)
    assert refused.value.code == -32700
    assert "\n" not in refused.value.message


def test_the_page_names_every_method_with_every_parameter_it_takes() -> None:
    page = (Path(__file__).parents[3] / "docs" / "rpc.md").read_text()
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    for name, method in ALL_METHODS.items():
        (row,) = [row for row in rows if f"`{name}`" in row[1]]
        if name != "session_lifecycle_hint":  # it names some of a dozen
            for field, info in method.params.model_fields.items():
                if field not in SourceMeta.model_fields:  # facts about a file, named together
                    assert f"`{info.alias or field}`" in row[2], (name, field)


class Echo(Params):
    text: str = ""


class Desk:
    """A runtime of one token, enough for a dispatcher."""

    caller = Caller(
        token_id=None,  # type: ignore[arg-type]
        tenant_id=None,  # type: ignore[arg-type]
        scopes=frozenset({"read"}),
        namespaces=None,
    )

    def known_caller(self, token: str) -> Caller | None:
        return self.caller if token == "good" else None

    def identify(self, token: str) -> Caller:
        raise NotFound("never asked")


ERRORS: dict[str, Exception] = {
    "wrong": InvalidInput("no such colour", field="colour", remedy="use blue"),
    "missing": NotFound("nowhere"),
    "later": TransientError("not now"),
    "bug": ZeroDivisionError("division by zero"),
    "deep": RecursionError(),
}


def fail(_call: Any, params: Echo) -> dict[str, Any]:
    raise ERRORS[params.text]


METHODS = {
    "echo": Method(name="echo", params=Echo, scope="read", run=lambda _call, params: {"text": params.text}),
    "fail": Method(name="fail", params=Echo, scope="read", run=fail),
    "change": Method(name="change", params=Echo, scope="write", run=lambda _call, _params: {}),
}


@pytest.fixture
def dispatcher() -> Dispatcher:
    return Dispatcher(Desk(), METHODS)  # type: ignore[arg-type]


def ask(dispatcher: Dispatcher, message: Any, token: str | None = "good") -> Any:
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    answer = dispatcher.answer(text, Session(token=token))
    return None if answer is None else json.loads(answer)


def call(method: Any, params: Any = None, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params, **members}


def test_a_call_is_answered_under_its_id(dispatcher: Dispatcher) -> None:
    for request_id in (1, 0, -3, 2.5, "a", "", None, "\ud800"):
        answer = ask(dispatcher, call("echo", {"text": "hi"}, id=request_id))
        assert answer == {"jsonrpc": "2.0", "id": request_id, "result": {"text": "hi"}}


def test_params_may_be_left_out_and_unknown_ones_are_ignored(dispatcher: Dispatcher) -> None:
    assert ask(dispatcher, {"jsonrpc": "2.0", "id": 1, "method": "echo"})["result"] == {"text": ""}
    assert ask(dispatcher, call("echo", {"text": None, "score": 3}))["result"] == {"text": ""}
    assert ask(dispatcher, call("echo", []))["result"] == {"text": ""}


@pytest.mark.parametrize(
    ("message", "code", "answered_id"),
    [
        (b"{not json", -32700, None),
        ({"jsonrpc": "2.0", "id": 5}, -32600, 5),
        ({"id": 5, "method": "echo"}, -32600, 5),
        ({"jsonrpc": "1.0", "id": 5, "method": "echo"}, -32600, 5),
        ({"jsonrpc": "2.0", "id": True, "method": "echo"}, -32600, None),
        ({"jsonrpc": "2.0", "id": [1], "method": "echo"}, -32600, None),
        (call(7), -32600, 1),
        (call("echo", "text"), -32600, 1),
        (call("echo", ["by place"]), -32602, 1),
        (call("echo", {"text": 7}), -32602, 1),
        (call("nothing"), -32601, 1),
        (call("authenticate", {"token": "x"}), -32601, 1),  # not over HTTP, which has a header for it
        (call("change"), -32003, 1),
        (call("fail", {"text": "wrong"}), -32602, 1),
        (call("fail", {"text": "missing"}), -32004, 1),
        (call("fail", {"text": "later"}), -32050, 1),
        (call("fail", {"text": "bug"}), -32603, 1),
        (call("fail", {"text": "deep"}), -32602, 1),
        (7, -32600, None),
        (None, -32600, None),
        ([], -32600, None),
        ([call("echo")] * 101, -32600, None),
    ],
)
def test_each_mistake_has_its_code(dispatcher: Dispatcher, message: Any, code: int, answered_id: Any) -> None:
    answer = ask(dispatcher, message)
    assert (answer["error"]["code"], answer["id"]) == (code, answered_id)
    assert answer["error"]["message"]


def test_a_bug_says_its_kind_and_nothing_it_holds(dispatcher: Dispatcher) -> None:
    message = ask(dispatcher, call("fail", {"text": "bug"}))["error"]["message"]
    assert message == "an error nobody expected: ZeroDivisionError"


def test_our_errors_keep_their_code_field_and_remedy(dispatcher: Dispatcher) -> None:
    error = ask(dispatcher, call("fail", {"text": "wrong"}))["error"]
    assert error["message"] == "no such colour"
    assert error["data"] == {"code": "invalid_input", "field": "colour", "remedy": "use blue"}


def test_a_notification_is_done_and_never_answered(dispatcher: Dispatcher) -> None:
    for method in ("echo", "fail", "nothing"):
        assert ask(dispatcher, {"jsonrpc": "2.0", "method": method, "params": {"text": "bug"}}) is None
    assert ask(dispatcher, {"jsonrpc": "2.0", "method": "echo", "params": [1]}) is None


def test_a_batch_is_answered_without_its_notifications(dispatcher: Dispatcher) -> None:
    answers = ask(
        dispatcher,
        [
            call("echo", {"text": "a"}, id="a"),
            {"jsonrpc": "2.0", "method": "echo"},
            1,
            call("nothing", id="b"),
        ],
    )
    assert [(one["id"], one.get("error", {}).get("code")) for one in answers] == [
        ("a", None),
        (None, -32600),
        ("b", -32601),
    ]
    assert ask(dispatcher, [{"jsonrpc": "2.0", "method": "echo"}] * 3) is None


def test_without_a_token_nobody_is_answered_but_with_how_to_say_who_one_is(dispatcher: Dispatcher) -> None:
    error = ask(dispatcher, call("echo"), token=None)["error"]
    assert error["code"] == -32001
    assert "token" in error["data"]["remedy"]


def test_a_token_may_be_held_to_so_many_messages_a_second_batches_included() -> None:
    limiter = RateLimiter(per_second=1.0, burst=3, clock=lambda: 0.0)
    held = Dispatcher(Desk(), METHODS, limiter=limiter)  # type: ignore[arg-type]
    answers = ask(held, [call("echo", id=number) for number in range(5)])
    assert [one.get("error", {}).get("code") for one in answers] == [None, None, None, -32050, -32050]
    assert answers[3]["error"]["data"] == {"code": "rate_limited", "retryAfterSeconds": 1.0}


@given(JSON)
def test_whatever_comes_the_dispatcher_answers_and_does_not_raise(message: Any) -> None:
    answer = Dispatcher(Desk(), METHODS).answer(json.dumps(message).encode(), Session(token="good"))  # type: ignore[arg-type]
    assert answer is None or json.loads(answer)


@given(st.binary(max_size=200))
def test_whatever_bytes_come_the_dispatcher_answers_and_does_not_raise(text: bytes) -> None:
    answer = Dispatcher(Desk(), METHODS).answer(text, Session(token="good"))  # type: ignore[arg-type]
    assert answer is None or json.loads(answer)


@pytest.mark.parametrize(
    ("collection", "view", "session_id", "namespace"),
    [
        ("session:a:b", "active", "a:b", None),
        ("session_raw:s", "raw", "s", None),
        ("session_summary:s", "summaries", "s", None),
        ("session_recall:s", "own", "s", None),
        ("turns:ann", "turns", None, "ann"),
        ("user:session-key:main", "memories", None, "session-key:main"),
        ("user:session:s1", "memories", None, "session:s1"),
        ("global", "memories", None, "global"),
        ("elevated:user:ann", "guidance", None, "ann"),
        ("elevated:session:s", "guidance", "s", None),
        ("dream:ann", "own", None, "ann"),
        ("recipes", "own", None, None),
    ],
)
def test_collections_lie_where_their_names_say(
    collection: str, view: str, session_id: str | None, namespace: str | None
) -> None:
    place = find_place(collection)
    assert (place.view, place.session_id, place.namespace) == (view, session_id, namespace)


@pytest.mark.parametrize(
    "collection",
    [
        *("user:", "session:", "turns", "authored:other", "elevated:user:", "elevated:x:y"),
        *("user:authored:tenant", "turns:elevated:user:ann", "user:global", "user:globally"),
        *("elevated:user:authored:tenant", "dream:authored:tenant"),
    ],
)
def test_nobody_reaches_rules_or_shared_memory_through_a_users_name(collection: str) -> None:
    with pytest.raises(InvalidInput):
        find_place(collection)


@pytest.mark.parametrize(
    "listen",
    [
        *("tcp:0.0.0.0:1", "tcp:192.168.1.5:80", "tcp::80", "tcp:127.0.0.1", "tcp:127.0.0.1:x"),
        *("tcp:127.0.0.1:70000", "http://x", "unix:relative", "unix:/" + "x" * 200, "off,unix"),
    ],
)
def test_lines_are_spoken_on_this_machine_only(listen: str) -> None:
    with pytest.raises(Misconfigured):
        read_endpoints(listen, home=Path("/home"))


def test_a_home_with_a_long_path_has_its_socket_elsewhere() -> None:
    (endpoint,) = read_endpoints("unix", home=Path("/" + "x" * 120))
    assert endpoint.path is not None and len(str(endpoint.path)) < 100
    (endpoint,) = read_endpoints("unix", home=Path("/home/me"))
    assert endpoint.path == Path("/home/me/run/rpc.sock")
