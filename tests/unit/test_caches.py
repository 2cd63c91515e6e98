"""Nobody sees what is another's through what a process keeps: every cache is listed here with a reason."""

import re
from pathlib import Path

KEPT_IN_A_PROCESS = re.compile(
    r"^(?:@(?:functools\.)?(?:lru_)?cache\b|.*OrderedDict\[[^\]]*\].* = OrderedDict\(|[_A-Z]+: dict\[.* = \{\}|"
    r" +self\._\w+: dict\[.* = \{\})",
    re.M,
)
OF_ITS_KEY = "what it makes of its key depends on nothing else, so whoever has the key learns nothing"
NO_MEMORY = "holds no memory"
# Everything that a process keeps from one call to the next, and why nobody sees what is another's through it.
CACHES = {
    "api/assemble/blocks.py": OF_ITS_KEY,
    "api/assemble/meters.py": "by tenant; digests that are compared and counted",
    "api/assemble/receipt.py": NO_MEMORY,
    "api/background/erasures.py": "by a job's random id, and shown to its tenant's or its own token alone (test_erasure)",
    "api/cli/hosts/import_commands.py": "in a process of one person",
    "api/inspector/logins.py": "by the hash of a random id in one browser's cookie (test_inspector)",
    "api/outage/last_known.py": "by tenant and binding; a caller's bindings are checked (test_last_known, test_faults)",
    "api/middleware/rates.py": NO_MEMORY,
    "api/proxy/app.py": "in a process of one token",
    "api/proxy/memory.py": "in a process of one token",
    "api/recall/ranking.py": OF_ITS_KEY,
    "api/rpc/lines.py": NO_MEMORY,
    "api/runtime.py": "callers by their token's hash; vectors and token counts depend on their text alone",
    "api/stack/interruption.py": NO_MEMORY,
    "api/stack/reports/display.py": NO_MEMORY,
    "api/stack/sockets/doors.py": NO_MEMORY,
    "api/tails.py": "by tenant and session; a position",
    "api/watching/globs.py": NO_MEMORY,
    "models/documents/cache.py": OF_ITS_KEY,
    "models/documents/outline.py": OF_ITS_KEY,
    "models/domain/profile/standing.py": OF_ITS_KEY,
    "models/domain/prompt/markers.py": OF_ITS_KEY,
    "models/domain/prompt/rendering.py": OF_ITS_KEY,
    "models/domain/rules/overruling.py": OF_ITS_KEY,
    "models/domain/wishes/model.py": NO_MEMORY,
    "models/domain/updates/claims.py": OF_ITS_KEY,
    "models/encoders/token_files.py": OF_ITS_KEY,
    "models/encoders/toy.py": OF_ITS_KEY,
    "models/meters.py": NO_MEMORY,
    "models/settings.py": NO_MEMORY,
    "models/store/engine.py": "passes by tenant, and engines",
    "models/store/recall/candidates.py": NO_MEMORY,
    "workers/meters.py": NO_MEMORY,
    "workers/process.py": NO_MEMORY,
    "workers/tasks.py": NO_MEMORY,
    "workers/traces.py": NO_MEMORY,
}


def test_every_cache_is_known_and_has_a_reason() -> None:
    root = Path(__file__).parents[2]
    found = {
        str(path.relative_to(root))
        for room in ("api", "models", "workers")
        for path in (root / room).rglob("*.py")
        if KEPT_IN_A_PROCESS.search(path.read_text(encoding="utf-8"))
    }
    assert found == set(CACHES)
