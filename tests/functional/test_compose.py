"""docker-compose.yml and Dockerfile without an engine: every step and every command line of ours, in clean folders.

The Dockerfile's steps make a folder, and the services run from it with the secrets each gets and no others. PostgreSQL is
a local one that is asked whether it takes the file's options; Valkey is started with the file's own command and the access
list that `longtail secrets` wrote. Prometheus's line is run by tests/monitoring; Grafana's by nobody.
"""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from api.client import ServiceClient
from api.stack.home.layout import plan_layout
from api.stack.servers.binaries import find_postgres, find_redis
from api.stack.sockets.ports import find_free
from api.stack.supervision.parts import API, BEAT, WORKERS
from api.stack.supervision.supervisor import Supervisor
from api.stack.throwaway import ThrowawayStack, await_true
from models.settings import derive_role_url

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
OURS = {name: service for name, service in COMPOSE["services"].items() if service.get("image") == "longtail"}
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def servers() -> Iterator[ThrowawayStack]:
    """A stack of which only the servers go on."""
    with ThrowawayStack() as stack:
        supervisor = Supervisor(plan_layout(stack.home, "nobody").control_socket)
        for part in (BEAT, *WORKERS, API):
            supervisor.stop(part)
        yield stack


NOT_RUN = "RUN useradd "  # it would change this machine; the tests run as whoever runs them


class Image:
    """What the Dockerfile's steps make of a clean copy, at another place than /opt/longtail."""

    def __init__(self, folder: Path) -> None:
        self.opt = folder / "opt" / "longtail"
        self.source = folder / "src"
        self.environment: dict[str, str] = {}
        self.left_out: list[str] = []
        self.source.mkdir()
        lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
        for line in lines:
            self.take(line)

    def take(self, line: str) -> None:
        """One instruction."""
        word, _, rest = line.partition(" ")
        if word == "ENV":
            self.environment |= dict(one.split("=", 1) for one in shlex.split(rest.replace("$PATH", "")))
        elif word == "COPY" and "--from" not in rest:
            *sources, target = rest.split()
            for source in sources:
                self.copy(ROOT / source, self.source / target / ("" if (ROOT / source).is_file() else "."))
        elif word == "RUN" and not line.startswith(NOT_RUN):
            self.run(rest)
        elif word == "RUN":
            self.left_out.append(line)

    def copy(self, source: Path, target: Path) -> None:
        if source.is_file():
            shutil.copy(source, target)
        else:
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))

    def run(self, command: str) -> None:
        placed = command.replace("/opt/longtail", str(self.opt))
        placed = re.sub(r"^python(?= )", sys.executable, placed)
        subprocess.run(["sh", "-c", placed], cwd=self.source, env=os.environ | self.environment, check=True)

    def settings(self) -> dict[str, str]:
        """The environment of a process in a container of it."""
        return {**self.environment, "PATH": f"{self.opt / 'bin'}:/usr/bin:/bin"}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return Image(tmp_path_factory.mktemp("image"))


