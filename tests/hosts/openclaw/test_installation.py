"""Claims about getting the plugin in and out, by the commands of docs/hosts/openclaw.md."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway import PLUGIN, Gateway
from installation import Host
from service import Service
from stub_model import StubModel

PAGE = Path(__file__).resolve().parents[3] / "docs" / "hosts" / "openclaw.md"


def commands(heading: str) -> list[list[str]]:
    """What the page tells to type under a heading, but for what starts a gateway or talks to it."""
    section = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [shlex.split(line, comments=True) for line in re.findall(r"^    (openclaw .*)$", section, re.M)]
    return [line[1:] for line in lines if line[1] not in ("gateway", "agent")]


@pytest.fixture
def fresh(host: Host, service: Service, model: StubModel) -> Iterator[Gateway]:
    """A host that has never heard of the plugin."""
    found = Gateway(
        host, model_port=model.port, is_configured=False, env={"LONGTAIL_HOME": str(service.stack.home)}
    )
    try:
        yield found
    finally:
        found.remove()


def test_the_page_installs_the_plugin_and_removes_it(fresh: Gateway) -> None:
    typed = commands("In ten lines")
    assert [line[0] for line in typed] == ["plugins", "config", "config", "config", "longtail"]
    for line in typed:
        done = fresh.run(*[str(PLUGIN) if word == "./hosts/openclaw" else word for word in line])
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    assert "Longtail" in done.stdout and "failed" not in done.stdout + done.stderr
    assert fresh.config["plugins"]["slots"] == {"memory": "longtail", "contextEngine": "longtail"}

    for line in commands("Remove it"):
        done = fresh.run(*line)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    plugins = fresh.config.get("plugins", {})
    assert "longtail" not in plugins.get("slots", {}).values()
    assert plugins.get("entries", {}).get("longtail", {}).get("enabled", False) is False
