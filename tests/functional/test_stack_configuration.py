"""What supervisord is told: read back by supervisord's own reader, nothing may change on the way."""

import shlex
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from supervisor.options import ServerOptions

from api.stack.home.layout import Layout, plan_layout, prepare_folders
from api.stack.sockets import ports
from api.stack.supervision.diagnosis import diagnose
from api.stack.supervision.parts import (
    IN_START_ORDER,
    Addresses,
    Part,
    inherited_environment,
    plan_server,
    plan_services,
)
from api.stack.supervision.supervisor import render_configuration
from models.errors import Misconfigured

ADDRESSES = Addresses(
    redis_url="rediss://user:p%40ss,w=rd@host:6379/0",
    api_database_url="postgresql://longtail_api:%25%3A@db/longtail?host=/a b&port=5432",
    worker_database_url="postgresql://longtail_worker@db/longtail",
    host="127.0.0.1",
    port=8765,
    token="lt_x-y_z",
    flower_port=5555,
)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, so that sockets fit; open, so that the servers' account may pass through."""
    with tempfile.TemporaryDirectory(prefix="lt-") as name:
        Path(name).chmod(0o711)
        yield Path(name).resolve()


@pytest.fixture
def layout(folder: Path) -> Layout:
    planned = plan_layout(folder / "a b", "nobody")
    prepare_folders(planned, with_servers=False)
    return planned


def read_back(layout: Layout, parts: list[Part], monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    layout.supervisor_conf.write_text(render_configuration(layout, parts))
    monkeypatch.setattr(sys, "argv", ["supervisord"])
    options = ServerOptions()
    options.realize(["-c", str(layout.supervisor_conf)])
    return {group.name: group.process_configs[0] for group in options.process_group_configs}


def test_commands_and_environments_reach_the_parts_unchanged(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = plan_services(layout, ADDRESSES)
    found = read_back(layout, parts, monkeypatch)
    for part in parts:
        config = found[part.name]
        assert shlex.split(config.command) == part.command
        assert config.environment == part.environment
        assert config.directory == str(part.folder)
        assert config.stdout_logfile == str(layout.log_file(part.name))


def test_every_part_restarts_by_itself_and_services_wait_for_the_schema(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = [plan_server(layout, name, ["/bin/true"]) for name in ("postgres", "redis")]
    found = read_back(layout, [*servers, *plan_services(layout, ADDRESSES)], monkeypatch)
    assert list(found) == list(IN_START_ORDER)
    for name, config in found.items():
        assert config.autorestart.__name__ == "RestartUnconditionally"
        assert config.autostart is (name in {"postgres", "redis"})
        assert config.startretries >= 100


def test_parts_stop_in_the_reverse_of_their_start_order(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = read_back(layout, plan_services(layout, ADDRESSES), monkeypatch)
    priorities = [config.priority for config in found.values()]
    assert priorities == sorted(priorities)
    assert len(set(priorities)) == len(priorities)


def test_no_part_learns_the_owners_address() -> None:
    operator = {
        "PATH": "/bin",
        "LONGTAIL_DATABASE_URL": "postgresql://owner:secret@db/x",
        "LONGTAIL_TOKEN": "lt_secret",
        "LONGTAIL_ENCODER": "minilm",
    }
    assert inherited_environment(operator) == {"PATH": "/bin", "LONGTAIL_ENCODER": "minilm"}


def test_each_service_gets_the_role_it_acts_as_and_no_other(layout: Layout) -> None:
    for part in plan_services(layout, ADDRESSES):
        roles = {name for name in part.environment if name.endswith("DATABASE_URL")}
        assert roles == {
            "LONGTAIL_API_DATABASE_URL" if part.name == "api" else "LONGTAIL_WORKER_DATABASE_URL"
        }


def test_servers_start_with_an_empty_environment(layout: Layout) -> None:
    part = plan_server(layout, "postgres", ["/opt/postgres", "-D", "/data"])
    assert part.command[:2] == ["/usr/bin/env", "-i"]
    assert part.command[-3:] == ["/opt/postgres", "-D", "/data"]
    assert part.environment == {}


def test_a_value_the_configuration_cannot_hold_is_refused(layout: Layout) -> None:
    part = Part(name="api", command=["/bin/true"], folder=layout.home, environment={"LONGTAIL_X": 'a"b'})
    with pytest.raises(Misconfigured, match="LONGTAIL_X"):
        render_configuration(layout, [part])
    comment = Part(name="api", command=["/bin/echo", "a ;b"], folder=layout.home)
    with pytest.raises(Misconfigured, match="cannot be written"):
        render_configuration(layout, [comment])


def test_a_port_is_kept_from_one_start_to_the_next(folder: Path) -> None:
    file = folder / "ports.json"
    first = ports.claim_port(file, "postgres")
    assert ports.claim_port(file, "postgres") == first
    assert ports.claim_port(file, "api") != first


def test_a_kept_port_that_somebody_took_is_replaced(folder: Path) -> None:
    file = folder / "ports.json"
    first = ports.claim_port(file, "postgres")
    with socket.create_server(("127.0.0.1", first)):
        assert ports.claim_port(file, "postgres") != first


def test_a_wanted_port_that_is_taken_is_named_with_its_holder_and_a_remedy(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Misconfigured, match=f"port {port} on 127.0.0.1 is taken by .*process") as caught:
            ports.claim_port(folder / "ports.json", "api", wanted=port)
    assert caught.value.code == "port_taken"
    assert "LONGTAIL_PORT=0" in (caught.value.remedy or "")


def test_an_address_that_is_not_ours_is_another_mistake_than_a_taken_port(folder: Path) -> None:
    with pytest.raises(Misconfigured, match=r"cannot listen on '192\.0\.2\.1'"):
        ports.claim_port(folder / "ports.json", "api", host="192.0.2.1", wanted=8765)


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("FATAL: could not write file: No space left on device", "the disk is full"),
        ("[Errno 98] Address already in use", "another process listens on its port"),
        ("ModuleNotFoundError: No module named 'onnxruntime'", "the installation is incomplete"),
        ("something nobody has seen before", "it said 'something nobody has seen before'"),
    ],
)
def test_a_failed_start_is_explained_from_its_own_lines_only(folder: Path, line: str, cause: str) -> None:
    log = folder / "api.log"
    log.write_text("Permission denied, but that was last week\n")
    since = log.stat().st_size
    with open(log, "a") as file:
        file.write(f"starting\n{line}\n")
    found = diagnose("api", log, since)
    assert found.cause == cause
    assert found.lines == ["starting", line]
    assert found.remedy
