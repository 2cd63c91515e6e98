"""docker-compose.yml without an engine: every command line of ours, with the secrets its service gets and no others.

PostgreSQL is a local one; Valkey is started with the file's own command and the access list that `longtail secrets` wrote.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from api.client import ServiceClient
from api.stack.home.layout import plan_layout
from api.stack.servers.binaries import find_redis
from api.stack.supervision.parts import API, BEAT, WORKERS
from api.stack.supervision.supervisor import Supervisor
from api.stack.throwaway import ThrowawayStack
from models.settings import derive_role_url

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
OURS = {name: service for name, service in COMPOSE["services"].items() if service.get("image") == "longtail"}
BIN = Path(sys.executable).parent


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def wait_for(what: Callable[[], bool], words: str, seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, words
        time.sleep(0.3)


@pytest.fixture(scope="module")
def servers() -> Iterator[ThrowawayStack]:
    """A stack of which only the servers go on."""
    with ThrowawayStack() as stack:
        supervisor = Supervisor(plan_layout(stack.home, "nobody").control_socket)
        for part in (BEAT, *WORKERS, API):
            supervisor.stop(part)
        yield stack


class Deployment:
    """What compose would start, as processes."""

    def __init__(self, servers: ThrowawayStack, folder: Path) -> None:
        self.folder = folder
        self.ports = {"8765": free_port(), "5555": free_port(), "6379": free_port()}
        self.secrets = folder / "secrets"
        subprocess.run(
            [sys.executable, "-m", "api", "secrets", str(self.secrets), "--redis-host", "127.0.0.1"],
            check=True,
        )
        self.write("longtail_database_url", servers.owner_url)
        for role in ("longtail_api", "longtail_worker"):
            self.write(f"{role}_database_url", derive_role_url(servers.owner_url, role))
        self.write(
            "longtail_redis_url", self.read("longtail_redis_url").replace("6379", str(self.ports["6379"]))
        )
        self.running: list[subprocess.Popen[bytes]] = []
        self.redis = [
            str(find_redis(plan_layout(servers.home, "nobody")).server),
            *COMPOSE["services"]["redis"]["command"][1:],
        ]

    def read(self, name: str) -> str:
        return (self.secrets / name).read_text().strip()

    def write(self, name: str, text: str) -> None:
        (self.secrets / name).write_text(text + "\n")

    def place(self, word: str) -> str:
        """A word of a command with this machine's ports and folders."""
        for port, free in self.ports.items():
            word = word.replace(port, str(free))
        return word.replace("$$", "$").replace("/run/secrets", str(self.secrets))

    def start(self, name: str) -> subprocess.Popen[bytes]:
        service = OURS[name]
        mounted = self.folder / name / "secrets"
        mounted.mkdir(parents=True)
        for secret in service["secrets"]:
            shutil.copy(self.secrets / secret, mounted)
        environment = {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "LONGTAIL_HOME": str(self.folder / name),
            **{key: self.place(value) for key, value in service["environment"].items()},
            "LONGTAIL_SECRETS_DIR": str(mounted),
            "LONGTAIL_HOST": "127.0.0.1",
        }
        command = [self.place(word).replace("0.0.0.0", "127.0.0.1") for word in service["command"]]
        command = [word.replace("/tmp/", f"{self.folder / name}/") for word in command]
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self.folder / name, env=environment, stdout=log, stderr=log
            )
        self.running.append(process)
        return process

    def start_redis(self) -> None:
        command = [*map(self.place, self.redis), "--port", str(self.ports["6379"]), "--dir", str(self.folder)]
        with (self.folder / "redis.log").open("wb") as log:
            self.running.append(subprocess.Popen([*command, "--bind", "127.0.0.1"], stdout=log, stderr=log))

    def stop(self) -> None:
        for process in reversed(self.running):
            process.terminate()
        for process in self.running:
            process.wait(timeout=300)


@pytest.fixture(scope="module")
def deployment(servers: ThrowawayStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    made = Deployment(servers, tmp_path_factory.mktemp("compose"))
    try:
        made.start_redis()
        migrating = made.start("migrate")
        assert migrating.wait(timeout=300) == 0, (made.folder / "migrate.log").read_text()
        for name in OURS:
            if name != "migrate":
                made.start(name)
        yield made
    finally:
        made.stop()


def test_the_file_is_what_the_compose_specification_allows(tmp_path: Path) -> None:
    validate = [str(BIN / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec"]
    good = subprocess.run([*validate, str(ROOT / "docker-compose.yml")], capture_output=True, text=True)
    assert good.returncode == 0, good.stdout
    misspelt = tmp_path / "docker-compose.yml"
    misspelt.write_text((ROOT / "docker-compose.yml").read_text().replace("healthcheck:", "heathcheck:"))
    assert subprocess.run([*validate, str(misspelt)], capture_output=True).returncode == 1


def test_every_service_runs_with_its_own_secrets_and_a_turn_is_remembered(deployment: Deployment) -> None:
    url = f"http://127.0.0.1:{deployment.ports['8765']}"

    def is_ready() -> bool:
        try:
            return httpx.get(f"{url}/readyz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    wait_for(is_ready, "the API is not ready")
    with ServiceClient(url=url, token=deployment.read("longtail_token")) as client:
        client.post_turns(
            "s", [{"role": "user", "content": "The harbour office opens at seven."}], user_id="ann"
        )
        wait_for(lambda: client.status()["pending"] == 0, "the workers do not work")
        found = client.call("POST", "/v1/search", json={"query": "harbour office", "user_id": "ann"})
        assert "opens at seven" in found["results"][0]["text"]
    beat = (deployment.folder / "beat.log").read_text
    wait_for(lambda: "sweep" in beat() or "beat" in beat(), "beat does not run")
    dead = {
        process.args[0]: process.returncode
        for process in deployment.running[2:]
        if process.poll() is not None
    }  # type: ignore[index]
    assert not dead


def test_flower_asks_who_is_there(deployment: Deployment) -> None:
    url = f"http://127.0.0.1:{deployment.ports['5555']}/"

    def answers() -> bool:
        try:
            return httpx.get(url, timeout=5).status_code == 401
        except httpx.HTTPError:
            return False

    wait_for(answers, "Flower does not refuse a stranger")
    user, password = deployment.read("flower_basic_auth").split(":", 1)
    assert httpx.get(url, auth=(user, password), timeout=300, follow_redirects=True).status_code == 200


def test_a_password_is_in_no_environment_and_the_owner_is_known_to_the_migration_alone() -> None:
    for name, service in COMPOSE["services"].items():
        assert not any("PASSWORD" in key and "FILE" not in key for key in service.get("environment", {})), (
            name
        )
        is_owner = {"longtail_database_url", "postgres_password"} & set(service.get("secrets", ()))
        assert not is_owner or name in {"migrate", "postgres"}
        for published in service.get("ports", ()):
            assert published.startswith("127.0.0.1:"), f"{name} is open to the network"
    written = {path.removeprefix("secrets/") for one in COMPOSE["secrets"].values() for path in [one["file"]]}
    assert written == set(COMPOSE["secrets"])


def test_redis_refuses_a_stranger_and_what_would_empty_it(deployment: Deployment) -> None:
    from redis import Redis, RedisError

    url = deployment.read("longtail_redis_url")
    with Redis.from_url(url) as known, Redis(port=deployment.ports["6379"]) as stranger:
        assert known.ping()
        with pytest.raises(RedisError):
            known.flushall()
        with pytest.raises(RedisError):
            stranger.ping()
