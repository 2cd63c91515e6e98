"""Profiles: of the lines a prompt begins a session with, how many a reader would want there.

A user's profile is read as hosts get it, on the day after the last thing said. `bench/labels/profile.jsonl` holds a reader's
verdicts: the turn a line comes from, the first twelve digits of the SHA-256 of its words, and whether it is `worth` its
place: true then and still, understood without the talk around it, and something a later conversation may build on;
`held_out` when nothing had been changed for what that user's lines showed. A line nobody has read counts as `unread`,
and is in no share.

Haystacks of LongMemEval share their sessions, so users are made anew, of sessions in order of time, and none is in two
of the splits: `tuned` (the rules were written on these), `checked` (read between two changes, and the next one was made for
what was wrong there) and `held_out` (read after the last change). A chat user is a stretch of one channel. All of LoCoMo is
`tuned`. Of what assistants said only the last session is sent: nothing else of it can be in a profile.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from bench.quality.datasets import load_locomo, load_longmemeval
from bench.quality.records import History, Question, SaidTurn
from bench.quality.service import Service
from bench.rules.detection import read_rows

LABELS: Final = Path(__file__).parents[1] / "labels" / "profile.jsonl"
BUDGET_TOKENS: Final = 2000
TARGET: Final = "0.9 of the judged lines of held-out users are worth their place"
SESSIONS: Final = 18  # of a user of LongMemEval
TUNED_SESSIONS: Final = 108
CHAT_TURNS: Final = 200
CHAT_SESSION: Final = 50
EARLIER_HAYSTACKS: Final = 5  # the first, and as many drawn: what profiles were read on before is among them
CHAT_PAUSE: Final = timedelta(minutes=10)  # between two messages; the file has no dates
CHAT_BEGAN: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
PEOPLE: Final = ("ubuntu-irc", "gitter")  # of the chat turns; the others were written by machines

Split = Literal["tuned", "checked", "held_out"]
SPLIT_SEED: Final = 7  # another one would put what rules were written on among the held-out
CHAT_STRETCHES: Final[dict[Split, tuple[int, ...]]] = {
    "tuned": (0, 3, 6),
    "checked": (1, 2, 4, 5, 7, 8),
    "held_out": (9, 10, 11),
}
SPLITS: Final[tuple[Split, ...]] = ("tuned", "checked", "held_out")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileUser:
    """Somebody whose profile is read."""

    source: str
    split: Split
    history: History


def digest(words: str) -> str:
    """What names the words of a line in the labels: the data itself stays out of the project.

    >>> digest("I moved to Lyon.")
    'f4ee56aa99fe'
    """
    return hashlib.sha256(words.encode()).hexdigest()[:12]


def load_users(
    data: Path, *, conversations: int | None = None, users: int | None = None
) -> list[ProfileUser]:
    """Everybody whose profile is read; of LongMemEval and of each channel at most `users` in each split."""
    return [
        *_make_locomo(load_locomo(data, conversations=conversations)),
        *_make_longmemeval(data, users=users),
        *_make_chats(data, users=users),
    ]


def _make_locomo(conversations: Sequence[History]) -> Iterator[ProfileUser]:
    for one in conversations:
        turns = tuple(replace(turn, id=f"{one.user}:{turn.id}") for turn in one.turns)
        yield ProfileUser(source="locomo", split="tuned", history=_make_history(one.user, turns))


def _make_longmemeval(data: Path, *, users: int | None) -> Iterator[ProfileUser]:
    haystacks = load_longmemeval(data)
    earlier = [*haystacks[:EARLIER_HAYSTACKS], *load_longmemeval(data, questions=EARLIER_HAYSTACKS)]
    seen = {name for haystack in earlier for name in _list_sessions(haystack)}
    sessions = {name: turns for haystack in haystacks for name, turns in _list_sessions(haystack).items()}
    names = sorted(sessions)
    random.Random(SPLIT_SEED).shuffle(names)
    old, fresh = [name for name in names if name in seen], [name for name in names if name not in seen]
    pools: dict[str, tuple[Split, list[str]]] = {
        "tuned": ("tuned", old[::2][:TUNED_SESSIONS]),
        "checked": ("checked", old[1::2] + old[::2][TUNED_SESSIONS:]),
        "fresh": ("checked", fresh),
    }
    for pool, (split, some_names) in pools.items():
        # What one person said in several sessions stands together: their names differ in the last number alone.
        grouped = sorted(some_names, key=lambda name: (digest(name.rpartition("_")[0]), name))
        for first in range(0, len(grouped), SESSIONS)[:users]:
            some = grouped[first : first + SESSIONS]
            user = f"longmemeval-{pool}-{first // SESSIONS}"
            turns = [replace(turn, session=f"{user}/{name}") for name in some for turn in sessions[name]]
            turns.sort(key=lambda turn: (turn.said_at, turn.session))
            yield ProfileUser(source="longmemeval", split=split, history=_make_history(user, turns))


def _list_sessions(haystack: History) -> dict[str, list[SaidTurn]]:
    return {name.partition("/")[2]: turns for name, turns in haystack.sessions.items()}


def _make_chats(data: Path, *, users: int | None) -> Iterator[ProfileUser]:
    rows = list(enumerate(read_rows(data / "chat_turns.jsonl")))
    for channel in PEOPLE:
        said = [(place, row["text"]) for place, row in rows if row["source"] == channel]
        for split, stretches in CHAT_STRETCHES.items():
            for stretch in stretches[:users]:
                user = f"{channel}-{stretch}"
                turns = [
                    SaidTurn(
                        id=f"chat:{place}",
                        session=f"{user}/{nth // CHAT_SESSION}",
                        role="user",
                        text=text,
                        said_at=CHAT_BEGAN + nth * CHAT_PAUSE,
                    )
                    for nth, (place, text) in enumerate(said[stretch * CHAT_TURNS :][:CHAT_TURNS])
                ]
                if turns:
                    yield ProfileUser(source=channel, split=split, history=_make_history(user, turns))


def _make_history(user: str, turns: Sequence[SaidTurn]) -> History:
    last = turns[-1]
    kept = tuple(turn for turn in turns if turn.role == "user" or turn.session == last.session)
    nothing = Question(
        id=user,
        text="",
        category="profile",
        gold=frozenset(),
        gold_sessions=frozenset(),
        asked_at=last.said_at + timedelta(days=1),
    )
    return History(user=user, turns=kept, questions=(nothing,))


def measure_profiles(service: Service, users: Sequence[ProfileUser]) -> dict[str, Any]:
    """The lines of every user's first prompt, with a reader's verdicts where there are any."""
    verdicts = {(row["turn"], row["line"]): row["worth"] for row in read_rows(LABELS)}
    seconds = service.remember([one.history for one in users], title="profile")
    lines = [
        {
            "source": one.source,
            "split": one.split,
            "user": one.history.user,
            "turn": turn,
            "line": digest(words),
            "text": words,
            "worth": verdicts.get((turn, digest(words))),
        }
        for one in users
        for turn, words in _read_profile(service, one.history)
    ]
    return {
        "target": TARGET,
        "pipeline_seconds": round(seconds, 1),
        "shares": _share(users, lines),
        "lines": lines,
    }


def _read_profile(service: Service, history: History) -> list[tuple[str, str]]:
    """Our id of the turn and the words of each line, in a prompt that asks nothing yet."""
    ours = {key: turn for (user, turn), key in service.turn_ids.items() if user == history.user}
    (nothing,) = history.questions
    answer = service.assemble(history.user, nothing, BUDGET_TOKENS)
    return [
        (ours[item["source_turn_ids"][0]], item["text"])
        for item in answer["items"]
        if item["tier"] == "recall"
    ]


def _share(users: Sequence[ProfileUser], lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    shares = []
    for split, source in dict.fromkeys((one.split, one.source) for one in users):
        some = [line for line in lines if (line["split"], line["source"]) == (split, source)]
        judged = [line["worth"] for line in some if line["worth"] is not None]
        shares.append(
            {
                "split": split,
                "source": source,
                "users": sum((one.split, one.source) == (split, source) for one in users),
                "lines": len(some),
                "unread": len(some) - len(judged),
                "worth": sum(judged),
                "share": round(sum(judged) / len(judged), 3) if judged else None,
            }
        )
    return sorted(shares, key=lambda row: SPLITS.index(row["split"]))


def describe_profiles(result: dict[str, Any]) -> str:
    """The result as Markdown."""
    rows = [
        f"| {row['split']} | {row['source']} | {row['users']} | {row['lines']} | {row['unread']} | {row['worth']} | "
        f"{'' if row['share'] is None else row['share']} |"
        for row in result["shares"]
    ]
    return "\n".join(
        [
            "## Profiles\n",
            f"Target: {result['target']}.\n",
            "| split | source | users | lines | unread | worth their place | share of the judged |",
            "|---|---|--:|--:|--:|--:|--:|",
            *rows,
            "",
        ]
    )
