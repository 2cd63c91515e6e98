"""`longtail-client`: whether the service answers, and what waits to be sent to it."""

import argparse
import sys

from longtail_client.client import Client
from longtail_client.errors import LongtailError
from longtail_client.outbox import Outbox


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when the service answered and nothing waits."""
    parser = argparse.ArgumentParser(prog="longtail-client", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("status", help="whether the service answers, and how many writes wait here")
    commands.add_parser("flush", help="send what waits")
    hermes = commands.add_parser("hermes", help="the memory provider of Hermes")
    hermes.add_argument("action", choices=["install", "uninstall"])
    chosen = parser.parse_args(arguments)
    if chosen.command == "hermes":
        from longtail_client.hermes_plugin import install, uninstall

        print(install() if chosen.action == "install" else uninstall())
        return 0
    with Client() as client:
        outbox = Outbox.of(client.config)
        if chosen.command == "flush":
            done = outbox.flush(client.send)
            print(f"{done.sent} sent, {done.refused} refused, {done.waiting} wait in {outbox.path}")
            return 1 if done.waiting or done.refused else 0
        waiting = outbox.count()
        try:
            found = client.get_status()
        except LongtailError as error:
            print(f"{error} ({error.code}); {waiting} writes wait in {outbox.path}", file=sys.stderr)
            return 1
        print(
            f"longtail {found.version} at {client.url}: {found.pending} items pending; {waiting} writes wait here"
        )
        return 1 if waiting else 0


if __name__ == "__main__":
    sys.exit(main())
