"""LONGTAIL_DATABASE_URL and LONGTAIL_REDIS_URL: servers of the operator's are checked, used, and left alone."""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import redis
from sqlalchemy import text

from api.stack.home.accounts import SERVER_ENVIRONMENT, run_as
from api.stack.home.layout import Layout, plan_layout, prepare_folders
from api.stack.servers import valkey
from api.stack.servers.binaries import find_postgres, find_redis
from api.stack.servers.postgres import check_existing, connected
from api.stack.sockets import ports
from api.stack.throwaway import ThrowawayStack
from models.errors import DatabaseUnavailable, Misconfigured
from models.store.engine import SESSION_SETTINGS, open_engine, plain_transaction

PASSWORD = "p%40ss%2Fw%25rd"  # as an address spells p@ss/w%rd
PLAIN_PASSWORD = "p@ss/w%rd"


@dataclass(frozen=True)
class Cluster:
    """A PostgreSQL of somebody's own, made with passwords, of which several servers can be started in turn."""

    layout: Layout
    data: Path

    @contextmanager
    def serve(self, *options: str) -> Iterator[str]:
        """Run it with these options; the address of its owner."""
        port = ports.find_free()
        url = f"postgresql://keeper:{PASSWORD}@127.0.0.1:{port}/postgres"
        command = [
            str(find_postgres(self.layout).postgres),
            "-D",
            str(self.data),
            "-p",
            str(port),
            "-k",
            "",
            *options,
        ]
        with serve(self.layout, command, stop=signal.SIGINT):
            await_answer(lambda: psycopg.connect(url, connect_timeout=2).close(), psycopg.OperationalError)
            yield url


