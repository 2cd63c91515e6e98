"""The answer about the service's state."""

from typing import Literal

from pydantic import BaseModel, Field


class StatusOut(BaseModel):
    version: str
    uptime_seconds: float
    redis: Literal["ok", "not reached; work waits in PostgreSQL"]
    counts: dict[str, int] | None = Field(
        description="What is kept, with `?counts=true`: it reads every row."
    )
    pending: int
    lag_seconds: float
    dead_letters: int
    encoder: str
    encoder_fingerprint: str | None