class Deployment:
    """What compose would start, as processes."""

    def __init__(self, servers: ThrowawayStack, image: Image, folder: Path) -> None:
        self.folder = folder
        self.image = image
        self.ports = {"8765": find_free(), "5555": find_free(), "6379": find_free()}
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

    def place(self, word: str, name: str = "") -> str:
        """A word of a command with this machine's ports and folders."""
        for port, free in self.ports.items():
            word = word.replace(port, str(free))
        word = word.replace("/tmp/beat-schedule", str(self.folder / name / "beat-schedule"))
        return word.replace("$$", "$").replace("/run/secrets", str(self.secrets))

    def environment(self, name: str) -> dict[str, str]:
        """What the file and the image set, and nothing of this shell's."""
        return {
            **self.image.settings(),
            "HOSTNAME": socket.gethostname(),
            "LONGTAIL_HOME": str(self.folder / name),
            **{key: self.place(value) for key, value in OURS[name]["environment"].items()},
            "LONGTAIL_SECRETS_DIR": str(self.folder / name / "secrets"),
            "LONGTAIL_HOST": "127.0.0.1",
        }

    def is_healthy(self, name: str) -> bool:
        """What the service's health check says."""
        kind, *words = OURS[name]["healthcheck"]["test"]
        placed = [self.place(word, name) for word in words]
        checking = subprocess.run(
            ["sh", "-c", *placed] if kind == "CMD-SHELL" else placed,
            cwd=self.folder / name,
            env=self.environment(name),
            capture_output=True,
            check=False,
        )
        return checking.returncode == 0

    def start(self, name: str) -> subprocess.Popen[bytes]:
        service = OURS[name]
        mounted = self.folder / name / "secrets"
        mounted.mkdir(parents=True)
        for secret in service["secrets"]:
            shutil.copy(self.secrets / secret, mounted)
        command = [self.place(word, name).replace("0.0.0.0", "127.0.0.1") for word in service["command"]]
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self.folder / name, env=self.environment(name), stdout=log, stderr=log
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
def deployment(
    servers: ThrowawayStack, image: Image, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    made = Deployment(servers, image, tmp_path_factory.mktemp("compose"))
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


def test_the_image_holds_longtail_and_no_tool_that_builds_or_tests(image: Image) -> None:
    assert [line[: len(NOT_RUN)] for line in image.left_out] == [NOT_RUN]
    python = str(image.opt / "bin" / "python")
    ask = "import importlib.util, api, sys; print(api.__file__, *map(importlib.util.find_spec, sys.argv[1:]))"
    tools = ("pip", "hatchling", "pytest", "mypy", "hypothesis", "ruff")
    told = subprocess.run(
        [python, "-c", ask, *tools],
        cwd=image.opt,
        env=image.settings(),
        capture_output=True,
        text=True,
        check=True,
    )
    where, *found = told.stdout.split()
    assert where.startswith(str(image.opt))
    assert found == ["None"] * len(tools)


def test_every_health_check_passes_and_fails_where_nothing_runs(deployment: Deployment) -> None:
    checked = [name for name, service in OURS.items() if "healthcheck" in service]
    assert set(OURS) - set(checked) == {"migrate"}
    for name in checked:
        await_true(lambda name=name: deployment.is_healthy(name), told=f"{name} is not healthy")  # type: ignore[misc]
    ports = dict(deployment.ports)
    deployment.ports |= {"8765": find_free(), "5555": find_free()}
    try:
        assert not deployment.is_healthy("api")
        assert not deployment.is_healthy("flower")
    finally:
        deployment.ports = ports


def test_every_service_has_a_limit_and_a_check() -> None:
    for name, service in COMPOSE["services"].items():
        if name != "migrate":
            assert "memory" in service["deploy"]["resources"]["limits"], name
            assert "healthcheck" in service, name


def test_postgresql_takes_the_options_of_the_file(servers: ThrowawayStack) -> None:
    layout = plan_layout(servers.home, "nobody")
    program = find_postgres(layout).postgres
    options = [
        re.sub(r"\$\{\w+:-(\d+)\}", r"\1", word) for word in COMPOSE["services"]["postgres"]["command"][1:]
    ]
    assert "-cshared_buffers=256MB" in options

    def is_taken(*given: str) -> bool:
        command = [program, "-C", "shared_buffers", "-D", layout.postgres_data, *given]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    assert is_taken(*options)
    for wrong in ("-cno_such_option=1", "-cshared_buffers=much"):
        assert not is_taken(*options, wrong)


def test_every_service_runs_with_its_own_secrets_and_a_turn_is_remembered(deployment: Deployment) -> None:
    url = f"http://127.0.0.1:{deployment.ports['8765']}"

    def is_ready() -> bool:
        try:
            return httpx.get(f"{url}/readyz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    await_true(is_ready, told="the API is not ready")
    with ServiceClient(url=url, token=deployment.read("longtail_token")) as client:
        client.post_turns(
            "s", [{"role": "user", "content": "The harbour office opens at seven."}], user_id="ann"
        )
        await_true(lambda: client.status()["pending"] == 0, told="the workers do not work")
        found = client.call("POST", "/v1/search", json={"query": "harbour office", "user_id": "ann"})
        assert "opens at seven" in found["results"][0]["text"]
    beat = (deployment.folder / "beat.log").read_text
    await_true(lambda: "sweep" in beat() or "beat" in beat(), told="beat does not run")
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

    await_true(answers, told="Flower does not refuse a stranger")
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
