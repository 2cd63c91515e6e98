"""A profile as it is shown."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field


class ProfileLineOut(BaseModel):
    kind: Literal["fact", "open", "last"] = Field(
        description="A fact, an open matter, or how the last session ended."
    )
    text: str = Field(description="One statement, word for word; cut where it is very long.")
    turn_id: str = Field(description="The turn that says it.")
    session_id: str
    memory_id: str | None = Field(description="Of a fact: the durable memory, to correct or forget.")
    speaker: str | None
    said_at: datetime
    worth: float = Field(description="How much the words tell, 0 to 1.")
    value: float = Field(description="What it is ordered by: worth, recency, confirmations; 0 to 1.")


class ProfileOut(BaseModel):
    namespace: str
    lines: list[ProfileLineOut]
