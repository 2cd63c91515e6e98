"""The unit tests on every Python from 3.11 to 3.14 that this machine has: `make test-pythons`.

Looks on the PATH, at /usr/bin/python3 and among pyenv's versions; `ONLY=3.11.2` takes that one alone, `ONLY=others` leaves
out the one that runs this, on which `make test` has just run them. The Python that runs this uses the environment it has;
each other gets one of its own, made from requirements.lock once and kept in .venvs/.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".venvs"
MINORS = range(11, 15)
ASK = "import sys, platform; print(platform.python_version(), sys.base_prefix, sys.executable, sep='\\n')"
# The lock file names everything, so nothing is resolved; and few of its modules are ever imported, so none is compiled.
PIP = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile"]
# A test is the unit: whoever is done first takes what is left of the other's, so the long ones hold nobody up.
PYTEST = ["-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "-p", "no:cacheprovider", "tests/unit"]


def list_candidates() -> Iterator[Path]:
    """Where a Python may be, Debian's own first."""
    yield Path("/usr/bin/python3")
    for minor in MINORS:
        for folder in os.get_exec_path():
            yield Path(folder) / f"python3.{minor}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/3.*/bin/python3"))


def find_interpreters() -> dict[str, Path]:
    """One of each version; a virtual environment counts as the Python it was made from."""
    found: dict[str, Path] = {}
    for candidate in list_candidates():
        if not os.access(candidate, os.X_OK):
            continue
        asked = subprocess.run([candidate, "-c", ASK], capture_output=True, text=True, check=False)
        if asked.returncode:  # a shim of pyenv for a version that is not chosen
            continue
        version, prefix, executable = asked.stdout.splitlines()
        if tuple(map(int, version.split(".")[:2])) in {(3, minor) for minor in MINORS}:
            minor = ".".join(version.split(".")[:2])
            real = Path(prefix) / "bin" / f"python{minor}"
            found.setdefault(version, real if real.exists() else Path(executable))
    return found


def make_environment(version: str, python: Path) -> Path:
    """The environment's Python, with everything in the lock file; made anew when that or the project file changed."""
    if version == platform.python_version():
        return Path(sys.executable)
    home = KEPT / version
    inside = home / "bin" / "python"
    wanted = hashlib.sha256(
        (ROOT / "requirements.lock").read_bytes() + (ROOT / "pyproject.toml").read_bytes() + bytes(python)
    )
    done = home / ".installed"
    if done.exists() and done.read_text() == wanted.hexdigest():
        return inside
    print(f"{version} ({python}): installing what requirements.lock names into {home}; once", flush=True)
    shutil.rmtree(home, ignore_errors=True)
    run([python, "-m", "venv", "--without-pip", home])
    # Debian's Python has no pip for a new environment unless python3-venv is installed: the project's own pip serves.
    pip = [sys.executable, "-m", "pip", "--python", inside, *PIP]
    run([*pip, "--require-hashes", "-r", ROOT / "requirements.lock"])
    run([*pip, "--no-build-isolation", "-e", ROOT])
    done.write_text(wanted.hexdigest())
    return inside


def run(command: list[str | Path]) -> None:
    """Run it; what it said is shown when it fails."""
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_on(version: str, python: Path) -> tuple[bool, str]:
    """Whether the unit tests pass there, and a line that says so."""
    try:
        inside = make_environment(version, python)
    except subprocess.CalledProcessError as error:
        last = "\n".join(str(error.stdout).strip().splitlines()[-5:])
        return False, f"the packages of requirements.lock cannot be installed: \n{last}"
    result = subprocess.run([inside, *PYTEST], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode:
        print(result.stdout[-20_000:], result.stderr[-2_000:], sep="\n", flush=True)
    counted = re.findall(
        r"^(?:=+ )?(\d+ (?:passed|failed|error).*? in .*?)(?: =+)?$", result.stdout, re.MULTILINE
    )
    return result.returncode == 0, counted[-1] if counted else f"pytest ended with {result.returncode}"


def main() -> int:
    """0 when every Python passed, and there was one."""
    interpreters = find_interpreters()
    if wanted := sys.argv[1:]:
        here = platform.python_version()
        interpreters = {
            version: python
            for version, python in interpreters.items()
            if version in wanted or (wanted == ["others"] and version != here)
        }
        if wanted == ["others"] and not interpreters:
            print(
                f"No Python from 3.11 to 3.14 is here but {here}, on which `make test` runs the unit tests."
            )
            return 0
    if not interpreters:
        print(
            "No Python from 3.11 to 3.14 was found on the PATH, at /usr/bin/python3 or in pyenv: install one."
        )
        return 1
    passed = True
    for version, python in interpreters.items():
        is_well, line = test_on(version, python)
        print(f"{version} ({python}): {line}", flush=True)
        passed &= is_well
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
