"""`longtail up` for real: every part, its privacy, and its return after kill -9."""

import json
import os
import signal
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import pytest

from api.stack.home.layout import plan_layout
from api.stack.supervision.endings import await_end, is_alive
from api.stack.supervision.parts import IN_START_ORDER
from api.stack.supervision.supervisor import Supervisor
from api.stack.throwaway import ThrowawayStack, await_true
from models.settings import Settings, secret_file_mode_is_private

PARTS = [part for part in IN_START_ORDER if part != "flower"]


@pytest.fixture(scope="module")
def running() -> Iterator[ThrowawayStack]:
    """A stack that these tests may hurt."""
    with ThrowawayStack(
        {
            "LONGTAIL_ENCODER": "toy",
            "LONGTAIL_TOKEN": "",
            "LONGTAIL_POSTGRES_MEMORY_MB": "96",
            "SECRET_OF_OPERATOR": "x",
        }
    ) as stack:
        yield stack


def read_state(stack: ThrowawayStack) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((stack.home / "run" / "state.json").read_text())
    return state


def pids_of(stack: ThrowawayStack) -> dict[str, int]:
    supervisor = Supervisor(plan_layout(stack.home, "nobody").control_socket)
    return {name: process.pid for name, process in supervisor.processes().items()}


def process_of(stack: ThrowawayStack, part: str) -> psutil.Process:
    return psutil.Process(pids_of(stack)[part])


def await_health(stack: ThrowawayStack, seconds: float = 300) -> dict[str, Any]:
    deadline = time.monotonic() + seconds
    while not (status := stack.status())["healthy"]:
        assert time.monotonic() < deadline, status["problems"]
        time.sleep(0.2)
    return status


def test_status_names_every_part_its_version_and_its_health(running: ThrowawayStack) -> None:
    result = running.run(["status", "--json"])
    status = json.loads(result.stdout)
    assert result.returncode == 0
    assert status["healthy"] is True
    assert status["version"] == read_state(running)["version"]
    assert status["api"] == {"url": read_state(running)["api_url"], "healthy": True}
    assert status["inspector_url"] == f"{status['api']['url']}/inspector"
    assert httpx.get(status["inspector_url"], trust_env=False, follow_redirects=True).status_code == 200
    assert status["postgres"]["version"].startswith("18.")
    assert status["postgres"]["pgvector"] >= "0.8"
    assert status["redis"]["version"]
    assert status["workers"]["alive"] == 3
    assert set(status["queues"]) == {"ingest", "embed", "gate", "compact", "maintenance"}
    assert all(isinstance(depth, int) for depth in status["queues"].values())
    assert status["pending"] == 0
    assert status["lag_seconds"] == 0
    assert status["dead_letters"] == 0
    assert list(status["parts"]) == PARTS


def test_postgres_has_the_memory_that_the_operator_gives_it(running: ThrowawayStack) -> None:
    with psycopg.connect(running.owner_url) as connection:
        sizes = dict(
            connection.execute("SELECT name, setting || coalesce(unit, '') FROM pg_settings").fetchall()
        )
    assert (sizes["shared_buffers"], sizes["effective_cache_size"]) == (
        f"{96 * 128}8kB",
        f"{4 * 96 * 128}8kB",
    )
    assert sizes["maintenance_work_mem"] == f"{96 * 1024}kB"


def test_the_table_says_the_same_to_people(running: ThrowawayStack) -> None:
    shown = running.run(["status"]).stdout
    for word in ("postgres", "redis", "api", "workers", "beat", "3 of 3", "0 pending", "pgvector"):
        assert word in shown
    assert "/inspector" in shown


def test_a_second_up_says_so_with_the_address_and_changes_nothing(running: ThrowawayStack) -> None:
    before = read_state(running)
    for arguments in (["up", "--detach"], ["up"]):
        result = running.run(arguments)
        assert result.returncode == 0
        assert f"already running: {before['api_url']}" in result.stdout
        assert f"Inspector: {before['api_url']}/inspector" in result.stdout
    assert read_state(running) == before


def test_everything_that_holds_a_secret_is_private(running: ThrowawayStack) -> None:
    for name in ("token", "postgres.password", "run/state.json", "run/supervisord.conf"):
        assert secret_file_mode_is_private(running.home / name), name
    for log in (running.home / "logs").iterdir():
        assert secret_file_mode_is_private(log), log.name
    assert (running.home / "token").read_text().startswith("lt_")
    for name in ("run", "logs"):
        assert stat.S_IMODE((running.home / name).stat().st_mode) == 0o700