@contextmanager
def serve(layout: Layout, command: Sequence[str], *, stop: signal.Signals) -> Iterator[None]:
    drop = layout.service.uid != os.geteuid()
    process = subprocess.Popen(
        list(command),
        env=SERVER_ENVIRONMENT,
        cwd="/",
        user=layout.service.uid if drop else None,
        group=layout.service.gid if drop else None,
        extra_groups=[] if drop else None,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.send_signal(stop)
        process.wait(timeout=300)


def await_answer(ask: Callable[[], object], error: type[Exception]) -> None:
    deadline = time.monotonic() + 300
    while True:
        try:
            ask()
            return
        except error:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def read_settings(url: str | None, names: Iterable[str]) -> dict[str, str]:
    """What a connection of the service is set to."""
    engine = open_engine(url)
    try:
        with plain_transaction(engine) as connection:
            # In base units (120000, not 2min) where PostgreSQL has a unit for it.
            read = text(
                "SELECT coalesce((SELECT setting FROM pg_settings WHERE name = :name AND unit = 'ms'),"
                " current_setting(:name))"
            )
            return {name: connection.execute(read, {"name": name}).scalar_one() for name in names}
    finally:
        engine.dispose()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="lt-")).resolve()
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Cluster:
    layout = plan_layout(folder / "servers", "nobody")
    prepare_folders(layout, with_servers=True)
    secret = folder / "secret"
    secret.write_text(PLAIN_PASSWORD)
    secret.chmod(0o644)
    data = layout.sockets / "pg"
    done = run_as(
        layout.service,
        [str(find_postgres(layout).initdb), "-D", str(data), "-U", "keeper", f"--pwfile={secret}",
         "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Cluster(layout=layout, data=data)


@pytest.fixture
def extensions(folder: Path) -> Path:
    """A folder that the server takes its extensions from instead of its own."""
    path = folder / f"ext-{secrets.token_hex(4)}"
    (path / "extension").mkdir(parents=True)
    for found in (path, path / "extension"):
        found.chmod(0o755)
    return path


def test_a_server_without_pgvector_is_refused_with_a_remedy(cluster: Cluster, extensions: Path) -> None:
    with (
        cluster.serve("-c", f"extension_control_path={extensions}") as url,
        pytest.raises(Misconfigured, match="pgvector is missing") as caught,
    ):
        check_existing(url)
    assert "install" in (caught.value.remedy or "")
    assert PASSWORD not in str(caught.value)


def test_a_server_with_an_old_pgvector_is_refused_with_a_remedy(cluster: Cluster, extensions: Path) -> None:
    control = extensions / "extension" / "vector.control"
    control.write_text("default_version = '0.7.4'\n")
    (extensions / "extension" / "vector--0.7.4.sql").write_text("")
    with (
        cluster.serve("-c", f"extension_control_path={extensions}") as url,
        pytest.raises(Misconfigured, match=r"pgvector is 0\.7\.4, Longtail needs 0\.8") as caught,
    ):
        check_existing(url)
    assert "ALTER EXTENSION vector UPDATE" in (caught.value.remedy or "")


def test_a_wrong_password_is_a_setting_to_correct_and_is_not_repeated(cluster: Cluster) -> None:
    with cluster.serve() as url:
        wrong = url.replace(PASSWORD, "wr0ng-secret")
        with pytest.raises(Misconfigured, match="refuses the login") as caught:
            check_existing(wrong)
    assert "wr0ng-secret" not in str(caught.value)


def test_a_server_that_is_not_there_is_worth_another_try(cluster: Cluster) -> None:
    with cluster.serve() as url:
        pass
    with pytest.raises(DatabaseUnavailable, match="does not answer"):
        check_existing(url)


def ask_a_server_that_goes(url: str) -> None:
    with connected(url) as asking, connected(url) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [asking.info.backend_pid])
        asking.execute("SELECT 1")


def test_a_server_that_goes_while_it_is_asked_is_one_that_does_not_answer(cluster: Cluster) -> None:
    with cluster.serve() as url, pytest.raises(DatabaseUnavailable, match="does not answer"):
        ask_a_server_that_goes(url)


def test_up_uses_the_operators_servers_and_starts_none_of_its_own(cluster: Cluster) -> None:
    layout = cluster.layout
    socket = layout.sockets / "mine.sock"
    command = [str(find_redis(layout).server), "--port", "0", "--unixsocket", str(socket), "--save", ""]
    redis_url = f"unix://{socket}"

    def ping() -> None:
        with redis.Redis.from_url(redis_url) as client:
            client.ping()

    with cluster.serve() as database_url, serve(layout, command, stop=signal.SIGTERM):
        await_answer(ping, redis.RedisError)
        variables = {
            "LONGTAIL_DATABASE_URL": database_url,
            "LONGTAIL_REDIS_URL": redis_url,
            "LONGTAIL_ENCODER": "toy",
        }
        with ThrowawayStack(variables) as stack:
            status = stack.status()
            assert status["healthy"] is True, status["problems"]
            assert list(status["parts"]) == [
                "api",
                "worker-embed",
                "worker-pipeline",
                "worker-compact",
                "beat",
            ]
            assert status["postgres"]["url"] == database_url.replace(PASSWORD, "***")
            assert status["redis"]["url"] == redis_url
            assert not (stack.home / "postgres").exists()
            # the operator's server keeps its defaults; what plans rest on is set by each connection of ours
            with psycopg.connect(database_url) as theirs:
                assert theirs.execute("SELECT current_setting('jit')").fetchone() == ("on",)
            wanted = {name: str(value) for name, value in SESSION_SETTINGS.items()}
            assert read_settings(stack.settings.role_database_url("longtail_api"), wanted) == wanted
            shown = stack.run(["status"]).stdout + (stack.home / "logs" / "api.log").read_text()
            assert PASSWORD not in shown
            assert PLAIN_PASSWORD not in shown
            stack.run(["down"])
            # stopping the stack leaves the operator's servers as they were
            assert check_existing(database_url)["pgvector"]
            assert valkey.check_existing(redis_url)["version"]
