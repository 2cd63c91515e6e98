"""`make api-fuzz`: the whole API against its own OpenAPI document, with schemathesis and every check it has.

Every operation gets what the document allows and what it forbids; an answer must have a documented status, content type,
headers and shape, and never be a 500. Runs follow each other with new seeds until enough requests were sent.
"""

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from api.stack.throwaway import ThrowawayStack
from models.store.tenancy.tokens import ensure_token

CONFIG = Path(__file__).with_name("schemathesis.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzRun:
    """One run of schemathesis: how many requests, whether all were well, and its own words."""

    requests: int
    is_clean: bool
    words: str


def fuzz_once(url: str, token: str, *, examples: int, seed: int, phases: str) -> FuzzRun:
    """One run with its own seed; `examples` per operation in the phase of random ones."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "har.json"
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            *("--config-file", str(CONFIG), "run", f"{url}/openapi.json"),
            *("--header", f"Authorization: Bearer {token}", "--checks", "all", "--continue-on-failure"),
            *("--max-examples", str(examples), "--seed", str(seed), "--phases", phases, "--workers", "2"),
            *("--generation-database", "none", "--no-color", "--warnings", "off"),
            *("--report", "har", "--report-har-path", str(report)),
        ]
        done = subprocess.run(
            command,
            env=os.environ | {"SCHEMATHESIS_HOOKS": "bench.fuzz_hooks"},
            text=True,
            capture_output=True,
            cwd=folder,
            check=False,
        )
        requests = count_requests(report) if report.exists() else Counter()
    words = done.stdout + done.stderr
    return FuzzRun(requests=sum(requests.values()), is_clean=done.returncode == 0, words=words)


def count_requests(report: Path) -> Counter[int]:
    """Requests of a run by their status."""
    entries = json.loads(report.read_text())["log"]["entries"]
    return Counter(entry["response"]["status"] for entry in entries)


def main() -> int:
    """Fuzz a stack of its own until enough requests were sent; exit code 1 when anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--examples", type=int, default=100, help="per operation and run")
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else secrets.randbelow(2**31)
    sent = 0
    failed = False
    start = time.monotonic()
    with ThrowawayStack({"LONGTAIL_COMPACTION_WAIT_SECONDS": "1"}) as stack:
        token = f"lt_{secrets.token_urlsafe(16)}"
        ensure_token(stack.owner_url, tenant="fuzz", token=token)
        url = stack.settings.service_url()
        while sent < given.requests:
            run = fuzz_once(
                url, token, examples=given.examples, seed=seed, phases="examples,coverage,fuzzing,stateful"
            )
            sent += run.requests
            print(
                f"seed {seed}: {run.requests} requests, {'clean' if run.is_clean else 'NOT CLEAN'}; {sent} in all"
            )
            if not run.is_clean:
                failed = True
                print(run.words)
            if run.requests == 0:
                return 1
            seed += 1
    print(
        f"{sent} requests in {time.monotonic() - start:.0f} s: {'failures above' if failed else 'no failure'}"
    )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
