"""Hindsight with provider `none`: every turn kept as a chunk, no language model; its four legs fused by rank.

It runs on the benchmark's PostgreSQL in a database of its own, with our encoder. Its default cross-encoder cannot be
downloaded offline, so the reranker is its own `rrf`.
"""

import asyncio
import os
from datetime import datetime
from pathlib import Path

os.environ |= {
    "HINDSIGHT_API_LLM_PROVIDER": "none",
    "HINDSIGHT_API_RERANKER_PROVIDER": "rrf",
    "HINDSIGHT_API_RETAIN_EXTRACTION_MODE": "chunks",
    "HINDSIGHT_API_DATABASE_URL": os.environ["LONGTAIL_PEER_DATABASE_URL"],
}

from hindsight_api.engine.cross_encoder import RRFPassthroughCrossEncoder
from hindsight_api.engine.embeddings import Embeddings
from hindsight_api.engine.memory_engine import Budget, MemoryEngine
from hindsight_api.engine.task_backend import SyncTaskBackend
from hindsight_api.models import RequestContext

from bench.peers.exchange import History, answer_with
from models.encoders.registry import load_encoder

CACHE = os.environ.get("LONGTAIL_ENCODER_CACHE")
ENCODER = load_encoder("minilm", threads=2, cache=Path(CACHE) if CACHE else None)
TURNS_PER_CALL = 100
TOKENS_PER_TURN = 60  # so that a list of the wanted depth is not cut short by its token budget


class Encoder(Embeddings):  # type: ignore[misc]  # the peer's package is not installed where types are checked
    """Our encoder as Hindsight asks for one."""

    @property
    def provider_name(self) -> str:
        return "longtail"

    @property
    def dimension(self) -> int:
        return ENCODER.dimensions

    async def initialize(self) -> None:
        return

    async def encode(self, texts: list[str]) -> list[list[float]]:
        return [[float(number) for number in row] for row in ENCODER.encode(texts)]


async def rank_history(history: History, depth: int) -> dict[str, list[str]]:
    engine = MemoryEngine(
        db_url=os.environ["LONGTAIL_PEER_DATABASE_URL"],
        embeddings=Encoder(),
        cross_encoder=RRFPassthroughCrossEncoder(),
        task_backend=SyncTaskBackend(),
        skip_llm_verification=True,
    )
    await engine.initialize()
    context = RequestContext()
    turns, bank = history["turns"], history["user"]
    for first in range(0, len(turns), TURNS_PER_CALL):
        await engine.retain_batch_async(
            bank,
            [
                {
                    "content": turn["line"],
                    "event_date": datetime.fromisoformat(turn["said_at"]),
                    "document_id": turn["id"],
                }
                for turn in turns[first : first + TURNS_PER_CALL]
            ],
            request_context=context,
        )
    ranked = {}
    for question in history["questions"]:
        found = await engine.recall_async(
            bank,
            question["text"],
            budget=Budget.HIGH,
            max_tokens=depth * TOKENS_PER_TURN,
            question_date=datetime.fromisoformat(question["asked_at"]),
            request_context=context,
        )
        ranked[question["id"]] = list(dict.fromkeys(fact.document_id for fact in found.results))[:depth]
    await engine.close()
    return ranked


def rank(history: History, folder: Path, depth: int) -> dict[str, list[str]]:  # noqa: ARG001 - it has a database
    return asyncio.run(rank_history(history, depth))


if __name__ == "__main__":
    answer_with(rank)