def test_the_servers_are_unprivileged_and_inherit_nothing(running: ThrowawayStack) -> None:
    for part in ("postgres", "redis"):
        process = process_of(running, part)
        assert process.uids().real == process.uids().effective != 0
    assert "SECRET_OF_OPERATOR" not in process_of(running, "postgres").environ()


def test_no_service_knows_the_owners_address(running: ThrowawayStack) -> None:
    for part in ("api", "worker-embed", "worker-pipeline", "worker-compact", "beat"):
        environment = process_of(running, part).environ()
        assert "LONGTAIL_DATABASE_URL" not in environment
        assert not any("longtail_owner" in value for value in environment.values())


def test_postgres_asks_for_a_password_over_tcp_and_redis_has_no_port(running: ThrowawayStack) -> None:
    import psycopg

    port = json.loads((running.home / "ports.json").read_text())["postgres"]
    for credentials in ("longtail_owner", "postgres", "postgres:guess"):
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(f"postgresql://{credentials}@127.0.0.1:{port}/longtail", connect_timeout=3)
    password = (running.home / "postgres.password").read_text().strip()
    with psycopg.connect(f"postgresql://postgres:{password}@127.0.0.1:{port}/longtail") as connection:
        listening = connection.execute("SHOW listen_addresses").fetchone()
        durable = connection.execute("SELECT current_setting('fsync'), current_setting('data_checksums')")
        assert listening == ("127.0.0.1",)
        assert durable.fetchone() == ("on", "on")
    connections = process_of(running, "redis").net_connections(kind="tcp")
    assert not [connection for connection in connections if connection.status == psutil.CONN_LISTEN]


def test_memory_text_cannot_reach_the_database_log(running: ThrowawayStack) -> None:
    import psycopg

    url = Settings(home=running.home).owner_database_url()
    assert url is not None
    with psycopg.connect(url, autocommit=True) as connection, pytest.raises(psycopg.errors.SyntaxError):
        connection.execute("SELEC 'the secret of the lighthouse'")
    assert "lighthouse" not in (running.home / "logs" / "postgres.log").read_text()


def test_the_doctor_finds_nothing_wrong_with_a_running_stack(running: ThrowawayStack) -> None:
    report = json.loads(running.run(["doctor", "--json"]).stdout)
    wrong = [finding for finding in report["findings"] if finding["outcome"] != "ok"]
    # a full disk is this machine's matter, not the stack's
    assert [finding for finding in wrong if finding["check"] != "disk"] == []
    checked = {finding["check"] for finding in report["findings"]}
    assert {"postgres", "pgvector", "redis", "api", "encoder", "workers", "port", "stale pid"} <= checked


def test_the_doctor_says_how_to_close_an_open_token_file(running: ThrowawayStack) -> None:
    token = running.home / "token"
    token.chmod(0o644)
    try:
        result = running.run(["doctor", "--json"], check=False)
    finally:
        token.chmod(0o600)
    finding = next(found for found in json.loads(result.stdout)["findings"] if found["check"] == "secrets")
    assert result.returncode == 1
    assert finding["outcome"] == "fail"
    assert finding["remedy"].startswith(f"chmod 600 {token}")


def test_logs_show_a_part_and_refuse_unknown_ones(running: ThrowawayStack) -> None:
    assert "ready to accept connections" in running.run(["logs", "postgres"]).stdout
    everything = running.run(["logs", "-n", "2"]).stdout
    assert "worker-embed" in everything
    refused = running.run(["logs", "mailer"], check=False)
    assert refused.returncode == 2
    assert "there is no part 'mailer'" in refused.stderr


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_killed_comes_back_by_itself(running: ThrowawayStack, part: str) -> None:
    await_health(running)
    victim = process_of(running, part)
    family = victim.children(recursive=True)
    victim.kill()
    await_true(lambda: pids_of(running)[part] not in (0, victim.pid), told=part)
    await_health(running)
    assert await_end(family, seconds=300) == []


def test_a_killed_supervisor_is_replaced_and_every_part_with_it(running: ThrowawayStack) -> None:
    await_health(running)
    before, parts = read_state(running)["supervisord_pid"], pids_of(running)
    os.kill(before, signal.SIGKILL)
    await_true(lambda: read_state(running)["supervisord_pid"] != before)
    await_health(running)
    after = pids_of(running)
    assert set(after) == set(parts) and not set(after.values()) & set(parts.values())
    assert running.status()["orphans"] == []


