"""mem0 with `infer=False`: every turn is a memory, no language model. Its default store, its own hybrid score.

Our encoder stands in for the embedding service, and our stop words for the list that fastembed's BM25 would download.
Its spaCy model (lemmas, entities) is not to be had from the registries: mem0 goes on without, as it says it can.
"""

import os
from pathlib import Path
from typing import Any

os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none is used", "ANONYMIZED_TELEMETRY": "False"}

from bench.peers.exchange import History, answer_with
from models.domain.text.terms import STOP_WORDS
from models.encoders.registry import load_encoder

CACHE = os.environ.get("LONGTAIL_ENCODER_CACHE")
ENCODER = load_encoder("minilm", threads=2, cache=Path(CACHE) if CACHE else None)


class Embedder:
    """What mem0 asks of an embedding model."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002 - mem0's signature
        return [float(number) for number in ENCODER.encode([text])[0]]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


def build(folder: Path) -> Any:
    from fastembed import SparseTextEmbedding
    from mem0 import Memory

    made = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "path": str(folder / "qdrant"),
                    "embedding_model_dims": ENCODER.dimensions,
                    "collection_name": "bench",
                    "on_disk": True,
                },
            },
            "history_db_path": str(folder / "history.db"),
        }
    )
    made.embedding_model = Embedder()
    (folder / "bm25").mkdir()
    (folder / "bm25" / "english.txt").write_text("\n".join(sorted(STOP_WORDS)))
    made.vector_store._bm25_encoder = SparseTextEmbedding(
        model_name="Qdrant/bm25", specific_model_path=str(folder / "bm25")
    )
    return made


def rank(history: History, folder: Path, depth: int) -> dict[str, list[str]]:
    memory = build(folder)
    for turn in history["turns"]:
        memory.add(
            [{"role": turn["role"], "content": turn["line"]}],
            user_id=history["user"],
            metadata={"turn": turn["id"], "said_at": turn["said_at"]},
            infer=False,
        )
    ranked = {}
    for question in history["questions"]:
        found = memory.search(
            question["text"], top_k=depth, filters={"user_id": history["user"]}, threshold=0.0
        )
        ranked[question["id"]] = [hit["metadata"]["turn"] for hit in found["results"]]
    return ranked


if __name__ == "__main__":
    answer_with(rank)
