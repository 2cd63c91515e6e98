"""Claims about faults in any order: whatever happens, and one upon the other, the stack comes back whole by itself."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.chaos.faults import FAULTS
from bench.chaos.report import END, make_table
from bench.chaos.run import Outcome, plan, run
from bench.chaos.slow import SlowDisk

FAULTS_HERE = int(os.environ.get("LONGTAIL_CHAOS_FAULTS", "24"))
SEED = int(os.environ.get("LONGTAIL_CHAOS_SEED", "16"))


@pytest.mark.timeout(1800)
def test_faults_at_random_moments_lose_nothing_repeat_nothing_and_need_no_help() -> None:
    def show(outcome: Outcome) -> None:
        print(outcome)

    outcomes = run(count=FAULTS_HERE, seed=SEED, faults_a_round=4, report=show)
    assert sum(len(outcome.faults) for outcome in outcomes) == FAULTS_HERE
    assert [outcome for outcome in outcomes if not outcome.is_well] == []
    assert outcomes[-1].accepted > FAULTS_HERE  # the load was there


def test_every_fault_comes_before_any_comes_twice() -> None:
    assert sorted(plan(1, len(FAULTS), list(FAULTS))) == sorted(FAULTS)
    assert list(plan(1, 50, list(FAULTS))) == list(plan(1, 50, list(FAULTS)))


def test_a_slow_disk_makes_writes_and_flushes_wait(tmp_path: Path) -> None:
    disk = SlowDisk(tmp_path)
    assert disk.is_there, "this machine has no C compiler"
    code = "import os; f = os.open('x', os.O_RDWR | os.O_CREAT); os.pwrite(f, b'x', 0); os.fsync(f); os.fdatasync(f)"
    disk.set_milliseconds(200)
    start = time.monotonic()
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **disk.environment}, cwd=tmp_path, check=True
    )
    assert time.monotonic() - start >= 3 * 0.2


def test_the_page_has_the_marks_that_its_table_is_written_between() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text()
    assert page.count("<!-- table") == 1 and page.count(END) == 1
    found = {"lost": 0, "duplicated": 0, "stuck": 0, "dead_letters": 0, "violations": 0}
    outcome = {
        "faults": ["a"],
        "healthy_seconds": 1.0,
        "drained_seconds": None,
        "found": found,
        "accepted": 3,
    }
    assert "| a | 1 | 0 | 0 | 1 | 1.0 / 1.0 | – |" in make_table([outcome])
