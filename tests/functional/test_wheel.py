"""The built wheel, away from the source tree: everything it needs is inside, and `longtail up` works from it."""

import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "workers", "models", "bench")
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [*PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)], check=True
    )
    (found,) = folder.glob("longtail-*.whl")
    return found


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="longtail-") as folder:  # short: sockets have little room
        yield Path(folder)


def test_every_file_of_the_packages_is_in_the_wheel(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    source = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert source - inside == set()


def test_the_command_loads_nothing_that_a_hook_does_not_need(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([*PIP, "install", "--no-deps", "--target", str(tmp_path), str(wheel)], check=True)
    command = tmp_path / "bin" / "longtail"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "LONGTAIL_HOME": str(tmp_path / "home")}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, env=environment, cwd=tmp_path, input="{}", capture_output=True, text=True, check=True
        )

    assert run(str(command), "--version").stdout.startswith("longtail ")
    loaded = run(sys.executable, "-X", "importtime", str(command), "hook", "generic", "turns").stderr
    modules = {line.rpartition("|")[2].strip() for line in loaded.splitlines()}
    assert "api.host.hook" in modules
    assert not modules & {"re", "json", "typing"}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it asks for, as pipx and uv make one, in the versions of the lock file."""
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    pins = re.findall(
        r"^[\w.\[\]-]+==\S+(?: ; .+?)?(?= \\$)", (ROOT / "requirements-run.lock").read_text(), re.MULTILINE
    )
    assert len(pins) > 50
    (folder / "pins").write_text("\n".join(pins) + "\n")
    install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-compile",
        "--constraint",
        str(folder / "pins"),
        str(wheel),
    ]
    subprocess.run([str(folder / "venv" / "bin" / "python"), *install], check=True)
    return folder / "venv"


def test_the_wheel_brings_no_tool_that_builds_or_tests(installed: Path) -> None:
    names = {path.name.partition("-")[0].lower() for path in installed.rglob("*.dist-info")}
    assert "celery" in names
    assert not names & {
        "pytest",
        "mypy",
        "ruff",
        "hypothesis",
        "playwright",
        "hatchling",
        "scikit_learn",
        "matplotlib",
    }


def test_the_stack_comes_up_from_the_wheel_in_a_clean_environment(installed: Path, home: Path) -> None:
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "LONGTAIL_HOME": str(home),
        "LONGTAIL_PORT": "0",
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [installed / "bin" / "longtail", *words],
            env=environment,
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
        )

    try:
        up = run("up", "--detach")
        assert up.returncode == 0, up.stdout + up.stderr
        assert json.loads(run("status", "--json").stdout)["healthy"]
        unit = run("install", "service")
        assert unit.returncode == 0, unit.stderr
        assert (
            f'"{installed / "bin" / "longtail"}" up'
            in (home / ".config/systemd/user/longtail.service").read_text()
        )
    finally:
        assert run("down").returncode == 0
