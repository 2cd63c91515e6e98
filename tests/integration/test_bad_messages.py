"""Claims about messages nobody should have sent: they are dropped, and the workers do not even stumble."""

import base64
import gzip
import json
from typing import Any
from uuid import uuid4

import pytest
import redis
from celery import Celery
from hypothesis import given
from hypothesis import strategies as st

from api.stack.throwaway import await_true
from models.messages import INGEST, QUEUE_OF_TASK, find_fault


def ring_of(**changes: Any) -> dict[str, Any]:
    """An honest bell, with changes at `headers.x`, `properties.x`, or at the top."""
    message: dict[str, Any] = {
        "body": encode([[], {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}]),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {
            "lang": "py",
            "task": INGEST,
            "id": str(uuid4()),
            "timelimit": [None, None],
            "retries": 0,
        },
        "properties": {
            "correlation_id": str(uuid4()),
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": "ingest"},
            "priority": 0,
            "body_encoding": "base64",
            "delivery_tag": str(uuid4()),
        },
    }
    for place, value in changes.items():
        room, _, name = place.rpartition("__")
        (message[room] if room else message)[name] = value
    return message


def encode(body: Any) -> str:
    return base64.b64encode(body if isinstance(body, bytes) else json.dumps(body).encode()).decode()


BOMB = base64.b64encode(gzip.compress(b"[" + b" " * 200_000_000 + b"]")).decode()
BAD = {
    "time limit": json.dumps(ring_of(headers__timelimit="abc")),
    "time limits": json.dumps(ring_of(headers__timelimit=["abc", {}])),
    "no list": json.dumps(ring_of(body=encode({"a": 1}))),
    "a number": json.dumps(ring_of(body=encode(7))),
    "bomb": json.dumps(ring_of(body=BOMB, headers__compression="application/x-gzip")),
    "pickle": json.dumps(ring_of(**{"content-type": "application/x-python-serialize"})),
    "arguments": json.dumps(ring_of(body=encode([[1], {}, {}]))),
    "callbacks": json.dumps(ring_of(body=encode([[], {}, {"callbacks": [{"task": "x"}]}]))),
    "unknown task": json.dumps(ring_of(headers__task="os.system")),
    "another queue's": json.dumps(ring_of(headers__task="memory.embed_pending")),
    "eta": json.dumps(ring_of(headers__eta=17)),
    "retries": json.dumps(ring_of(headers__retries=10**9)),
    "no id": json.dumps(ring_of(headers__id=None)),
    "no properties": json.dumps({"body": "", "headers": {}}),
    "no object": "[]",
    "no JSON": "{",
    "no text": b"\xff\xfe\x00",
    "deep": "[" * 100_000,
}


@pytest.fixture(scope="module")
def broker(stack: Any) -> Any:
    client = redis.Redis.from_url(stack.settings.broker_url())
    yield client
    client.close()


def worker_pids(stack: Any) -> dict[str, int]:
    return {name: part["pid"] for name, part in stack.status()["parts"].items() if name.startswith("worker")}


def test_bad_messages_are_dropped_and_the_next_turn_is_remembered(tenant: Any, broker: Any) -> None:
    before = worker_pids(tenant.stack)
    for message in BAD.values():
        broker.lpush("ingest", message)
    tenant.say("s", "After the flood of nonsense, on 3 May.")
    tenant.settle()
    await_true(lambda: not broker.llen("ingest"), told="a bad message is still in its queue")
    assert worker_pids(tenant.stack) == before  # nobody died of it
    assert not [one for one in broker.hvals("unacked") if b"os.system" in one or b"gzip" in one]


def test_what_we_send_ourselves_has_no_fault(stack: Any, broker: Any) -> None:
    app = Celery(broker="memory://", set_as_current=False)
    assert find_fault(ring_of(), queue="ingest") is None
    with app.connection() as connection:
        for task, queue in QUEUE_OF_TASK.items():
            words = [str(uuid4()), "a session"] if task == "memory.compact_session" else []
            app.send_task(task, args=words, queue=queue, connection=connection, countdown=5, expires=60)
            raw = connection.default_channel._get(queue)
            assert find_fault(raw, queue=queue) is None, task


@pytest.mark.parametrize("name", [name for name in BAD if name not in ("no JSON", "no text", "deep")])
def test_each_fault_has_a_name(name: str) -> None:
    assert find_fault(json.loads(BAD[name]), queue="ingest")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PLACES = [
    *("body", "content-encoding", "content-type", "headers", "properties"),
    *(
        "headers__task",
        "headers__id",
        "headers__timelimit",
        "headers__retries",
        "headers__eta",
        "headers__expires",
    ),
    *("properties__delivery_tag", "properties__delivery_info", "properties__body_encoding"),
]


@given(place=st.sampled_from(PLACES), value=anything)
def test_no_message_breaks_the_look_at_it(place: str, value: Any) -> None:
    fault = find_fault(ring_of(**{place: value}), queue="ingest")
    assert fault is None or isinstance(fault, str)
