"""`python -m models.migrations`: bring LONGTAIL_DATABASE_URL up to date; with LONGTAIL_TOKEN, make it valid."""

import sys

from models.errors import ServiceError
from models.migrations.run import migrate
from models.settings import get_settings
from models.store.tenancy.tokens import ensure_token


def main() -> int:
    """Migrate, then issue the default tenant's token if one is given."""
    settings = get_settings()
    url = settings.owner_database_url()
    if url is None:
        print("error: LONGTAIL_DATABASE_URL is not set", file=sys.stderr)
        return 2
    try:
        migrate(url)
        if settings.token:
            ensure_token(url, tenant="default", token=settings.token)
    except ServiceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("the database is up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
