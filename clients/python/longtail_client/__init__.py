"""A small typed client of Longtail, the memory service for agents: `Client` and `AsyncClient` with the same calls."""

from longtail_client.answers import Accepted, Hit, Hits, Memory, Prompt, Session, Status, Turn
from longtail_client.client import AsyncClient, Client
from longtail_client.config import Config, find_config
from longtail_client.errors import (
    Busy,
    Conflict,
    Forbidden,
    Invalid,
    LongtailError,
    NotFound,
    Refused,
    TooLarge,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
)

__all__ = [
    "Accepted",
    "AsyncClient",
    "Busy",
    "Client",
    "Config",
    "Conflict",
    "Forbidden",
    "Hit",
    "Hits",
    "Invalid",
    "LongtailError",
    "Memory",
    "NotFound",
    "Prompt",
    "Refused",
    "Session",
    "Status",
    "TooLarge",
    "Turn",
    "Unauthorized",
    "Unavailable",
    "UnexpectedAnswer",
    "find_config",
]
