"""Loading code without the garbage collector: a quarter less work to start a worker, the API or a command.

Modules live as long as their process. Looking at their hundreds of thousands of objects finds nothing to free, neither while
they are loaded nor when the process ends; and what the collector touches, forked children no longer share.
"""

import atexit
import gc

# Objects made before a collection, and collections of the young before one of the older. A task or an answer makes thousands
# that need none to go, and a collection of the oldest stops everything while it looks.
COLLECTION_THRESHOLDS = (20_000, 20, 100)


def begin_loading() -> None:
    """From here on the process loads its code; the collector rests."""
    gc.disable()
    atexit.register(gc.freeze)


def end_loading() -> None:
    """What is there now stays, and the collector looks, now and then, at what comes."""
    gc.freeze()
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    gc.enable()
