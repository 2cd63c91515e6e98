"""The request for a prompt, and the answer."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictBool
from typing_extensions import TypedDict

from api.routing.schemas import DegradedOut, Moment, Name, Strict, Text, UserId
from models.domain.recall.scoring import ProfileName

MAX_BUDGET_TOKENS = 2_000_000
Budget = Annotated[int, Field(gt=0, le=MAX_BUDGET_TOKENS, strict=True)]


class MessageIn(Strict):
    """A message that the host shows the model anyway."""

    role: Name
    content: Text
    id: Name | None = None


class AssembleIn(Strict):
    """What the next model call is about, and how much room there is."""

    session_id: Name
    query: Annotated[Text, Field(max_length=200_000)]
    budget_tokens: Budget
    user_id: UserId | None = None
    session_key: Name | None = None
    agent_id: Name | None = None
    messages: Annotated[list[MessageIn], Field(max_length=10_000)] | None = Field(
        default=None,
        description="What the host shows the model anyway. Turns among them (by id, else by role and content) are neither "
        "repeated nor recalled, cost nothing here, and are listed in `visible`.",
    )
    tokenizer: Name = Field(
        default="chars", description="How tokens are counted: `chars`, or the name of a tokenizer file."
    )
    format: Literal["text", "messages", "anthropic", "parts"] = Field(
        default="text",
        description="`text`: `stable` and `volatile`, to be placed by the host. `messages`: the request's messages with "
        "the stable part at the end of the system message and the volatile part before the newest user message, as one "
        "string each (OpenAI). `anthropic`: `system` blocks with `cache_control` after the authored rules and after the "
        "newest turn of the tail, and `messages` with the volatile part as the first block of the newest user message. "
        "`parts`: every section a block of its own. What is injected is the same text in each of them.",
    )
    deadline_ms: Annotated[int, Field(gt=0, le=60_000, strict=True)] | None = Field(
        default=None,
        description="When the answer is wanted. What does not finish is left out, recall first, and named in `degraded`; "
        "rules and tail are read in any case.",
    )
    explain: StrictBool = False
    now: Moment | None = Field(default=None, description="The moment to assemble for; default: this one.")
    profile: ProfileName | None = Field(
        default=None, description="How recall is ranked; default: as the service is set."
    )


class StableOut(BaseModel):
    """Authored rules and recent turns: changes at its end only, but for rare cuts."""

    text: str
    sha256: str
    chars: int


class VolatileOut(BaseModel):
    """Guidance and recall: changes with every query."""

    text: str


class PartOut(BaseModel):
    section: Literal["authored", "recent_turns", "found_rules", "guidance", "recalled"]
    trust: Literal["authored", "conversation", "stated", "untrusted"]
    is_stable: bool
    text: str
    sha256: str
    chars: int


class BudgetOut(BaseModel):
    total: int
    used: int
    hard: int
    tail: int
    soft: int
    guidance: int
    recall: int
    exhausted: bool = Field(
        default=False,
        description="Room is left, and nothing else that is remembered reaches the floor of recall.",
    )


class ItemOut(TypedDict):  # a prompt has a hundred of them: a dictionary is made in a tenth of a model's time
    tier: Literal["hard", "tail", "soft", "guidance", "recall"]
    kind: Literal["turn", "memory", "summary", "rule", "lore"]
    id: str
    source_turn_ids: list[str]
    text: str
    tokens: int
    score: float | None
    is_quote: bool  # passages of a long turn; `source_turn_ids` leads to the whole


class AssembleOut(BaseModel):
    assembly_id: str
    text: str
    stable: StableOut
    stable_prefix_chars: int = Field(
        description="Characters of the stable part before its closing tags: where a cache breakpoint belongs."
    )
    stable_prefix_sha256: str
    volatile: VolatileOut
    system: list[dict[str, Any]] | None = Field(default=None, description="With format `anthropic`.")
    messages: list[dict[str, Any]] | None = Field(
        default=None,
        description="With format `messages` or `anthropic`; with the others only when nothing stored could be read: "
        "the request's own.",
    )
    parts: list[PartOut] | None = Field(default=None, description="With format `parts`.")
    budget: BudgetOut
    items: list[ItemOut]
    visible: list[str]
    degraded: list[DegradedOut]
    pending: int
    lag_seconds: float
    timings_ms: dict[str, float]
    explain: dict[str, Any] | None = None
