"""Claims about what `longtail doctor` sees in OpenClaw's configuration: CLI backends, which call no context engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from api.stack.reports.doctor import Finding, check_openclaw

OURS = {"slots": {"memory": "longtail", "contextEngine": "longtail"}}
PLAIN = {"defaults": {"model": {"primary": "anthropic/opus"}}}


def look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configuration: Any) -> list[Finding]:
    file = tmp_path / "openclaw.json"
    file.write_text(configuration if isinstance(configuration, str) else json.dumps(configuration))
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", str(file))
    patient: Any = None
    return list(check_openclaw(patient))


@pytest.mark.parametrize(
    ("agents", "named"),
    [
        ({"defaults": {"model": "claude-cli/opus"}}, "agents.defaults: claude-cli/opus"),
        (
            {"defaults": {"model": {"primary": "anthropic/opus", "fallbacks": ["google-gemini-cli/pro"]}}},
            "google-gemini-cli/pro",
        ),
        ({**PLAIN, "list": [{"id": "work", "model": "claude-cli/opus"}]}, "agents.list.work"),
        ({**PLAIN, "entries": {"home": {"model": "codex-cli/x"}}}, "agents.entries.home"),
        (
            {
                "defaults": {
                    "model": "anthropic/opus",
                    "models": {"anthropic/opus": {"agentRuntime": {"id": "claude-cli"}}},
                }
            },
            "agents.defaults: claude-cli",
        ),
        ({"defaults": {"model": "mine/m", "cliBackends": {"mine": {"command": "mine"}}}}, "mine/m"),
    ],
)
def test_sessions_on_a_cli_backend_are_named_with_what_it_means(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agents: Any, named: str
) -> None:
    (found,) = look(tmp_path, monkeypatch, {"plugins": OURS, "agents": agents})
    assert found.outcome == "warn" and named in found.detail
    assert "neither assemble nor afterTurn" in found.detail and found.remedy


def test_other_configurations_are_fine_or_none_of_our_business(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = look(tmp_path, monkeypatch, {"plugins": OURS, "agents": PLAIN})
    assert found.outcome == "ok"
    for other in (
        {"agents": {"defaults": {"model": "claude-cli/opus"}}},
        "// comments\n{",
        "[]",
        {"plugins": 3},
    ):
        assert look(tmp_path, monkeypatch, other) == []
    (found,) = look(
        tmp_path, monkeypatch, {"plugins": OURS, "agents": {"defaults": 1, "list": ["x"], "entries": []}}
    )
    assert found.outcome == "ok"
    monkeypatch.setenv("OPENCLAW_CONFIG_PATH", str(tmp_path / "nowhere.json"))
    patient: Any = None
    assert list(check_openclaw(patient)) == []
