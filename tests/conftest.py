"""One real stack for the whole run (PostgreSQL, Redis, API, workers, beat), and a new tenant for every test."""

import gc
import json
import os
import secrets
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine, text

from api.client import ServiceClient
from api.stack.throwaway import ThrowawayStack, await_true
from models.settings import ServiceRole
from models.store.engine import open_engine, plain_transaction, tenant_transaction
from models.store.tenancy.tokens import SCOPES, add_token, ensure_token, find_caller

# A slow machine breaks no claim: hypothesis neither times an example nor minds how long one takes to make.
settings.register_profile(
    "any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("any speed")


def pytest_collection_finish() -> None:
    """The tests and what they import stay until the end: the collector need not look at them again and again."""
    gc.collect()
    gc.freeze()


# Minutes of one processor: they begin first, so that nobody waits for them at the end.
LONG_FILES = (
    "test_random_faults",
    "test_compose",
    "test_strangers",
    "test_hostile_patterns",
    "test_encoders",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long files first; the others in their order."""
    items.sort(key=lambda item: item.path.stem not in LONG_FILES)


QUICK = {
    "LONGTAIL_SWEEP_SECONDS": "1",
    "LONGTAIL_LEASE_SECONDS": "4",
    "LONGTAIL_WORKER_NICENESS": "0",  # tests wait for the workers, and other tests are busy beside them
    "LONGTAIL_RETRY_BACKOFF_SECONDS": "0.2",
    "LONGTAIL_MAX_ATTEMPTS": "3",
    "LONGTAIL_ENCODER_THREADS": "1",
    "LONGTAIL_COMPACTION_SCAN_SECONDS": "1",
    "LONGTAIL_COMPACTION_JITTER_SECONDS": "0",
    "LONGTAIL_TRANSFER_STALL_SECONDS": "5",
    "LONGTAIL_RPC_MAX_RECORDS": "200",
    "LONGTAIL_RPC_LISTEN": "unix,tcp:127.0.0.1:0",
    "LONGTAIL_RECEIPTS_PER_SECOND": "1000",
}


@dataclass
class Tenant:
    """A tenant of its own, with a client and with eyes into its rows."""

    stack: ThrowawayStack
    name: str
    token: str
    id: UUID
    client: ServiceClient
    owner: Engine
    engines: dict[str, Engine] = field(default_factory=dict)

    def rows(self, statement: str, **values: Any) -> list[Any]:
        """What the owner sees; :tenant is this tenant's id."""
        with plain_transaction(self.owner) as connection:
            return list(connection.execute(text(statement), {"tenant": self.id, **values}))

    def one(self, statement: str, **values: Any) -> Any:
        """The single value the owner sees."""
        return self.rows(statement, **values)[0][0]

    def as_role(self, role: ServiceRole) -> Engine:
        """Connections of a service role."""
        if role not in self.engines:
            self.engines[role] = open_engine(self.stack.settings.role_database_url(role))
        return self.engines[role]

    def say(self, session: str, *contents: str, role: str = "user", **identity: str | None) -> dict[str, Any]:
        """Turns without ids, in order."""
        turns = [{"role": role, "content": content} for content in contents]
        return self.client.post_turns(session, turns, **identity)

    def issue(self, **rights: Any) -> str:
        """Another token of this tenant, of these scopes, namespaces and agents."""
        token = f"lt_{secrets.token_urlsafe(16)}"
        ensure_token(self.stack.owner_url, tenant=self.name, token=token, **rights)
        return token

    def enter(self, **rights: Any) -> ServiceClient:
        """A client with such a token; whoever asks closes it."""
        return ServiceClient(url=self.client.url, token=self.issue(**rights))

    def run(self, *arguments: str, check: bool = True, **env: str) -> subprocess.CompletedProcess[str]:
        """A `longtail` command with this tenant's token."""
        return self.stack.run(arguments, check=check, LONGTAIL_TOKEN=self.token, **env)

    def read(self, *arguments: str) -> Any:
        """What a command prints as JSON."""
        return json.loads(self.run(*arguments, "--json").stdout)

    def settle(self, seconds: float = 300.0) -> None:
        """Wait until the pipeline has nothing left of this tenant."""
        waiting = (
            "SELECT count(*) FROM longtail.work WHERE tenant_id = :tenant AND stage NOT IN ('done', 'failed')"
        )
        await_true(
            lambda: not self.one(waiting), seconds=seconds, told=lambda: f"{self.one(waiting)} items wait"
        )


def make_tenant(stack: ThrowawayStack, owner: Engine, name: str | None = None) -> Tenant:
    """A tenant with one token of every scope."""
    name = name or f"t-{secrets.token_hex(6)}"
    token = f"lt_{secrets.token_urlsafe(16)}"
    with plain_transaction(owner) as connection:
        add_token(connection, tenant=name, token=token, scopes=SCOPES)
    with plain_transaction(owner) as connection:
        caller = find_caller(connection, token=token)
    assert caller is not None
    client = ServiceClient(url=stack.settings.service_url(), token=token)
    return Tenant(stack=stack, name=name, token=token, id=caller.tenant_id, client=client, owner=owner)


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the real encoder's vectors are kept for the whole run: the same sentences come again in many tests."""
    folder = tmp_path_factory.getbasetemp()
    return (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "vectors.sqlite"


@pytest.fixture(scope="session")
def stack(vectors: Path) -> Iterator[ThrowawayStack]:
    """The shared stack."""
    with ThrowawayStack({**QUICK, "LONGTAIL_ENCODER_CACHE": str(vectors)}) as running:
        yield running


@pytest.fixture(scope="session")
def owner(stack: ThrowawayStack) -> Iterator[Engine]:
    """The database as its owner, who sees every tenant."""
    engine = open_engine(stack.owner_url)
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def tenant_on() -> Callable[[ThrowawayStack, Engine], Tenant]:
    """Makes a tenant on any stack; whoever asks closes its client."""
    return make_tenant


@pytest.fixture
def new_tenant(stack: ThrowawayStack, owner: Engine) -> Iterator[Callable[[], Tenant]]:
    """Makes tenants; their connections end with the test."""
    made: list[Tenant] = []

    def make() -> Tenant:
        made.append(make_tenant(stack, owner))
        return made[-1]

    yield make
    for tenant in made:
        tenant.client.__exit__()
        for engine in tenant.engines.values():
            engine.dispose()


@pytest.fixture
def tenant(new_tenant: Callable[[], Tenant]) -> Tenant:
    """A tenant nobody else writes to."""
    return new_tenant()


__all__ = ["Tenant", "make_tenant", "tenant_transaction"]
