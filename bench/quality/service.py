"""The service under test: histories go in through the API, workers read them, assemble and search answer."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from rich.progress import Progress, TaskID
from sqlalchemy import Engine, text

from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack
from bench.quality.metrics import SESSION_DEPTH, flatten, score_ranking, score_sessions, share_in_text
from bench.quality.records import History, Question, Scores
from models.errors import NotFound, ServiceError
from models.store.engine import open_engine, plain_transaction

TURNS_PER_CALL: Final = 200
DEADLINE_MS: Final = 60_000  # quality is measured, not speed: a busy machine must not cost an answer
SEARCH_DEPTH: Final = 100  # enough to hold five different sessions
MOST_ROUNDS: Final = 6  # of widening a budget until guidance has taken what it takes

# Sessions are compacted when the benchmark says so, and not while "before" is being measured.
_COMPACT_ON_REQUEST: Final = {
    "LONGTAIL_COMPACTION_THRESHOLD_TOKENS": "1000000000",
    "LONGTAIL_COMPACTION_IDLE_SECONDS": "1000000000",
}
_GATE_SCORES: Final = text(
    "SELECT gate_decisions.turn_id, memories.gate_score FROM longtail.gate_decisions "
    "JOIN longtail.memories ON memories.id = gate_decisions.memory_id WHERE NOT gate_decisions.is_reinforcement"
)
_GUIDANCE_TURNS: Final = text("SELECT turn_id FROM longtail.guidance")


@dataclass(slots=True, kw_only=True)
class Service:
    """A running stack, and which turn of the service is which turn of the data."""

    client: ServiceClient
    owner: Engine
    owner_url: str
    progress: Progress
    clients: int = 2
    turn_ids: dict[tuple[str, str], str] = field(default_factory=dict)  # (user, our id) → the service's
    degraded: Counter[str] = field(default_factory=Counter)

    def remember(self, histories: Sequence[History], *, title: str) -> float:
        """Send every turn, a few histories at once, and wait until the workers are done; how many seconds it took."""
        start = time.monotonic()
        bar = self.progress.add_task(
            f"{title}: sending", total=sum(len(history.turns) for history in histories)
        )
        with ThreadPoolExecutor(max_workers=self.clients) as pool:
            for known in pool.map(lambda history: self._send(history, bar), histories):
                self.turn_ids |= known
        self.progress.remove_task(bar)
        self.wait(title)
        return time.monotonic() - start

    def _send(self, history: History, bar: TaskID) -> dict[tuple[str, str], str]:
        known: dict[tuple[str, str], str] = {}
        for session, turns in history.sessions.items():
            for first in range(0, len(turns), TURNS_PER_CALL):
                some = turns[first : first + TURNS_PER_CALL]
                answer = self.client.post_turns(
                    session,
                    [
                        {
                            "role": turn.role,
                            "content": turn.text,
                            "id": turn.id,
                            "ts": turn.said_at.isoformat(),
                            **({"name": turn.speaker} if turn.speaker else {}),
                        }
                        for turn in some
                    ],
                    user_id=history.user,
                )
                if any(one["content_differs"] for one in answer["duplicates"]):
                    raise ServiceError(f"session {session}: a turn is known by its id with other words")
                # What is known already was sent twice: a call that took too long on a busy machine was repeated.
                keys = {one["index"]: one["turn_id"] for one in answer["duplicates"]}
                new = iter(answer["accepted"])
                for place, turn in enumerate(some):
                    known[history.user, turn.id] = keys[place] if place in keys else next(new)
                self.progress.advance(bar, len(some))
        return known

    def wait(self, title: str) -> None:
        """Until nothing is pending; turns that workers gave up on are an error, because they would be scored as lost."""
        status = self.client.status()
        bar = self.progress.add_task(f"{title}: remembering", total=status["pending"])
        while status["pending"]:
            time.sleep(0.5)
            before, status = status["pending"], self.client.status()
            self.progress.advance(bar, before - status["pending"])
        self.progress.remove_task(bar)
        if status["dead_letters"]:
            raise ServiceError(f"{status['dead_letters']} items were given up by the workers")

    def gate_scores(self) -> dict[str, dict[str, float]]:
        """What the gate thought of the turns it promoted: user → our id → score."""
        ours = {key: named for named, key in self.turn_ids.items()}
        scores: dict[str, dict[str, float]] = {}
        with plain_transaction(self.owner) as connection:
            for row in connection.execute(_GATE_SCORES):
                user, turn = ours[str(row.turn_id)]
                scores.setdefault(user, {})[turn] = float(row.gate_score)
        return scores

    def guidance_turns(self) -> set[str]:
        """The turns that state a rule, as the service believes."""
        with plain_transaction(self.owner) as connection:
            return {str(UUID(str(row.turn_id))) for row in connection.execute(_GUIDANCE_TURNS)}

    def compact(self, histories: Sequence[History], *, title: str) -> dict[str, Any]:
        """Compact every session; `available` is false where the service has no such endpoint."""
        totals: Counter[str] = Counter()
        sessions = [session for history in histories for session in history.sessions]
        bar = self.progress.add_task(f"{title}: compacting", total=len(sessions))
        try:
            for session in sessions:
                answer = self.client.compact(session, force=True)
                while not answer["is_done"]:  # a busy machine: ask again and wait on
                    answer = self.client.compact(session, force=True)
                totals.update({key: value for key, value in answer.items() if type(value) is int})
                totals["sessions_compacted"] += bool(answer.get("did_compact"))
                self.progress.advance(bar)
        except NotFound:
            return {"available": False, "reason": "this service has no endpoint that compacts a session"}
        finally:
            self.progress.remove_task(bar)
        self.wait(title)
        return {"available": True, "sessions": len(sessions), **totals}

    def assemble(
        self, user: str, question: Question, budget_tokens: int, *, explain: bool = False
    ) -> dict[str, Any]:
        """One prompt, asked for from a new session of the same user: there is no tail."""
        answer = self.client.assemble(
            session_id=f"{user}?",
            user_id=user,
            query=question.text,
            budget_tokens=budget_tokens,
            now=question.asked_at.isoformat(),
            deadline_ms=DEADLINE_MS,
            explain=explain,
        )
        self.degraded.update(miss["code"] for miss in answer["degraded"])
        return answer

    def assemble_with_recall(
        self, user: str, question: Question, recall_tokens: int
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A prompt of so many tokens in all, and one in which recall alone, frames included, may use as many.

        Guidance takes what it takes before recall, so the budget is widened by its cost until the rest is
        `recall_tokens`. Each round asks from below: recall is never given more.
        """
        whole = answer = self.assemble(user, question, recall_tokens)
        for _ in range(MOST_ROUNDS):
            spent = answer["budget"]
            others = spent["hard"] + spent["soft"] + spent["tail"] + spent["guidance"]
            if spent["total"] - others >= recall_tokens:
                break
            answer = self.assemble(user, question, recall_tokens + others)
        return whole, answer

    def score(self, history: History, question: Question, budgets_tokens: Sequence[int]) -> Scores:
        """Everything that is measured of one question."""
        turns = {turn.id: turn for turn in history.turns}
        scores = Scores(question=question.id, category=question.category)
        gold = [turns[key].text for key in question.gold]
        for budget_tokens in budgets_tokens if gold else ():
            whole, recall = self.assemble_with_recall(history.user, question, budget_tokens)
            scores.values[f"evidence@{budget_tokens}"] = share_in_text(recall["text"], gold)
            scores.values[f"evidence_whole@{budget_tokens}"] = share_in_text(whole["text"], gold)
        hits = self._search(history, question, k=SEARCH_DEPTH)
        ours = {self.turn_ids[history.user, key]: key for key in question.gold}
        ranked = [(_name_hit(hit, ours, turns), hit["role"]) for hit in hits]
        scores.values |= score_ranking([key for key, _ in ranked], question.gold)
        scores.values |= score_ranking(
            [key for key, role in ranked if role == "user"],
            {key for key in question.gold if turns[key].role == "user"},
            prefix="user_",
        )
        scores.values |= score_sessions((hit["session_id"] for hit in hits), question.gold_sessions)
        by_user = (hit["session_id"] for hit in hits if hit["role"] == "user")
        scores.values |= score_sessions(by_user, question.gold_sessions, name="session_user")
        grouped = self._search(history, question, k=SESSION_DEPTH, group_by="session")
        scores.values |= score_sessions(
            (hit["session_id"] for hit in grouped), question.gold_sessions, name="grouped_session"
        )
        return scores

    def _search(self, history: History, question: Question, **asked: Any) -> list[dict[str, Any]]:
        found = self.client.search(
            query=question.text, user_id=history.user, now=question.asked_at.isoformat(), **asked
        )
        self.degraded.update(miss["code"] for miss in found["degraded"])
        hits: list[dict[str, Any]] = found["results"]
        return hits

    def score_all(
        self, histories: Sequence[History], budgets_tokens: Sequence[int], *, title: str
    ) -> list[Scores]:
        """Every question of every history, a few at once."""
        asked = [(history, question) for history in histories for question in history.questions]
        bar = self.progress.add_task(f"{title}: asking", total=len(asked))

        def score(pair: tuple[History, Question]) -> Scores:
            found = self.score(*pair, budgets_tokens)
            self.progress.advance(bar)
            return found

        with ThreadPoolExecutor(max_workers=self.clients) as pool:
            scores = list(pool.map(score, asked))
        self.progress.remove_task(bar)
        return scores


def _name_hit(hit: dict[str, Any], gold: dict[str, str], turns: dict[str, Any]) -> str:
    """Our id of the gold turn whose words the hit holds, else the service's id of it."""
    for source in hit["source_turn_ids"]:
        key = gold.get(source)
        if key is not None and flatten(turns[key].text) in flatten(hit["text"]):
            return key
    return str(hit["id"])


@contextmanager
def running_service(
    progress: Progress, *, cache: Path | None, clients: int = 2, encoder: str = "minilm"
) -> Iterator[Service]:
    """A whole stack of its own, gone afterwards."""
    env = {**_COMPACT_ON_REQUEST, "LONGTAIL_ENCODER": encoder}
    if cache is not None:
        env["LONGTAIL_ENCODER_CACHE"] = str(cache.absolute())
    with ThrowawayStack(env) as stack:
        owner = open_engine(stack.owner_url)
        try:
            with ServiceClient.from_settings(stack.settings) as client:
                yield Service(
                    client=client, owner=owner, owner_url=stack.owner_url, progress=progress, clients=clients
                )
        finally:
            owner.dispose()
