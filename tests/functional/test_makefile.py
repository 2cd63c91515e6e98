"""What `make run` does before anything is installed."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _make(target: str, *, venv: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", target, f"VENV={venv}", f"PYTHON={sys.executable}"],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_an_environment_left_behind_without_pip_is_made_again(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    made = _make(f"{venv}/bin/pip", venv=venv)
    assert made.returncode == 0, made.stdout + made.stderr
    answer = subprocess.run(
        [str(venv / "bin/python"), "-m", "pip", "--version"], capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr


def test_a_python_without_ensurepip_is_refused_with_the_package_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "ensurepip.py").write_text("raise ImportError('no module here')\n")
    made = _make(f"{tmp_path}/venv/bin/pip", venv=tmp_path / "venv", env={"PYTHONPATH": str(tmp_path)})
    assert made.returncode != 0
    assert "sudo apt install python3-venv" in made.stderr
    assert not (tmp_path / "venv").exists()


def test_make_alone_lists_what_can_be_made(tmp_path: Path) -> None:
    made = _make("help", venv=tmp_path / "venv")
    assert made.returncode == 0
    names = {line.split()[0] for line in made.stdout.splitlines()}
    assert {"run", "test", "check", "chaos"} <= names
    alone = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True)
    assert alone.stdout == made.stdout
