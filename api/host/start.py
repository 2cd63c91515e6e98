"""The entry point of `longtail`: decides what to load, and loads nothing it does not need.

A hook runs inside a host's turn, many times an hour: its start-up time is the user's waiting time.
"""

import sys

from api.version import find_version


def main() -> None:
    """Run the command line, or one of the two short cuts past it."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"]:
        sys.exit(_run_hook(arguments[1:]))
    if arguments == ["--version"]:
        print(f"longtail {find_version()}")
        return
    from api.cli.app import run

    sys.exit(run())


def _run_hook(arguments: list[str]) -> int:
    # A hook that fails must not stop the host's turn: it says why on stderr and lets the host go on.
    from importlib import import_module

    try:
        hook = import_module("api.host.hook")
    except ImportError as error:
        print(f"longtail hook: not available in this installation ({error})", file=sys.stderr)
        return 0
    return int(hook.main(arguments))


if __name__ == "__main__":
    main()
