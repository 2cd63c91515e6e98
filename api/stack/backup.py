"""Backup and restore while PostgreSQL runs: `pg_dump` of one moment, and the way back with proofs.

Redis holds nothing that a backup needs: work that waits is rows.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from api.stack.archive import (
    FORMAT,
    Manifest,
    check_dump,
    new_archive,
    open_dump,
    read_manifest,
    write_dump,
    write_manifest,
)
from api.stack.home.layout import Layout
from api.stack.lifecycle import GONE
from api.stack.servers.binaries import find_postgres
from api.stack.supervision.parts import POSTGRES, REDIS
from api.stack.supervision.supervisor import Supervisor
from api.version import find_version
from models.errors import Conflict, InvalidInput, Misconfigured, ServiceError, TransientError
from models.settings import Settings

if TYPE_CHECKING:
    from sqlalchemy import Engine

Say = Callable[[str, int, int | None], None]  # what is going on, how far, of how much
STOP_SECONDS_MAX = 90.0
DISTINCT_MEMORY = ("turns", "documents", "memories", "records")  # a store without any of these is empty


def back_up(settings: Settings, layout: Layout, path: Path, say: Say) -> Manifest:
    """Write the database of one moment into a file; the service goes on meanwhile."""
    from models.store.engine import plain_transaction
    from models.store.transfer.backup import count_rows, export_snapshot, read_revision

    url = _owner_url(settings)
    with (
        _opened(url) as engine,
        new_archive(path) as file,
        plain_transaction(engine, timeout_ms=86_400_000) as connection,
    ):
        snapshot = export_snapshot(connection)
        revision, rows = read_revision(connection), count_rows(connection)
        if revision is None:
            raise Misconfigured(
                "the database holds no memory of Longtail", remedy="start it with 'longtail up'"
            )
        arguments = ["--format=custom", "--schema=longtail", "--no-owner", "--no-privileges", "--no-policies",
                     "--enable-row-security", f"--snapshot={snapshot}"]  # fmt: skip
        with _program(layout, "pg_dump", url, arguments, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            size, digest = write_dump(file, process.stdout, lambda done: say("copying", done, None))
        manifest = Manifest(
            format=FORMAT,
            version=find_version(),
            revision=revision,
            created_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            dump_bytes=size,
            dump_sha256=digest,
            rows=rows,
        )
        write_manifest(file, manifest)
    check_dump(path, read_manifest(path), lambda done: say("reading back", done, size))
    return manifest


def restore(settings: Settings, layout: Layout, path: Path, *, force: bool, say: Say) -> dict[str, Any]:
    """Put a backup in place of what the database holds; on any failure that is as it was before."""
    from models.migrations.run import migrate
    from models.store.engine import plain_transaction
    from models.store.tenancy.tokens import ensure_token
    from models.store.transfer.backup import count_rows, drop_aside, put_back, set_aside

    manifest = read_manifest(path)
    check_dump(path, manifest, lambda done: say("checking", done, manifest.dump_bytes))
    url = _owner_url(settings)
    with _opened(url) as engine:
        _check_target(engine, force=force)
        with _paused(layout, engine, say):
            with plain_transaction(engine) as connection:
                set_aside(connection)
            try:
                arguments = ["--no-owner", "--no-privileges", "--exit-on-error"]
                with (
                    open_dump(path) as dump,
                    _program(layout, "pg_restore", url, arguments, stdin=subprocess.PIPE) as process,
                ):
                    assert process.stdin is not None
                    _feed(dump, process.stdin, manifest.dump_bytes, say)
                    say("building indexes", 0, None)
                with plain_transaction(engine, timeout_ms=86_400_000) as connection:
                    rows = count_rows(connection)
                if rows != manifest.rows:
                    raise ServiceError(
                        "what was restored does not hold as many rows as was backed up",
                        code="backup_damaged",
                        remedy="nothing was changed; take an older backup",
                    )
                say("migrating", 0, None)
                migrate(url)
                since = _take_away_again(engine, say)
                token = settings.client_token()
                if token:  # this machine's own, as 'longtail up' does
                    ensure_token(url, tenant="default", token=token)
                proof = _prove_lineage(engine, settings, say)
            except BaseException:
                with plain_transaction(engine) as connection:
                    put_back(connection)
                migrate(url)  # the views that looked at what was set aside
                raise
            with plain_transaction(engine, timeout_ms=600_000) as connection:
                drop_aside(connection)
    return {"rows": rows, "created_at": manifest.created_at, "version": manifest.version, **since, **proof}


def _take_away_again(engine: "Engine", say: Say) -> dict[str, int]:
    """What was revoked and erased after the backup was made, in the memory that it replaces."""
    from models.store.engine import plain_transaction, tenant_transaction
    from models.store.transfer.aftermath import carry_record, carry_revocations, erase_again

    with plain_transaction(engine, timeout_ms=600_000) as connection:
        revoked, erased = carry_revocations(connection), carry_record(connection)
    again = 0
    for done, one in enumerate(erased):
        say("erasing again", done, len(erased))
        with tenant_transaction(engine, one.tenant_id, timeout_ms=3_600_000) as connection:
            again += erase_again(connection, erased=one) > 0
    return {"revoked_again": revoked, "erased_again": again}


def _feed(dump: IO[bytes], pipe: IO[bytes], size: int, say: Say) -> None:
    done = 0
    try:
        while piece := dump.read(1 << 20):
            pipe.write(piece)
            done += len(piece)
            say("restoring", done, size)
        pipe.close()
    except BrokenPipeError:
        return  # pg_restore ended early, and says why


def _owner_url(settings: Settings) -> str:
    url = settings.owner_database_url()
    if not url:
        raise Misconfigured(
            "no database is running here",
            remedy="start it with 'longtail up', or set LONGTAIL_DATABASE_URL to the owner's address",
        )
    return url


@contextmanager
def _opened(url: str) -> "Iterator[Engine]":
    from models.store.engine import open_engine

    engine = open_engine(url)
    try:
        yield engine
    finally:
        engine.dispose()


def _check_target(engine: "Engine", *, force: bool) -> None:
    from models.store.engine import plain_transaction
    from models.store.transfer.backup import count_rows, read_revision

    with plain_transaction(engine, timeout_ms=600_000) as connection:
        if read_revision(connection) is None:
            raise Misconfigured(
                "the database was not prepared for Longtail",
                remedy="run 'longtail up' with it once, then restore",
            )
        rows = count_rows(connection)
    held = {name: rows.get(name, 0) for name in DISTINCT_MEMORY if rows.get(name, 0)}
    if held and not force:
        counts = ", ".join(f"{count} {name}" for name, count in held.items())
        raise Conflict(
            f"this memory is not empty ({counts}); a restore would replace all of it",
            code="store_not_empty",
            remedy="back it up first, then repeat with --force; or restore into a new LONGTAIL_HOME",
        )


@contextmanager
def _paused(layout: Layout, engine: "Engine", say: Say) -> Iterator[None]:
    """The stack's services are stopped and started again; those of another machine must be stopped by their operator."""
    from models.store.engine import plain_transaction
    from models.store.transfer.backup import count_service_sessions

    supervisor = Supervisor(layout.control_socket)
    stopped: list[str] = []
    try:
        if supervisor.answers():
            stopped = [
                name
                for name, one in supervisor.processes().items()
                if name not in (POSTGRES, REDIS) and one.state not in GONE
            ]
            _stop(supervisor, stopped, say)
        with plain_transaction(engine) as connection:
            others = count_service_sessions(connection)
        if others:
            raise Conflict(
                f"{others} connections of an API or of workers are open on this database",
                code="service_running",
                remedy="stop every API and worker that uses it, then restore",
            )
        yield
    finally:
        for name in stopped:
            supervisor.start(name)


