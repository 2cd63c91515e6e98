"""The built wheel, away from the source tree: everything it needs is inside, and `longtail up` works from it."""

import json
import os
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


def test_the_stack_comes_up_from_the_wheel_alone(wheel: Path, tmp_path: Path, home: Path) -> None:
    subprocess.run([*PIP, "install", "--no-deps", "--target", str(tmp_path), str(wheel)], check=True)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LONGTAIL_")},
        "PYTHONPATH": str(tmp_path),  # before the source tree
        "LONGTAIL_HOME": str(home),
        "LONGTAIL_PORT": "0",
    }

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", *command],
            env=environment,
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
        )

    where = run("-c", "import api; print(api.__file__)").stdout
    assert where.startswith(str(tmp_path))
    try:
        up = run("-m", "api", "up", "--detach")
        assert up.returncode == 0, up.stdout + up.stderr
        assert json.loads(run("-m", "api", "status", "--json").stdout)["healthy"]
    finally:
        assert run("-m", "api", "down").returncode == 0
