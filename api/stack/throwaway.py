"""A whole stack of its own in a temporary folder, for tests and benchmarks, and waiting for what it does; all is real."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from api.stack.home.layout import Layout, plan_layout
from api.stack.lifecycle import stop_stack
from api.stack.reports.status import gather_status
from models.errors import ServiceError
from models.settings import Settings

Found = TypeVar("Found")


def await_true(
    condition: Callable[[], Found],
    *,
    seconds: float = 600.0,
    told: Callable[[], object] | str = "it did not happen",
) -> Found:
    """Look again and again until it is so, and return what was found; a slow machine ends nothing, a hang does."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, (
            f"after {seconds:g} s: {told if isinstance(told, str) else told()}"
        )
        time.sleep(0.05)
    return found


class ThrowawayStack:
    """`longtail up --detach` in a new home, `longtail down` at the end; nothing of it is left."""

    def __init__(self, extra_env: Mapping[str, str] | None = None, *, folder: Path | None = None) -> None:
        # Not under a test runner's long folder: a unix socket path has little room.
        self.home = Path(tempfile.mkdtemp(prefix="longtail-", dir=folder))
        self.home.chmod(0o755)
        self.env = {
            **{key: value for key, value in os.environ.items() if not key.startswith("LONGTAIL_")},
            "LONGTAIL_HOME": str(self.home),
            "LONGTAIL_PORT": "0",
            **(extra_env or {}),
        }
        self._watcher: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.up()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Stop everything and leave nothing behind."""
        with suppress(ServiceError):
            stop_stack(self.layout, lambda *_: None)
        shutil.rmtree(self.home, ignore_errors=True)
        if self._watcher is not None and self._watcher.stdin is not None:
            self._watcher.stdin.close()
            self._watcher.wait()
            self._watcher = None

    def up(self) -> None:
        """Start everything and wait until it is healthy; it ends with this process, whatever ends that."""
        if self._watcher is None:
            self._watcher = subprocess.Popen(
                [sys.executable, "-P", "-m", "api.stack.watcher"],
                env=self.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # what ends the starter's whole group leaves it to do its work
            )
        self.run(["up", "--detach"])

    def run(
        self, arguments: Sequence[str], *, check: bool = True, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a `longtail` command in this stack's environment, and in what `env` adds to it."""
        result = subprocess.run(
            [sys.executable, "-m", "api", *arguments],
            env={**self.env, **env},
            text=True,
            capture_output=True,
            timeout=600,
            check=False,
        )
        if check and result.returncode:
            raise ServiceError(
                f"'longtail {' '.join(arguments)}' ended with {result.returncode}:\n{result.stdout}{result.stderr}"
            )
        return result

    def status(self) -> dict[str, Any]:
        """What `longtail status --json` prints, without a process for each look."""
        return gather_status(self.settings, self.layout)

    @property
    def layout(self) -> Layout:
        """Where its files are."""
        return plan_layout(self.settings.home, self.settings.run_as)

    @property
    def settings(self) -> Settings:
        """The settings a process of this stack would read."""
        prefix = "LONGTAIL_"
        values = {
            key.removeprefix(prefix).lower(): value
            for key, value in self.env.items()
            if key.startswith(prefix)
        }
        return Settings.model_validate(values)

    @property
    def owner_url(self) -> str:
        """The database as its owner."""
        url = self.settings.owner_database_url()
        assert url is not None
        return url
