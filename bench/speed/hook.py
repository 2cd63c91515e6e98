"""`longtail bench hook`: what a hook costs from start to exit, beside a bare Python, in the same run.

Every round starts each process once, in an order drawn anew: whatever else the machine does, and what the one before left to
be done by the service, meets all of them alike.
"""

import json
import os
import random
import secrets
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from api.host.claude_install import build_commands
from api.stack.throwaway import ThrowawayStack
from bench.speed.spine import spread
from models.store.tenancy.tokens import ensure_token

TARGET = 3.0
ORDER_SEED = 7
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
BARE = [sys.executable, "-c", "pass"]
NOWHERE = "http://127.0.0.1:9"  # the discard port: refused at once
Words = list[str]


def describe_event(event: str, number: int) -> str:
    """What Claude Code would send."""
    given = {
        "session_id": "bench",
        "prompt_id": f"p{number}",
        "hook_event_name": event,
        "cwd": "/home/ann/project",
        "prompt": f"Where did we put the settings of service {number}?",
        "last_assistant_message": f"The settings of service {number} are in config/service_{number}.toml.",
        "source": "startup",
    }
    return json.dumps(given)


def time_process(command: Words, given: str, environment: Mapping[str, str]) -> float:
    """Milliseconds from start to exit."""
    start = time.perf_counter()
    subprocess.run(
        command,
        input=given.encode(),
        env=dict(environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return (time.perf_counter() - start) * 1000


def measure(rounds: int, ways: Mapping[str, Callable[[int], float]]) -> dict[str, dict[str, float]]:
    """Percentiles of each way, and its p95 over that of a bare Python."""
    samples: dict[str, list[float]] = {name: [] for name in ways}
    order, chance = list(ways), random.Random(ORDER_SEED)
    for number in range(rounds):
        chance.shuffle(order)
        for name in order:
            samples[name].append(ways[name](number))
    found = {name: spread(values) for name, values in samples.items()}
    return {
        name: {
            **numbers,
            "p50_ratio": round(numbers["p50"] / found["bare"]["p50"], 2),
            "p95_ratio": round(numbers["p95"] / found["bare"]["p95"], 2),
        }
        for name, numbers in found.items()
    }


def run(*, rounds: int, console: Console) -> dict[str, Any]:
    """Every event with the API up and with it away."""
    commands = {
        event: shlex.split(command)
        for event, (command, _) in build_commands(home=None, user_id="ann").items()
    }
    script = str(Path(sys.executable).with_name("longtail"))
    with ThrowawayStack() as stack, tempfile.TemporaryDirectory() as folder:
        token = f"lt_{secrets.token_urlsafe(16)}"
        ensure_token(stack.owner_url, tenant="bench", token=token)
        up = {**stack.env, "LONGTAIL_TOKEN": token, "LONGTAIL_HOME": f"{folder}/up"}
        up["LONGTAIL_API_URL"] = stack.settings.service_url()
        away = {**up, "LONGTAIL_HOME": f"{folder}/away", "LONGTAIL_API_URL": NOWHERE}

        def way(command: Words, event: str, environment: Mapping[str, str]) -> Callable[[int], float]:
            return lambda number: time_process(command, describe_event(event, number), environment)

        ways: dict[str, Callable[[int], float]] = {"bare": lambda _: time_process(BARE, "", os.environ)}
        for event in EVENTS:
            ways[f"{event}, API up"] = way(commands[event], event, up)
            ways[f"{event}, API away"] = way(commands[event], event, away)
        if Path(script).exists():
            ways["Stop, API up, as `longtail hook`"] = way(
                [script, "hook", "claude-code", "Stop"], "Stop", up
            )
        console.print(f"{rounds} rounds of {len(ways)} processes")
        measure(3, ways)  # byte code, file caches, the encoder
        found = measure(rounds, ways)
    worst = max(numbers["p95_ratio"] for name, numbers in found.items() if name != "bare")
    return {"rounds": rounds, "target_ratio": TARGET, "worst_p95_ratio": worst, "ms": found}


def as_markdown(result: Mapping[str, Any]) -> str:
    """The result as a table."""
    lines = ["| process | p50 ms | p95 ms | p95 over bare Python |", "|---|--:|--:|--:|"]
    lines += [
        f"| {name} | {numbers['p50']} | {numbers['p95']} | {numbers['p95_ratio']} |"
        for name, numbers in result["ms"].items()
    ]
    lines.append(f"\ntarget: at most {result['target_ratio']:g}; worst: {result['worst_p95_ratio']}")
    return "\n".join(lines)