def _stop(supervisor: Supervisor, names: list[str], say: Say) -> None:
    for name in reversed(names):
        supervisor.stop(name)
    deadline = time.monotonic() + STOP_SECONDS_MAX
    while alive := [
        name for name, one in supervisor.processes().items() if name in names and one.state not in GONE
    ]:
        if time.monotonic() > deadline:
            raise TransientError(f"{', '.join(alive)} did not stop", remedy="repeat the command")
        say(f"waiting for {', '.join(alive)}", 0, None)
        time.sleep(0.1)


@contextmanager
def _program(
    layout: Layout,
    name: str,
    url: str,
    arguments: list[str],
    *,
    stdin: int | None = None,
    stdout: int | None = None,
) -> "Iterator[subprocess.Popen[bytes]]":
    """One of PostgreSQL's own programs on this database; the password is in its environment, where only its user looks."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    shown = urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}@{host}" if user else host))
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": os.environ.get("HOME", "/")}
    environment |= {key: value for key, value in os.environ.items() if key.startswith("PGSSL")}
    if parts.password:
        environment["PGPASSWORD"] = unquote(parts.password)
    program = find_postgres(layout).postgres.with_name(name)
    process = subprocess.Popen(
        [str(program), f"--dbname={shown}", *arguments],
        env=environment,
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    except BaseException:
        process.kill()
        process.wait()
        raise
    complaint = (process.stderr.read() if process.stderr else b"").decode(errors="replace")
    if process.wait() != 0:
        lines = (
            [line for line in complaint.splitlines() if "error" in line]
            or complaint.splitlines()
            or ["no reason"]
        )
        raise InvalidInput(
            f"{name} failed: {lines[0].strip()}",
            code="backup_failed",
            remedy="nothing was changed; 'longtail doctor' looks for what is wrong with the database",
        )


def _prove_lineage(engine: "Engine", settings: Settings, say: Say) -> dict[str, int]:
    """The proof of `longtail lineage verify`, over every tenant."""
    from models.domain.compaction.verification import verify_session
    from models.store.compaction.lineage import list_compacted_sessions, list_compacted_tenants, load_lineage
    from models.store.engine import plain_transaction, tenant_transaction
    from models.store.index.encoders import require_active

    sessions = violations = 0
    with plain_transaction(engine) as connection:
        tenants = list_compacted_tenants(connection)
    for tenant in tenants:
        after = ""
        while True:
            with tenant_transaction(engine, tenant, is_snapshot=True) as connection:
                encoder = require_active(connection).name
                names = list_compacted_sessions(connection, tenant_id=tenant, after=after, count=50)
                for name in names:
                    lineage = load_lineage(connection, tenant_id=tenant, session_id=name, encoder=encoder)
                    violations += len(verify_session(lineage, min_turns=settings.tail_min_turns))
            sessions += len(names)
            say("proving lineage", sessions, None)
            if not names:
                break
            after = names[-1]
    return {"lineage_sessions": sessions, "lineage_violations": violations}
