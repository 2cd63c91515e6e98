"""Texts to measure with: real conversations where a data folder is given, else sentences made from a seed."""

import json
import random
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

NAMES = ("Ana", "Bilal", "Chen", "Dora", "Emil", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kaya", "Luis")
THINGS = (
    "the billing export",
    "our staging cluster",
    "the garden shed",
    "the tax form",
    "the onboarding deck",
)
DEEDS = ("moved to", "broke after", "was fixed by", "depends on", "should wait for", "is owned by")
MORE = (
    "We looked at it on Thursday morning.",
    "It failed again with error E%d in src/app/module_%d.py.",
    "The meeting is on %d March, at %d o'clock.",
    "My sister said it costs about %d euros, or %d if we wait.",
    "Could you check whether the numbers from run %d match ticket %d?",
)


def make_texts(count: int, *, seed: int = 7) -> list[str]:
    """Different chat-like sentences, the same ones for the same seed."""
    rng = random.Random(seed)
    texts = []
    for number in range(count):
        deed = f"{rng.choice(NAMES)} says {rng.choice(THINGS)} {rng.choice(DEEDS)} {rng.choice(NAMES)}'s change {number}."
        tails = [
            tail % (rng.randrange(1000), rng.randrange(1000)) if "%" in tail else tail
            for tail in rng.sample(MORE, k=rng.randint(1, 3))
        ]
        texts.append(" ".join([deed, *tails]))
    return texts


@dataclass(frozen=True, slots=True)
class Line:
    """What somebody said in a conversation."""

    role: str
    text: str
    name: str | None = None


def load_lines(count: int, *, data: Path | None, longest_chars: int = 1200) -> list[Line]:
    """LoCoMo (two people), then the shorter turns of LongMemEval (user and assistant), then made sentences."""
    found: list[Line] = []
    if data is not None:
        for conversation in json.loads((data / "locomo_dev.json").read_text()):
            first = conversation["conversation"]["speaker_a"]
            found += [
                Line("user" if turn["speaker"] == first else "assistant", turn["text"], turn["speaker"])
                for key, turns in conversation["conversation"].items()
                if key.startswith("session_") and isinstance(turns, list)
                for turn in turns
            ]
        sessions = json.loads((data / "longmemeval_dev.json").read_text())["sessions"]
        found += [
            Line(turn["role"], turn["content"])
            for session in sessions.values()
            for turn in session["turns"]
            if 0 < len(turn["content"].strip()) <= longest_chars
        ]
    made = make_texts(max(0, count - len(found)))
    found += [Line("user" if number % 2 == 0 else "assistant", body) for number, body in enumerate(made)]
    return found[:count]


def load_texts(count: int, *, data: Path | None) -> list[str]:
    """Turns of LoCoMo and LongMemEval from `data`, topped up with made sentences."""
    if data is None:
        return make_texts(count)
    conversations = json.loads((data / "locomo_dev.json").read_text())
    found = [
        f"{turn['speaker']}: {turn['text']}"
        for conversation in conversations
        for key, turns in conversation["conversation"].items()
        if key.startswith("session_") and isinstance(turns, list)
        for turn in turns
    ]
    unique = list(dict.fromkeys(found))
    return [*islice(unique, count), *make_texts(max(0, count - len(unique)))]
