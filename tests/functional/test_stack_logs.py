"""`longtail logs`: the end of a log, and what follows it."""

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.stack.home.layout import Layout, plan_layout, prepare_folders
from api.stack.reports.logs import BLOCK_BYTES, find_logs, follow, read_last_lines
from models.errors import NotFound


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, so that sockets fit; open, so that the servers' account may pass through."""
    with tempfile.TemporaryDirectory(prefix="lt-") as name:
        Path(name).chmod(0o711)
        yield Path(name).resolve()


@pytest.fixture
def layout(folder: Path) -> Layout:
    planned = plan_layout(folder, "nobody")
    prepare_folders(planned, with_servers=False)
    return planned


def test_the_last_lines_are_found_across_blocks(folder: Path) -> None:
    log = folder / "api.log"
    lines = [f"line {number} " + "x" * 100 for number in range(3 * BLOCK_BYTES // 100)]
    log.write_text("\n".join(lines) + "\n")
    assert read_last_lines(log, 3) == lines[-3:]
    assert read_last_lines(log, 1500) == lines[-1500:]
    assert read_last_lines(log, 10**6) == lines
    assert read_last_lines(log, 0) == []


def test_an_empty_log_has_no_last_lines(folder: Path) -> None:
    (folder / "api.log").write_text("")
    assert read_last_lines(folder / "api.log", 5) == []


def test_an_unknown_part_is_answered_with_the_known_ones(layout: Layout) -> None:
    with pytest.raises(NotFound, match="no part 'apii'") as caught:
        find_logs(layout, "apii")
    assert "worker-embed" in (caught.value.remedy or "")


def test_before_the_first_start_there_is_nothing_to_show(layout: Layout) -> None:
    with pytest.raises(NotFound, match="no log of any part"):
        find_logs(layout, None)


def test_logs_come_in_start_order(layout: Layout) -> None:
    for part in ("beat", "postgres", "api"):
        layout.log_file(part).write_text("")
    assert list(find_logs(layout, None)) == ["postgres", "api", "beat"]


def test_following_goes_on_after_a_rotation_and_shows_whole_lines(layout: Layout) -> None:
    log = layout.log_file("api")
    log.write_text("before\n")
    seen = follow({"api": log})
    writing = threading.Timer(0.1, lambda: append(log, "first\nhalf"))
    writing.start()
    assert next(seen) == ("api", "first")
    writing.join()
    append(log, " and half\n")
    assert next(seen) == ("api", "half and half")
    log.rename(log.with_suffix(".log.1"))
    log.write_text("after\n")
    assert next(seen) == ("api", "after")


def append(log: Path, text: str) -> None:
    with open(log, "a") as file:
        file.write(text)
