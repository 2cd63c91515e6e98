"""The dashboard and the alert rules in a real Prometheus that scrapes a running stack: every expression has a value."""

import json
import math
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from api.stack.sockets.ports import find_free
from api.stack.throwaway import await_true

FOLDER = Path(__file__).parents[2] / "monitoring"
COMPARED = re.compile(
    r"\s(?:==|>|<)\s[\d.]+$"
)  # what an alert compares with: what is left of it must have a value


def dashboard_expressions() -> list[str]:
    board = json.loads((FOLDER / "grafana" / "longtail.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def alert_expressions() -> list[str]:
    return [
        COMPARED.sub("", line.strip().removeprefix("expr: "))
        for line in (FOLDER / "alerts.yml").read_text().splitlines()
        if line.strip().startswith("expr: ")
    ]


def configure(folder: Path, name: str, address: str, target: str) -> Path:
    """A shipped configuration with this stack's address, scraping often."""
    shipped = (FOLDER / name).read_text()
    assert address in shipped
    placed = shipped.replace(address, target).replace("scrape_interval: 15s", "scrape_interval: 1s")
    (folder / name).write_text(placed)
    shutil.copy(FOLDER / "alerts.yml", folder)
    return folder / name


@contextmanager
def run_prometheus(folder: Path, *options: str) -> Iterator[str]:
    """Prometheus with its data in a folder; says where it answers."""
    program = shutil.which("prometheus")
    assert program, "no prometheus on the PATH: make test-monitoring fetches Debian's"
    port = find_free()
    command = [
        *(program, *options, f"--storage.tsdb.path={folder / 'data'}"),
        *(f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"),
    ]
    with subprocess.Popen(command, cwd=folder) as running:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 300
        while True:
            try:
                if httpx.get(f"{url}/-/ready", timeout=2).status_code == 200:
                    break
            except httpx.HTTPError:
                pass
            assert running.poll() is None and time.monotonic() < deadline, "Prometheus did not start"
            time.sleep(0.2)
        try:
            yield url
        finally:
            running.terminate()


@pytest.fixture(scope="module")
def target(stack: Any) -> str:
    """Host and port of the API."""
    address: str = stack.settings.service_url().removeprefix("http://")
    return address


@pytest.fixture(scope="module")
def prometheus(target: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """As for a local stack."""
    folder = tmp_path_factory.mktemp("prometheus")
    path = configure(folder, "prometheus.yml", "127.0.0.1:8765", target)
    with run_prometheus(folder, f"--config.file={path}") as url:
        yield url


def ask(url: str, expression: str) -> list[float]:
    answer = httpx.get(f"{url}/api/v1/query", params={"query": expression}, timeout=10).json()
    assert answer["status"] == "success", f"{expression}: {answer}"
    return [float(one["value"][1]) for one in answer["data"]["result"]]


def test_every_expression_of_dashboard_and_alerts_has_a_value(prometheus: str, tenant: Any) -> None:
    for round_ in range(6):  # while Prometheus looks on: a rate needs two looks
        tenant.say(
            "metered",
            *(
                f"Pillar {n} of bridge {round_} is {n + round_} metres high, measured in June."
                for n in range(30)
            ),
            user_id="ann",
        )
        tenant.settle()
        tenant.client.compact("metered", force=True)
        for budget in (2000, 10):  # the second cannot be met, and says so
            tenant.client.assemble(
                session_id="metered", query=f"pillar of bridge {round_}", budget_tokens=budget, user_id="ann"
            )
        time.sleep(1.5)
    wanted = [*dashboard_expressions(), *alert_expressions()]
    assert len(wanted) > 30
    deadline = time.monotonic() + 90
    while True:
        empty = [one for one in wanted if not ask(prometheus, one)]
        if not empty or time.monotonic() > deadline:
            break
        time.sleep(1)
    assert empty == []
    told = {one: ask(prometheus, one) for one in wanted}
    assert [one for one, values in told.items() if all(map(math.isnan, values))] == []
    assert max(told["sum by (outcome) (rate(longtail_turns_total[5m]))"]) > 0


def test_the_rules_are_loaded_and_nothing_is_wrong_with_them(prometheus: str) -> None:
    groups = httpx.get(f"{prometheus}/api/v1/rules", timeout=10).json()["data"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert len(rules) == len(alert_expressions())
    assert all(rule["annotations"]["remedy"] and not rule.get("lastError") for rule in rules)


def test_the_command_line_of_compose_scrapes_the_api_too(target: str, tmp_path: Path) -> None:
    service = yaml.safe_load((FOLDER.parent / "docker-compose.yml").read_text())["services"]["prometheus"]
    assert "./monitoring:/etc/prometheus:ro" in service["volumes"]
    path = configure(tmp_path, "compose.yml", "api:8765", target)
    options = [one.replace("/etc/prometheus/compose.yml", str(path)) for one in service["command"]]
    assert str(path) in options[0]
    with run_prometheus(tmp_path, *options) as url:
        await_true(lambda: ask(url, 'up{job="longtail"}') == [1.0], told="it does not scrape")


def test_grafana_finds_its_files_where_compose_puts_them() -> None:
    """Grafana itself is not run: nothing here serves its package."""
    service = yaml.safe_load((FOLDER.parent / "docker-compose.yml").read_text())["services"]["grafana"]
    places = dict(one.split(":")[:2] for one in service["volumes"])
    assert places["./monitoring/grafana/provisioning"] == "/etc/grafana/provisioning"
    provisioning = FOLDER / "grafana" / "provisioning"
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "longtail.yml").read_text())["providers"]
    dashboard = places["./monitoring/grafana/longtail.json"]
    assert provider["options"]["path"] == str(Path(dashboard).parent)
    (source,) = yaml.safe_load((provisioning / "datasources" / "prometheus.yml").read_text())["datasources"]
    assert source["url"] == "http://prometheus:9090"
    board = json.loads((FOLDER / "grafana" / "longtail.json").read_text())
    used = {panel["datasource"]["uid"] for panel in board["panels"] if "datasource" in panel}
    assert used <= {source["uid"]}
