"""`longtail bench load`: several clients at once, accepting, assembling and searching as fast as they are answered.

A closed loop on loopback against a stack of its own: each client sends its next request when it has its answer, so the
numbers are latencies under full load on this machine, clients and workers included.
"""

import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import httpx
from rich.console import Console
from rich.progress import Progress

from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack
from bench.speed.spine import spread
from bench.texts import load_texts

Kind = Literal["accept", "assemble", "search"]
SHARES: Final[dict[Kind, float]] = {"accept": 0.5, "assemble": 0.35, "search": 0.15}
USERS: Final = 8
BUDGET_TOKENS: Final = 4000

HONEST: Final = frozenset({"weak_recall", "nothing_recalled"})  # nothing is missing but what nobody said


@dataclass(slots=True)
class Tally:
    """What one client saw."""

    milliseconds: dict[Kind, list[float]] = field(default_factory=lambda: {kind: [] for kind in SHARES})
    errors: Counter[str] = field(default_factory=Counter)


def run_client(number: int, url: str, token: str, texts: list[str], until: float, tally: Tally) -> None:
    """One client: requests of each kind in their shares until the time is up."""
    chance = random.Random(number)
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as http:
        while time.monotonic() < until:
            kind: Kind = chance.choices(list(SHARES), weights=list(SHARES.values()))[0]
            start = time.perf_counter()
            try:
                answer = _send(http, kind, chance, texts, number)
            except httpx.TransportError as error:
                tally.errors[f"{kind}: {type(error).__name__}"] += 1
                continue
            tally.milliseconds[kind].append((time.perf_counter() - start) * 1000)
            if not answer.is_success:
                tally.errors[f"{kind}: {answer.status_code} {answer.text[:200]}"] += 1
            elif kind == "assemble" and (missing := answer.json()["degraded"]):
                tally.errors.update(
                    f"assemble: degraded {one['code']}" for one in missing if one["code"] not in HONEST
                )


def _send(
    http: httpx.Client, kind: Kind, chance: random.Random, texts: list[str], number: int
) -> httpx.Response:
    user = f"user-{number % USERS}"
    said = chance.choice(texts)
    query = f"What about {' '.join(said.split()[:8])}?"
    session = f"load-{number}-{chance.randrange(4)}"
    if kind == "accept":
        turns = [{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}]
        return http.post(f"/v1/sessions/{session}/turns", json={"turns": turns, "user_id": user})
    if kind == "search":
        return http.post("/v1/search", json={"query": query, "user_id": user})
    ask = {"session_id": session, "query": query, "budget_tokens": BUDGET_TOKENS, "user_id": user}
    return http.post("/v1/assemble", json=ask)


def prepare(client: ServiceClient, texts: list[str], progress: Progress) -> None:
    """Something to find for every user, remembered before the clock starts."""
    bar = progress.add_task("preparing", total=None)
    for number in range(USERS):
        mine = texts[number::USERS]
        for start in range(0, len(mine), 200):
            turns = [{"role": "user", "content": body} for body in mine[start : start + 200]]
            client.post_turns(f"before-{number}", turns, user_id=f"user-{number}")
    while client.status()["pending"]:
        time.sleep(0.2)
    progress.remove_task(bar)


def run(
    *, clients: int, seconds: float, memories: int, data: Path | None, output: Path | None, console: Console
) -> dict[str, Any]:
    """The whole load test on a stack of its own."""
    texts = load_texts(memories, data=data)
    with ThrowawayStack() as stack, Progress(console=console) as progress:
        settings = stack.settings
        token = settings.client_token()
        assert token is not None
        client = ServiceClient.from_settings(settings)
        prepare(client, texts, progress)
        bar = progress.add_task("load", total=seconds)
        start = time.monotonic()
        tallies = [Tally() for _ in range(clients)]
        threads = [
            threading.Thread(
                target=run_client, args=(number, settings.service_url(), token, texts, start + seconds, tally)
            )
            for number, tally in enumerate(tallies)
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            progress.update(bar, completed=min(time.monotonic() - start, seconds))
            time.sleep(0.25)
        elapsed = time.monotonic() - start
        waiting = client.status()["pending"]
        result = summarize(tallies, clients=clients, seconds=elapsed, memories=memories)
        result["pending_at_the_end"] = waiting
    if output is not None:
        output.write_text(json.dumps(result, indent=2, ensure_ascii=False))
    return result


def summarize(tallies: list[Tally], *, clients: int, seconds: float, memories: int) -> dict[str, Any]:
    """Latencies of all clients together, by kind; every error by what it said."""
    errors: Counter[str] = Counter()
    for tally in tallies:
        errors.update(tally.errors)
    by_kind = {kind: [one for tally in tallies for one in tally.milliseconds[kind]] for kind in SHARES}
    requests = sum(len(samples) for samples in by_kind.values())
    return {
        "clients": clients,
        "seconds": round(seconds, 1),
        "memories_before": memories,
        "requests": requests,
        "requests_per_second": round(requests / seconds, 1),
        "errors": sum(errors.values()),
        "errors_by_kind": dict(errors),
        "milliseconds": {kind: spread(samples) for kind, samples in by_kind.items() if samples},
    }


def as_markdown(result: dict[str, Any]) -> str:
    """The result as a table for docs/benchmarks.md."""
    rows = [
        f"| {kind} | {took['n']} | {took['p50']:.1f} | {took['p95']:.1f} | {took['p99']:.1f} |"
        for kind, took in result["milliseconds"].items()
    ]
    return "\n".join(
        (
            f"{result['clients']} clients, {result['seconds']:.0f} s, {result['memories_before']} turns before: "
            f"{result['requests']} requests ({result['requests_per_second']} a second), {result['errors']} errors.",
            "",
            "| request | n | p50 ms | p95 ms | p99 ms |",
            "|---|---|---|---|---|",
            *rows,
        )
    )
