"""The plugin without the host, under Node's own test runner: its parts, and the engine called the older way."""

import os
import subprocess
from pathlib import Path

from installation import Host
from service import Service

HERE = Path(__file__).parent


def run_tests(host: Host, file: str, **env: str) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("LONGTAIL_")}
    done = subprocess.run(
        [host.node, "--test", "--test-reporter=spec", HERE / file],
        env={**kept, **env},
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_part_of_the_plugin_does_as_it_says(host: Host) -> None:
    run_tests(host, "parts.test.mjs")


def test_an_unmodified_host_of_the_older_style_works(host: Host, service: Service) -> None:
    run_tests(host, "engine.test.mjs", LONGTAIL_HOME=str(service.stack.home))
