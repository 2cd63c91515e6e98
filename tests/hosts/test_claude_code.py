"""Claims about Claude Code as a person connects it: install, uninstall, and its transcripts taken in."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.client import ServiceClient
from api.host.claude_install import SECONDS
from api.importers.marks import ImportMarks
from api.importers.records import Report, Unit
from api.importers.runner import ImportRun
from api.importers.sources.claude_code import SOURCE
from models.errors import TransientError

BLOCK = '<longtail-memory id="0123456789abcdef">\n<recalled>\nold news\n</recalled>\n</longtail-memory>\n'


class Machine:
    """A person's home folder, with Claude Code's files in it and Longtail's command line at hand."""

    def __init__(self, folder: Path, **environment: str) -> None:
        base = {
            key: value for key, value in os.environ.items() if not key.startswith(("LONGTAIL_", "CLAUDE_"))
        }
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        self.settings = folder / ".claude" / "settings.json"
        self.env = {**base, "HOME": str(folder), "USER": "ann", **environment}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "api", *arguments],
            env=self.env,
            cwd=self.project,
            text=True,
            capture_output=True,
            timeout=300,
            check=False,
        )

    def run_json(self, *arguments: str) -> dict[str, Any]:
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        printed: dict[str, Any] = json.loads(done.stdout)
        return printed


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Nothing of ours runs here."""
    return Machine(tmp_path / "ann", PYTHONPATH=str(Path(__file__).parents[2]))


def test_with_nothing_running_hooks_are_put_in_work_and_are_taken_out_byte_for_byte(machine: Machine) -> None:
    original = '{"model":"opus", "hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}'
    machine.settings.parent.mkdir()
    machine.settings.write_text(original)
    assert machine.run_json("install", "claude-code")["action"] == "installed"
    assert machine.run_json("install", "claude-code")["action"] == "unchanged"
    settings = json.loads(machine.settings.read_text())
    assert settings["model"] == "opus" and set(settings["hooks"]) == set(SECONDS)
    assert settings["hooks"]["Stop"][0]["hooks"][0]["command"] == "say done"
    for groups in settings["hooks"].values():
        command = groups[-1]["hooks"][0]["command"]
        given = '{"session_id": "s1", "prompt": "hello", "prompt_id": "p1", "last_assistant_message": "hi"}'
        env = {**machine.env, "LONGTAIL_API_URL": "http://127.0.0.1:9"}
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=given,
            env=env,
            text=True,
            capture_output=True,
            timeout=300,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "")
    assert "4 calls wait" in machine.run("status").stdout
    assert machine.run_json("uninstall", "claude-code")["action"] == "restored"
    assert machine.settings.read_text() == original


def test_a_project_gets_hooks_of_its_own_with_the_home_and_user_it_was_given(machine: Machine) -> None:
    machine.env["LONGTAIL_HOME"] = str(machine.folder / "memory of ann")
    machine.run_json("install", "claude-code", "--project", "--user", "team")
    file = machine.project / ".claude" / "settings.json"
    command = json.loads(file.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert shlex.split(command)[4:] == [
        *("hook", "claude-code", "Stop", "--home", str(machine.folder / "memory of ann"), "--user", "team")
    ]
    assert not machine.settings.exists()
    machine.run_json("uninstall", "claude-code", "--project")
    assert not file.parent.exists()


def test_malformed_settings_are_refused_in_words_and_not_touched(machine: Machine) -> None:
    machine.settings.parent.mkdir()
    machine.settings.write_text('{\n  "model": "opus",\n}')
    done = machine.run("install", "claude-code")
    assert done.returncode == 2
    assert "line 3" in done.stderr and "what to do" in done.stderr and "Traceback" not in done.stderr
    assert machine.settings.read_text() == '{\n  "model": "opus",\n}'
    assert machine.run("install", "netscape").returncode == 2


def write_transcripts(folder: Path, *, prompts: int = 3) -> Path:
    """Sessions as Claude Code writes them, one with a sub-agent."""
    place = folder / ".claude" / "projects" / "-home-ann-project"
    (place / "s1" / "subagents").mkdir(parents=True)
    lines: list[dict[str, Any]] = [{"type": "summary", "summary": "a talk"}]
    common = {"sessionId": "s1", "cwd": "/home/ann/project", "timestamp": "2026-08-01T10:00:00.000Z"}
    for number in range(prompts):
        lines += [
            {**common, "type": "user", "uuid": f"u{number}", "promptId": f"p{number}"}
            | {"message": {"role": "user", "content": f"{BLOCK}Count the candles of tower {number}."}},
            {**common, "type": "assistant", "uuid": f"a{number}"}
            | {
                "message": {
                    "content": [
                        {"type": "thinking", "thinking": "hm"},
                        {
                            "type": "tool_use",
                            "id": f"t{number}",
                            "name": "Bash",
                            "input": {"command": "wc -l"},
                        },
                    ]
                }
            },
            {**common, "type": "user", "uuid": f"r{number}"}
            | {
                "message": {
                    "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": f"{number}"}]
                }
            },
            {**common, "type": "assistant", "uuid": f"b{number}"}
            | {"message": {"content": [{"type": "text", "text": f"Tower {number} has {number} candles."}]}},
        ]
    (place / "s1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    agent = {**common, "type": "user", "uuid": "c1", "isSidechain": True, "agentId": "ab12"}
    agent["message"] = {"role": "user", "content": "Look at the lamp."}
    (place / "s1" / "subagents" / "agent-ab12.jsonl").write_text(json.dumps(agent) + "\n")
    return place


@pytest.fixture
def connected(tenant: Any, tmp_path: Path) -> Machine:
    return Machine(
        tmp_path / "ann",
        PYTHONPATH=str(Path(__file__).parents[2]),
        LONGTAIL_TOKEN=tenant.token,
        LONGTAIL_API_URL=tenant.stack.settings.service_url(),
        LONGTAIL_HOOK_DEADLINE_MS="20000",
        LONGTAIL_HOOK_SEND_MS="20000",
    )


def stored(tenant: Any, session: str) -> list[tuple[str, str]]:
    rows = tenant.rows(
        "SELECT role, content FROM longtail.turns WHERE tenant_id = :tenant AND session_id = :session ORDER BY seq",
        session=session,
    )
    return [tuple(row) for row in rows]


def test_transcripts_are_taken_in_with_a_report_and_a_second_run_adds_nothing(
    connected: Machine, tenant: Any
) -> None:
    place = write_transcripts(connected.folder)
    expected = {
        "units": 2,
        "sessions": 2,
        "kept": {"user": 4, "tool": 3, "assistant": 3},
        "dropped": {"summary": 1, "thinking": 3},
        "stripped": {"injected by us": 3},
        "refused": {},
    }
    dry = connected.run_json("import", "claude-code", "--dry-run")
    assert expected.items() <= dry.items() and dry["accepted"] == 0
    assert stored(tenant, "s1") == []
    first = connected.run_json("import", "claude-code")
    assert expected.items() <= first.items()
    assert (first["accepted"], first["known"]) == (10, 0)
    assert stored(tenant, "s1")[:3] == [
        ("user", "Count the candles of tower 0."),
        ("tool", 'Bash {"command": "wc -l"}\n0'),
        ("assistant", "Tower 0 has 0 candles."),
    ]
    assert stored(tenant, "s1/agent-ab12") == [("user", "Look at the lamp.")]
    assert (
        tenant.one("SELECT namespace FROM longtail.sessions WHERE tenant_id = :tenant AND session_id = 's1'")
        == "ann"
    )
    again = connected.run_json("import", "claude-code", str(connected.folder / ".claude" / "projects"))
    assert (again["units_known"], again["accepted"]) == (2, 0)
    restarted = connected.run_json("import", "claude-code", "--restart")
    assert (restarted["accepted"], restarted["known"], restarted["differing"]) == (0, 10, 0)
    with (place / "s1.jsonl").open("a") as file:
        more = {
            "type": "user",
            "uuid": "u9",
            "promptId": "p9",
            "sessionId": "s1",
            "message": {"content": "And now?"},
        }
        file.write(json.dumps(more) + "\n")
    grown = connected.run_json("import", "claude-code")
    assert (grown["units_known"], grown["accepted"], grown["known"]) == (1, 1, 9)
    shown = connected.run("import", "claude-code", "--dry-run")
    assert shown.returncode == 0 and "thinking" in shown.stdout


def test_what_hooks_sent_is_not_taken_in_again(connected: Machine, tenant: Any) -> None:
    write_transcripts(connected.folder, prompts=1)
    hook = [sys.executable, "-m", "api", "hook", "claude-code"]
    for event, given in (
        ("UserPromptSubmit", {"prompt": "Count the candles of tower 0."}),
        ("Stop", {"last_assistant_message": "Tower 0 has 0 candles."}),
    ):
        said = json.dumps({"session_id": "s1", "prompt_id": "p0", **given})
        subprocess.run([*hook, event], input=said, text=True, env=connected.env, check=True, timeout=300)
    report = connected.run_json("import", "claude-code")
    assert (report["accepted"], report["known"], report["differing"]) == (2, 2, 0)


class Outage(ServiceClient):
    """A client whose connection is gone after some calls."""

    calls_left = 1

    def post_turns(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        if self.calls_left == 0:
            raise TransientError("the connection is gone")
        self.calls_left -= 1
        return super().post_turns(*arguments, **named)


def test_an_interrupted_run_goes_on_where_it_was(tenant: Any, tmp_path: Path) -> None:
    place = write_transcripts(tmp_path, prompts=100)
    units = [unit for unit in SOURCE.find_units(place) if unit.name == "s1.jsonl"]

    def run(client: ServiceClient) -> Report:
        report = Report(kind="claude-code", path=str(place), is_dry_run=False)
        marks = ImportMarks(tmp_path / "home", "claude-code", place, owner="ann")
        ImportRun(report, client=client, marks=marks, user_id="ann", agent_id=None).run(
            units, lambda unit: None
        )
        return report

    with (
        Outage(url=tenant.stack.settings.service_url(), token=tenant.token) as client,
        pytest.raises(TransientError),
    ):
        run(client)
    assert len(stored(tenant, "s1")) == 200
    report = run(tenant.client)
    assert (report.resumed, report.accepted, report.known) == (200, 100, 0)
    assert len(stored(tenant, "s1")) == 300


def test_one_turn_that_the_server_refuses_takes_no_other_with_it(tenant: Any, tmp_path: Path) -> None:
    place = write_transcripts(tmp_path, prompts=2)
    file = place / "s1.jsonl"
    file.write_text(file.read_text().replace("2026-08-01", "2126-08-01", 1))
    report = Report(kind="claude-code", path=str(place), is_dry_run=False)
    marks = ImportMarks(tmp_path / "home", "claude-code", place, owner="ann")
    units: list[Unit] = list(SOURCE.find_units(file))
    ImportRun(report, client=tenant.client, marks=marks, user_id="ann", agent_id=None).run(
        units, lambda unit: None
    )
    assert dict(report.refused) == {"timestamp_in_future": 1} and report.accepted == 5
    assert "p0:user" in report.notes[0]


def test_a_kind_or_path_that_is_none_is_refused_in_words(machine: Machine) -> None:
    for arguments in (["import", "mem9", "."], ["import", "claude-code", "/nowhere"], ["import", "longtail"]):
        done = machine.run(*arguments)
        assert done.returncode == 2 and "what to do" in done.stderr and "Traceback" not in done.stderr
