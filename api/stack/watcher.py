"""`python -m api.stack.watcher`: ends a throwaway stack when whoever started it is gone, whatever ended that.

Its standard input is a pipe that the starter alone holds open. The kernel closes it with the starter, also where no
`finally` runs; then the stack named by LONGTAIL_HOME is stopped and its folder removed.
"""

import os
import shutil
import signal
import subprocess
import sys


def main() -> None:
    """Wait for the end of the pipe; a stack that was stopped and removed in order leaves nothing to do."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # meant for the starter: its end is what counts here
    while os.read(0, 4096):
        pass
    home = os.environ["LONGTAIL_HOME"]
    if os.path.isdir(home):
        subprocess.run(
            [sys.executable, "-m", "api", "down"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
