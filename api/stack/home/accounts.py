"""Who runs what: the operator who typed `longtail up`, and the account the database servers run under.

They are the same person, except for root: PostgreSQL refuses to run as root and a memory store has no
business doing so, so the servers then drop to LONGTAIL_RUN_AS.
"""

import os
import pwd
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from models.errors import Misconfigured

SERVER_ENVIRONMENT: dict[str, str] = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user of this machine, as /etc/passwd knows it."""

    name: str
    uid: int
    gid: int


def find_operator() -> Account:
    """The account of this process; PostgreSQL's peer authentication needs it to have a name."""
    try:
        entry = pwd.getpwuid(os.geteuid())
    except KeyError:
        raise Misconfigured(
            f"user id {os.geteuid()} has no entry in the password database",
            remedy="run as a named user, or set LONGTAIL_DATABASE_URL and LONGTAIL_REDIS_URL",
        ) from None
    return Account(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid)


def find_service_account(operator: Account, run_as: str) -> Account:
    """Who runs PostgreSQL and Valkey: the operator, or where that is root, the first of `run_as` that exists."""
    if operator.uid != 0:
        return operator
    names = [name.strip() for name in run_as.split(",")]
    entry = next((found for name in names if (found := _find_entry(name))), None)
    if entry is None:
        raise Misconfigured(
            f"LONGTAIL_RUN_AS names the user {run_as!r}, which does not exist",
            field="run_as",
            remedy="create that user, or set LONGTAIL_RUN_AS to an existing unprivileged one",
        )
    if entry.pw_uid == 0:
        raise Misconfigured(
            f"LONGTAIL_RUN_AS names {entry.pw_name!r}, which is root; PostgreSQL refuses to run as root",
            field="run_as",
            remedy="set LONGTAIL_RUN_AS to an unprivileged user",
        )
    return Account(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid)


def _find_entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def run_as(
    account: Account,
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    timeout_seconds: float = 120.0,
) -> subprocess.CompletedProcess[str]:
    """Run a command as the account, in a clean environment, and return what it said.

    A session of its own: Ctrl-C in the terminal must reach us alone, and we decide what stops.
    """
    drop = account.uid != os.geteuid()
    return subprocess.run(
        list(command),
        env={**SERVER_ENVIRONMENT, **(environment or {})},
        cwd="/",
        user=account.uid if drop else None,
        group=account.gid if drop else None,
        extra_groups=[] if drop else None,
        umask=0o077,
        start_new_session=True,
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
    )


def can_enter(account: Account, folder: Path) -> bool:
    """Whether the account may pass through the folder; asked of the kernel, so that ACLs and mounts count."""
    if account.uid == os.geteuid():
        return os.access(folder, os.X_OK)
    return run_as(account, ["/bin/sh", "-c", 'test -x "$1"', "sh", str(folder)]).returncode == 0


def can_execute(account: Account, program: Path) -> bool:
    """Whether the account can load and start the program with everything it links to."""
    try:
        return run_as(account, [str(program), "--version"]).returncode == 0
    except OSError:
        return False
