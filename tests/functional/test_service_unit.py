"""`longtail install service`: a unit that starts this installation, and nobody else's file touched."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("LONGTAIL_")},
        **variables,
        "XDG_CONFIG_HOME": str(folder),
        "LONGTAIL_HOME": str(folder / 'my "home" 100%'),
    }
    return subprocess.run(
        [sys.executable, "-m", "api", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    return tmp_path / "systemd" / "user" / "longtail.service"


def test_the_unit_starts_this_installation_with_this_home(tmp_path: Path, unit: Path) -> None:
    done = run(tmp_path, "install", "service")
    assert done.returncode == 0 and "systemctl --user" in done.stdout
    text = unit.read_text()
    assert f'ExecStart="{Path(sys.executable).with_name("longtail")}" up' in text
    assert 'my \\"home\\" 100%%' in text
    assert run(tmp_path, "install", "service").returncode == 0, "twice is once"
    assert run(tmp_path, "uninstall", "service").returncode == 0
    assert not unit.exists()


def test_the_unit_has_the_settings_that_are_set_and_no_secret(tmp_path: Path, unit: Path) -> None:
    done = run(
        tmp_path,
        *("install", "service"),
        LONGTAIL_PORT="9901",
        LONGTAIL_REDIS_URL="redis://cache/3",
        LONGTAIL_TOKEN="hush-token",
        LONGTAIL_DATABASE_URL="postgresql://owner:hush-password@db/longtail",
        LONGTAIL_NONSENSE="1",
    )
    assert done.returncode == 0
    text = unit.read_text()
    assert 'Environment="LONGTAIL_PORT=9901"' in text
    assert 'Environment="LONGTAIL_REDIS_URL=redis://cache/3"' in text
    assert "hush" not in text + done.stdout and "NONSENSE" not in text
    assert "LONGTAIL_DATABASE_URL, LONGTAIL_TOKEN" in done.stdout


def test_a_unit_of_somebody_else_is_left_alone(tmp_path: Path, unit: Path) -> None:
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\nExecStart=/bin/true\n")
    refused = run(tmp_path, "install", "service")
    assert refused.returncode != 0 and "is not ours" in refused.stderr
    assert "No unit of ours" in run(tmp_path, "uninstall", "service").stdout
    assert unit.read_text().endswith("/bin/true\n")
