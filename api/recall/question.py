"""A question to memory: what is asked, by whom, when, how broadly, and what was learned about it on the way."""

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from api.runtime import Runtime, Serving
from models.domain.recall.scoring import SEED_PROFILES, ProfileName
from models.domain.recall.time import temporal
from models.domain.text.terms import query_keywords
from models.store.index.embeddings import Vector
from models.store.recall.candidates import Breadth, CandidateRow
from models.store.recall.context import Context
from models.store.recall.nearest import Way, choose_way
from models.store.tenancy.tokens import Caller

# For prompts up to so many tokens: about as many as the budget holds; where that was too few, recall reads once more
# (decision 38). Turns around a weak hit push better hits out of a small prompt, and have room in a large one (decision 25).
# From 1,200 tokens on a prompt has room for facts that only the 60th hit tells (decision 49).
BREADTHS: Final = (
    (1200, Breadth(40, 6)),
    (2400, Breadth(70, 6)),
    (4800, Breadth(60, 10)),
    (9600, Breadth(60, 60)),
)
MOST_BREADTH: Final = Breadth(100, 100)
LEAST_RANKED: Final = 200  # of what was found and of what stands beside it
LEAST_ITEM_TOKENS: Final = 8  # of a short turn: a prompt holds hardly more items than budget/this


def choose_breadth(budget_tokens: int) -> Breadth:
    """How many candidates each leg brings, and how many of them with the turns around.

    >>> choose_breadth(1000), choose_breadth(200_000)
    (Breadth(candidates=40, reaching=6), Breadth(candidates=100, reaching=100))
    """
    return next((breadth for budget, breadth in BREADTHS if budget_tokens <= budget), MOST_BREADTH)


def choose_most_ranked(budget_tokens: int) -> int:
    """How many of the ranked may be tried: more than this a prompt does not hold.

    >>> choose_most_ranked(1000), choose_most_ranked(8000)
    (200, 1000)
    """
    return max(LEAST_RANKED, budget_tokens // LEAST_ITEM_TOKENS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked; a stage that learns more makes a new one."""

    tenant_id: UUID
    session_id: str | None
    text: str
    now: datetime
    breadth: Breadth
    encoder: str = "minilm"  # whose vectors are read
    keywords: frozenset[str] = frozenset()
    intent: float = 0.0  # how much it asks about time
    namespaces: Sequence[str] = ()
    bindings: Sequence[str] = ()  # whose documents apply
    rows: Sequence[CandidateRow] = ()  # found by words while it was encoded, and the turns around them
    way: Way = "exact"  # how the nearest vectors are found
    vector: Vector | None = None
    profile: ProfileName = "longtail"  # how what is found is ranked
    floor: float = 0.0  # a turn that scores less is not tried
    room_tokens: int | None = (
        None  # of a prompt, that recall may fill: where less was found, it reads once more
    )
    explains: bool = False  # whether what is ranked too low to be tried is listed too
    slots: "Future[Vector] | None" = None  # vectors of the events it asks about, if they count

    def within(
        self,
        context: Context,
        *,
        rows: Sequence[CandidateRow],
        vector: Vector | None,
        room_tokens: int | None = None,
    ) -> "Question":
        """The question with where to search, what was found by words, its vector, and the room there is for answers."""
        return replace(
            self,
            room_tokens=room_tokens,
            floor=self.floor
            if vector is not None
            else 0.0,  # words alone score less, however well they match
            namespaces=context.places,
            bindings=context.bindings,
            rows=rows,
            way=choose_way(context.sizes, wanted=self.breadth.candidates),
            vector=vector,
        )


def ask(
    runtime: Runtime,
    caller: Caller,
    *,
    session_id: str | None,
    text: str,
    now: datetime,
    breadth: Breadth,
    profile: ProfileName | None = None,
    floor: float = 0.0,
    explains: bool = False,
    serving: Serving | None = None,
) -> Question:
    """A question as it reads; for the seed's profiles, what the events in it are like is worked out meanwhile."""
    intent = temporal.temporal_intent(text)
    profile = profile or runtime.settings.recall_profile
    serving = serving or runtime.serving
    # Ours asks for no vector of each event: it found less with them, and waited for them (decision 26).
    wants_slots = profile in SEED_PROFILES and temporal.is_active(intent)
    return Question(
        tenant_id=caller.tenant_id,
        session_id=session_id,
        text=text,
        now=now,
        breadth=breadth,
        encoder=serving.name,
        keywords=query_keywords(text),
        intent=intent,
        profile=profile,
        floor=0.0 if profile in SEED_PROFILES else floor,  # the seed's scores lie elsewhere
        explains=explains,
        slots=runtime.start_encoding(temporal.event_slots(text), serving) if wants_slots else None,
    )
