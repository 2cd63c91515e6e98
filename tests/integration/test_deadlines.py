"""Claims about time: an answer comes when it is wanted; what is missing is named, recall before guidance before rules."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import text

from api.assemble.schemas import AssembleIn, AssembleOut
from api.assemble.service import assemble_prompt
from api.runtime import Runtime
from api.stack.throwaway import await_true
from models.encoders.protocol import Encoder, EncoderFingerprint
from models.store.engine import plain_transaction
from models.store.index.embeddings import Vector
from models.store.tenancy.tokens import find_caller

ASK: dict[str, Any] = {"session_id": "s", "budget_tokens": 2000, "user_id": "ann"}
QUERY = "what does my brother Tomas repair in Ghent?"


@pytest.fixture
def filled(tenant: Any) -> Any:
    tenant.client.put_document("AGENTS.md", "- Never delete the archive.")
    tenant.say("old", "My brother Tomas repairs clocks in Ghent.", user_id="ann")
    tenant.say("old", "From now on, always give me prices in euros.", user_id="ann")
    tenant.say("s", *[f"Today we talk about item {n} of the agenda." for n in range(6)], user_id="ann")
    tenant.settle()
    return tenant


@contextmanager
def locked(tenant: Any, table: str) -> Iterator[None]:
    """Whoever reads the table waits."""
    with tenant.owner.connect() as connection:
        connection.execute(text(f"LOCK TABLE longtail.{table} IN ACCESS EXCLUSIVE MODE"))
        yield
        connection.rollback()


def ask_for(tenant: Any, **ask: Any) -> dict[str, Any]:
    answer: dict[str, Any] = tenant.client.assemble(**{**ASK, "query": QUERY, **ask})
    return answer


def tiers(answer: dict[str, Any]) -> set[str]:
    return {item["tier"] for item in answer["items"]}


def codes(answer: dict[str, Any]) -> set[str]:
    return {miss["code"] for miss in answer["degraded"]}


def test_with_time_for_all_nothing_is_missing(filled: Any) -> None:
    answer = ask_for(filled)
    assert tiers(answer) == {"hard", "tail", "guidance", "recall"}
    assert answer["degraded"] == []


@pytest.mark.parametrize("form", ["text", "messages", "anthropic", "parts"])
def test_a_deadline_of_one_millisecond_still_brings_rules_and_tail(filled: Any, form: str) -> None:
    answer = ask_for(filled, deadline_ms=1, format=form, query=f"never asked before in {form}")
    assert {"hard", "tail"} <= tiers(answer)
    assert "recall" not in tiers(answer)
    assert codes(answer) == {"deadline_exceeded"}


def test_words_that_cannot_be_looked_up_in_time_take_nothing_else_with_them(filled: Any) -> None:
    with locked(filled, "postings"):
        hasty = ask_for(filled, deadline_ms=300)
        patient = ask_for(filled, deadline_ms=8000)
    assert {"hard", "tail"} <= tiers(hasty)
    assert len([item for item in hasty["items"] if item["tier"] == "tail"]) == 6
    assert "deadline_exceeded" in codes(hasty)
    assert tiers(patient) == {"hard", "tail", "guidance", "recall"}  # found by its meaning
    assert codes(patient) == {"deadline_exceeded"}
    assert "what holds words of the query is missing" in patient["degraded"][0]["detail"]
    after = ask_for(filled)
    assert after["degraded"] == []


def test_recall_that_takes_too_long_is_left_out_before_guidance(filled: Any) -> None:
    with locked(filled, "summaries"):
        answer = ask_for(filled, deadline_ms=4000)
    assert tiers(answer) == {"hard", "tail", "guidance"}
    assert codes(answer) == {"deadline_exceeded"}
    assert "recall is missing" in " ".join(miss["detail"] for miss in answer["degraded"])


class SlowEncoder:
    """The real encoder, but for the time it takes."""

    def __init__(self, real: Encoder, *, seconds: float) -> None:
        self._real, self._seconds = real, seconds

    @property
    def name(self) -> str:
        return self._real.name

    @property
    def fingerprint(self) -> EncoderFingerprint:
        return self._real.fingerprint

    def encode(self, texts: Sequence[str]) -> Vector:
        time.sleep(self._seconds)
        return self._real.encode(texts)


@pytest.fixture
def runtime(filled: Any) -> Iterator[Runtime]:
    """An API process's own, in this process, on the same database."""
    made = Runtime(filled.stack.settings)
    await_true(lambda: made.encoder, told=lambda: made.encoder_problem)
    yield made
    made.close()


def assemble_here(runtime: Runtime, tenant: Any, **ask: Any) -> AssembleOut:
    with plain_transaction(runtime.engine) as connection:
        caller = find_caller(connection, token=tenant.token)
    request = AssembleIn.model_validate({**ASK, "query": QUERY, **ask})
    return assemble_prompt(runtime, caller, request)


def test_a_slow_encoder_leaves_time_for_recall_by_words(filled: Any, runtime: Runtime) -> None:
    assert runtime.encoder is not None
    runtime.encoder = SlowEncoder(runtime.encoder, seconds=9)  # type: ignore[assignment]
    answer = assemble_here(runtime, filled, deadline_ms=4000)
    assert [miss.code for miss in answer.degraded] == ["deadline_exceeded"]
    assert "encoded" in answer.degraded[0].detail
    recalled = [item["text"] for item in answer.items if item["tier"] == "recall"]
    assert any("Tomas" in words for words in recalled)
    assert any(item["tier"] == "guidance" for item in answer.items)


def test_an_encoder_that_is_away_means_words_and_names_only(filled: Any, runtime: Runtime) -> None:
    runtime.encoder, runtime.encoder_problem = None, "the encoder is away"
    answer = assemble_here(runtime, filled)
    assert [miss.code for miss in answer.degraded] == ["encoder_unavailable"]
    assert any("Tomas" in item["text"] for item in answer.items if item["tier"] == "recall")


def test_an_encoder_that_fails_means_words_and_names_only(filled: Any, runtime: Runtime) -> None:
    class Broken(SlowEncoder):
        def encode(self, texts: Sequence[str]) -> Vector:
            raise RuntimeError("no memory")

    assert runtime.encoder is not None
    runtime.encoder = Broken(runtime.encoder, seconds=0)  # type: ignore[assignment]
    answer = assemble_here(runtime, filled, query=QUERY + " Today?")
    assert [miss.code for miss in answer.degraded] == ["encoder_unavailable"]
    assert any("Tomas" in item["text"] for item in answer.items if item["tier"] == "recall")