def test_orphans_are_told_from_a_stopped_stack_and_down_stops_them(running: ThrowawayStack) -> None:
    await_health(running)
    pid = read_state(running)["supervisord_pid"]
    parts = [psutil.Process(found) for found in pids_of(running).values()]
    supervisor = psutil.Process(pid)
    guardian = supervisor.parent()
    assert guardian is not None
    guardian.kill()  # or it would bring everything back
    supervisor.kill()
    assert await_end([guardian, supervisor], seconds=300) == []

    status = running.status()
    assert not status["healthy"]
    assert {"postgres", "redis", "api", "worker-embed", "beat"} <= set(status["orphans"])
    assert any("still run without" in problem for problem in status["problems"])
    examined = running.run(["doctor", "--json"], check=False)
    finding = next(
        found for found in json.loads(examined.stdout)["findings"] if found["check"] == "stale pid"
    )
    assert finding["outcome"] == "fail"
    assert "longtail down" in finding["remedy"]

    assert running.run(["down"]).returncode == 0
    assert [process for process in parts if is_alive(process)] == []
    assert not (running.home / "run" / "state.json").exists()
    assert running.status()["orphans"] == []


def test_down_with_nothing_running_says_so_and_is_content(running: ThrowawayStack) -> None:
    running.run(["down"])
    result = running.run(["down"])
    assert result.returncode == 0
    assert "Nothing was running" in result.stdout


def test_the_doctor_sees_data_of_another_postgresql_before_it_is_started(running: ThrowawayStack) -> None:
    running.run(["down"])
    file = plan_layout(running.home, "nobody").postgres_data / "PG_VERSION"
    ours = file.read_text()
    file.write_text("9\n")
    try:
        examined = running.run(["doctor", "--json"], check=False)
    finally:
        file.write_text(ours)
    assert examined.returncode == 1
    finding = next(
        one for one in json.loads(examined.stdout)["findings"] if one["check"] == "server programs"
    )
    assert finding["outcome"] == "fail"
    assert "was made by PostgreSQL 9" in finding["detail"]


def test_a_state_left_by_a_crash_is_seen_through_and_replaced(running: ThrowawayStack) -> None:
    running.run(["down"])
    stale = {
        "supervisord_pid": os.getpid(),
        "api_url": "http://127.0.0.1:1",
        "database_url": "postgresql:///x",
    }
    file: Path = running.home / "run" / "state.json"
    file.write_text(json.dumps(stale))
    status = running.status()
    assert status["healthy"] is False
    assert "longtail down" in status["problems"][0]
    findings = json.loads(running.run(["doctor", "--json"], check=False).stdout)["findings"]
    assert next(found for found in findings if found["check"] == "stale pid")["outcome"] == "warn"
    token = (running.home / "token").read_text()
    running.up()
    assert read_state(running)["supervisord_pid"] != os.getpid()
    assert (running.home / "token").read_text() == token
    assert await_health(running)["healthy"] is True


def test_flower_is_added_to_a_stack_that_runs_and_nothing_else_is_touched(running: ThrowawayStack) -> None:
    before = pids_of(running)
    said = running.run(["up", "--flower"]).stdout
    state = read_state(running)
    assert state["flower_url"] in said
    after = pids_of(running)
    assert {name: after[name] for name in before} == before
    assert after["flower"] > 0
    token = (running.home / "token").read_text().strip()
    assert httpx.get(state["flower_url"], trust_env=False).status_code == 401
    assert httpx.get(state["flower_url"], auth=("longtail", token), trust_env=False).status_code == 200
    assert state["flower_url"] in running.run(["up", "--flower"]).stdout, "once more changes nothing"
    assert pids_of(running) == after


def test_the_account_that_runs_the_servers_is_no_superuser_of_the_database(running: ThrowawayStack) -> None:
    layout = plan_layout(running.home, running.settings.run_as)
    known = {
        line.split('"')[1]
        for line in (layout.postgres / "pg_ident.conf").read_text().splitlines()
        if line.startswith("longtail")
    }
    assert known == {"root", layout.operator.name}
    url = read_state(running)["database_url"].replace("longtail_owner@/longtail", "postgres@/postgres")
    psycopg.connect(url).close()
    if layout.drops_privileges:
        child = os.fork()
        if child == 0:
            os.setgid(layout.service.gid)
            os.setuid(layout.service.uid)
            try:
                psycopg.connect(url).close()
            except psycopg.OperationalError as error:
                os._exit(0 if "authentication failed" in str(error) else 2)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
