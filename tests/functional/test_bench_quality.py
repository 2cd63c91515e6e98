"""`longtail bench quality` from end to end: a made-up conversation, a stack of its own, numbers that can be checked."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SAID = [
    ("Ann", "I moved to Lyon in spring and I love the river there."),
    ("Bob", "My sister Clara adopted a grey parrot called Figaro."),
    ("Ann", "The marathon in Porto was cancelled because of the storm."),
    ("Bob", "I repaired the old cello of my grandfather."),
    ("Ann", "We planted seven cherry trees behind the barn."),
    ("Bob", "The bakery on Elm Street closes at noon on Mondays."),
]
ASKED = [("Which city did Ann move to?", ["D1:1"], 4), ("What is the name of Clara's parrot?", ["D1:2"], 1)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    talk: dict[str, Any] = {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"dia_id": f"D1:{place}", "speaker": speaker, "text": text}
            for place, (speaker, text) in enumerate(SAID, start=1)
        ],
    }
    asked = [{"question": text, "evidence": gold, "category": kind} for text, gold, kind in ASKED]
    (tmp_path / "locomo_dev.json").write_text(
        json.dumps([{"sample_id": "tiny", "conversation": talk, "qa": asked}])
    )
    return tmp_path


def test_ours_and_the_baselines_are_measured_and_reported_in_one_run(data: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    command = [sys.executable, "-m", "api", "bench", "quality", "--data", str(data), "--output", str(output)]
    options = [
        "--part",
        "locomo",
        "--part",
        "rules",
        "--cases",
        "2",
        "--fillers",
        "6",
        "--compact",
        "--per-question",
    ]
    options += ["--cache", str(tmp_path / "vectors")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]

    result = json.loads((output / "quality.json").read_text())
    methods = result["locomo"]["methods"]
    assert {"longtail", "BM25", "vector", "fusion", "seed", "seed linear"} <= methods.keys()
    for metric in ("evidence@1000", "evidence_whole@1000", "any@5", "session_any@5"):
        assert methods["longtail"]["all"][metric] == 1, metric
    assert methods["BM25"]["all"]["evidence_plain@1000"] == 1
    assert set(methods["longtail"]) == {"all", "single-hop", "multi-hop"}
    assert [row["question"] for row in result["locomo"]["per_question"]["longtail"]] == ["tiny-q0", "tiny-q1"]
    assert result["locomo"]["degraded"] == {}
    assert isinstance(result["locomo"]["compaction"]["available"], bool)

    rules = result["rules"]
    assert (rules["cases"], rules["fillers"]) == (2, 6)
    assert rules["rules_in_guidance"] == 1
    assert rules["decoys_admitted"] == 0

    report = (output / "quality.md").read_text()
    assert "## LoCoMo" in report
    assert "## Standing rules" in report
    assert (output / "locomo.png").stat().st_size > 1000
    assert (tmp_path / "vectors").stat().st_size > 0


def test_an_unknown_peer_is_refused_before_anything_starts(data: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "api", "bench", "quality", "--data", str(data), "--peers", "mem0,nobody"]
    done = subprocess.run(
        [*command, "--output", str(tmp_path / "out")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "nobody" in done.stderr
    assert not (tmp_path / "out").exists()
