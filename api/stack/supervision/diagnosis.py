"""From a part that would not start to a sentence an operator can act on."""

from collections import deque
from dataclasses import dataclass
from pathlib import Path

from models.errors import ServiceError

LINES_SHOWN = 20

# (what the log says, likely cause, remedy); the first that occurs wins
SIGNS: tuple[tuple[str, str, str], ...] = (
    ("No space left on device", "the disk is full", "free space, or move LONGTAIL_HOME to another disk"),
    ("Address already in use", "another process listens on its port", "stop it, or set LONGTAIL_PORT=0"),
    ("could not bind", "another process listens on its port", "stop it and start again"),
    ("could not create shared memory", "the machine is short of memory", "stop other programs first"),
    ("Cannot allocate memory", "the machine is short of memory", "stop other programs first"),
    ("MemoryError", "the machine is short of memory", "stop other programs first"),
    ("Permission denied", "it may not read or write one of its files",
     "run 'longtail doctor'; start as the user who started it first"),
    ("couldn't setuid", "supervisord may not change users", "start as root, or unset LONGTAIL_RUN_AS"),
    ("incompatible with server", "the data was made by another major version of PostgreSQL",
     "install the Longtail release that made it"),
    ("Bad file format reading the append only file", "Redis's journal is damaged",
     "move the folder redis/data away: it holds doorbells only, the sweep finds the work again"),
    ("No module named", "the installation is incomplete", "install Longtail again"),
    ("fingerprint", "the encoder is not the one the memory was embedded with", "run 'longtail doctor'"),
    ("password authentication failed", "the database refuses the password", "check LONGTAIL_DATABASE_URL"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Why a part did not start, as far as its log tells."""

    cause: str
    remedy: str
    lines: list[str]


class StartFailed(ServiceError):
    """A part did not come up; everything was stopped again."""

    code = "start_failed"

    def __init__(self, part: str, problem: str, diagnosis: Diagnosis) -> None:
        super().__init__(f"{part} {problem}: {diagnosis.cause}", remedy=diagnosis.remedy)
        self.part = part
        self.lines = diagnosis.lines


def measure_log(path: Path) -> int:
    """How long the log is now; what a start adds lies behind this point."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def diagnose(part: str, log: Path, since_bytes: int) -> Diagnosis:
    """The likely cause, from what this start added to the part's log."""
    try:
        with open(log, errors="replace") as file:
            if since_bytes <= log.stat().st_size:  # else it was rotated meanwhile
                file.seek(since_bytes)
            lines = list(deque((line.rstrip("\n") for line in file), maxlen=LINES_SHOWN))
    except FileNotFoundError:
        lines = []
    text = "\n".join(lines)
    for sign, cause, remedy in SIGNS:
        if sign in text:
            return Diagnosis(cause=cause, remedy=remedy, lines=lines)
    cause = "it gave no reason" if not lines else f"it said {lines[-1].strip()!r}"
    return Diagnosis(
        cause=cause, remedy=f"see 'longtail logs {part}'; 'longtail doctor' may know more", lines=lines
    )
