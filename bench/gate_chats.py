"""Chats for the gate bench: the data sets as namespaces in order of time, and their replay through the gate."""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.domain.gate.gating import GateDecision, TextSignals, decide_gate
from models.domain.gate.weights import GateWeights
from models.domain.recall.selection import DUPLICATE_COSINE

SOURCES: Final = ("longmemeval", "locomo")
_EVIDENCE_ID: Final = re.compile(r"D(\d+):0*(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One user turn of a data set; `id` is stable from run to run."""

    id: str
    text: str
    is_evidence: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """The turns of one user, oldest first."""

    source: str
    turns: tuple[ChatTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A turn at the gate: the decision, how many memories there were, and whether it repeated one."""

    source: str
    turn: ChatTurn
    decision: GateDecision
    memories_before: int
    is_duplicate: bool

    @property
    def is_promoted(self) -> bool:
        return self.decision.keep and not self.is_duplicate


@dataclass(frozen=True, slots=True, kw_only=True)
class Chats:
    """All namespaces, and by turn id the unit vector and the text signals."""

    namespaces: Sequence[Namespace]
    vectors: dict[str, NDArray[np.float32]]
    signals: dict[str, TextSignals]


def load_longmemeval(path: Path, *, most_turns: int, rng: random.Random) -> list[Namespace]:
    """One namespace per question, while their distinct turns number at most `most_turns`."""
    data = json.loads(path.read_text(encoding="utf-8"))
    questions = [q for q in data["questions"] if not q["question_id"].endswith("_abs")]
    rng.shuffle(questions)
    namespaces: list[Namespace] = []
    seen: set[str] = set()
    for question in questions:
        keys = sorted(question["haystack"], key=lambda key: data["sessions"][key]["date"])
        turns = tuple(
            ChatTurn(id=f"{key}:{i}", text=turn["content"], is_evidence=bool(turn.get("has_answer")))
            for key in keys
            for i, turn in enumerate(data["sessions"][key]["turns"])
            if turn["role"] == "user"
        )
        if namespaces and len(seen | {turn.id for turn in turns}) > most_turns:
            break
        seen |= {turn.id for turn in turns}
        namespaces.append(Namespace(source="longmemeval", turns=turns))
    return namespaces


def load_locomo(path: Path, *, most_turns: int) -> list[Namespace]:
    """One namespace per speaker, while their turns number at most `most_turns`."""
    namespaces: list[Namespace] = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        evidence = {
            (int(session), int(turn))
            for question in sample["qa"]
            for text in question["evidence"]
            for session, turn in _EVIDENCE_ID.findall(text)
        }
        sessions = sample["conversation"]
        numbers = sorted(int(key[8:]) for key in sessions if re.fullmatch(r"session_\d+", key))
        for speaker in (sessions["speaker_a"], sessions["speaker_b"]):
            turns = tuple(
                ChatTurn(
                    id=f"{sample['sample_id']}:{turn['dia_id']}",
                    text=turn["text"],
                    is_evidence=_read_place(turn["dia_id"]) in evidence,
                )
                for number in numbers
                for turn in sessions[f"session_{number}"]
                if turn["speaker"] == speaker
            )
            if namespaces and sum(len(n.turns) for n in namespaces) + len(turns) > most_turns:
                return namespaces
            namespaces.append(Namespace(source="locomo", turns=turns))
    return namespaces


def _read_place(dia_id: str) -> tuple[int, int]:
    session, turn = _EVIDENCE_ID.findall(dia_id)[0]
    return int(session), int(turn)


def replay(namespace: Namespace, chats: Chats, *, threshold: float, weights: GateWeights) -> list[Passage]:
    """Pass the turns of a namespace through the gate in order; what is promoted is memory for the next."""
    vectors = np.stack([chats.vectors[turn.id] for turn in namespace.turns])
    similarities = vectors @ vectors.T
    memories: list[int] = []
    passages: list[Passage] = []
    for i, turn in enumerate(namespace.turns):
        to_memories = similarities[i, memories].tolist()
        decision = decide_gate(
            chats.signals[turn.id],
            turn_similarities=similarities[i, :i].tolist(),
            memory_similarities=to_memories,
            threshold=threshold,
            weights=weights,
        )
        passage = Passage(
            source=namespace.source,
            turn=turn,
            decision=decision,
            memories_before=len(memories),
            is_duplicate=max(to_memories, default=0.0) >= DUPLICATE_COSINE,
        )
        passages.append(passage)
        if passage.is_promoted:
            memories.append(i)
    return passages


def replay_all(chats: Chats, *, threshold: float, weights: GateWeights) -> list[Passage]:
    """Replay every namespace at one threshold."""
    return [
        passage
        for namespace in chats.namespaces
        for passage in replay(namespace, chats, threshold=threshold, weights=weights)
    ]
