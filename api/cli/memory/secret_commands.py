"""`longtail secrets DIR`: the files that docker-compose.yml takes its secrets from."""

import secrets as random
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

FILE_MODE = 0o644  # the account inside a container reads them; the folder around them is closed
FOLDER_MODE = 0o700
# What Longtail does with Redis, and nothing that would end it or empty it for others.
REDIS_RULES = "~* &* +@all -@admin -flushall -flushdb"
Keep = Callable[[str, str], str]


def register(app: typer.Typer) -> None:
    """Add the command to the root."""
    app.command()(secrets)


def secrets(
    folder: Annotated[Path, typer.Argument(help="Where to write them, for example ./secrets.")],
    database_host: Annotated[str, typer.Option(help="PostgreSQL's name in the network.")] = "postgres",
    redis_host: Annotated[str, typer.Option(help="Redis's name in the network.")] = "redis",
) -> None:
    """Make passwords and addresses for docker-compose.yml. Files that exist are kept: databases know their passwords."""
    from api.stack.home.files import make_folder, write_file

    folder.parent.mkdir(parents=True, exist_ok=True)
    make_folder(folder, mode=FOLDER_MODE)

    def keep(name: str, text: str) -> str:
        path = folder / name
        if not path.exists():
            write_file(path, text + "\n", mode=FILE_MODE)
            made.append(name)
        return path.read_text().strip()

    made: list[str] = []
    write_secrets(keep, database_host=database_host, redis_host=redis_host)
    print(
        f"{folder}: {len(made)} written" + (f" ({', '.join(made)})" if made else "; all were there already")
    )
    print(f"clients send the token in {folder / 'longtail_token'}; keep this folder out of version control")


def write_secrets(keep: Keep, *, database_host: str, redis_host: str) -> None:
    """Every file; `keep` writes one unless it exists, and returns what it holds."""
    from models.settings import derive_role_url

    password = keep("postgres_password", random.token_urlsafe(32))
    owner = keep("longtail_database_url", f"postgresql://longtail_owner:{password}@{database_host}/longtail")
    keep("longtail_api_database_url", derive_role_url(owner, "longtail_api"))
    keep("longtail_worker_database_url", derive_role_url(owner, "longtail_worker"))
    url = keep("longtail_redis_url", f"redis://longtail:{random.token_urlsafe(32)}@{redis_host}:6379/0")
    redis_password = url.split("//", 1)[1].split("@", 1)[0].split(":", 1)[1]
    keep("redis_acl", f"user default off\nuser longtail on >{redis_password} {REDIS_RULES}")
    token = keep("longtail_token", f"lt_{random.token_urlsafe(32)}")
    keep("flower_basic_auth", f"longtail:{token}")
    keep("grafana_password", random.token_urlsafe(16))
