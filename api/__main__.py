"""The entry point of `longtail`: decides what to load, and loads nothing it does not need.

A hook runs inside a host's turn, many times an hour: its start-up time is the user's waiting time. Installed hooks start
this file itself with `python -I -S`: no site packages, and nothing of the project the host works on (a `PYTHONPATH`, a
folder called `api`) comes between.
"""

import os
import sys


def main() -> None:
    """Run the command line, or one of the two short cuts past it."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"]:
        _run_hook(arguments[1:])
    if arguments == ["--version"]:
        from api.version import find_version

        print(f"longtail {find_version()}")
        return
    from models.loading import begin_loading

    begin_loading()
    from api.cli.app import run

    sys.exit(run())


def _run_hook(arguments: list[str]) -> None:
    # A hook that fails must not stop the host's turn: it says why on stderr and lets the host go on.
    try:
        from api.host.hook import main as answer

        answer(arguments)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the host gets exit code 0
        print(f"longtail hook: {type(error).__name__}: {error}", file=sys.stderr)
    finally:
        os._exit(0)  # nothing is buffered: taking the interpreter down properly would only take time


if __name__ == "__main__":
    if sys.flags.no_site:
        sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    main()
