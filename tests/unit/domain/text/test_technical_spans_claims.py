"""Families of technical spans: each member is found whole, and nothing next to it (memory-model.md 5 and 7)."""

import pytest

from models.domain.text.technical.spans import (
    MAX_IDENTIFIER_CHARS,
    extract_identifiers,
    find_technical_spans,
    fold_identifier,
)

UNITS = (
    "% °C kB MiB GB/s mb Mbps bytes ms µs seconds minutes hours hrs h days weeks months years km/h kph mph km cm mm"
    " miles mi meters metres feet ft inches inch kg g mg lbs pounds oz ounces tons liters ml gallons cups tbsp tsp"
    " kcal calories cal degrees kHz MHz GHz Hz kWh W mAh volts V amps px dpi fps rpm bpm tokens rows users dollars"
    " bucks euros USD EUR GBP k K x X people steps pages points times 元 円 公里 公斤 小时 分钟"
)
CODES = (
    "ECONNREFUSED ECONNRESET EACCES EPERM ENOENT EEXIST EINVAL EADDRINUSE ETIMEDOUT EPIPE EAGAIN ENOMEM EBUSY ENOTDIR"
    " EISDIR ENOTEMPTY EMFILE ENFILE ENOSPC EROFS EHOSTUNREACH ENETUNREACH ELOOP EINTR EIO E0308 TS2345 CS0103"
    " ORA-00942 CVE-2024-3094 CWE-79 GHSA-jfh8-c2jp-5v3q SIGSEGV SIGKILL OOMKilled CrashLoopBackOff"
    " ERR_MODULE_NOT_FOUND 0xC0000005 ConnectionError HardFault TimeoutException DeprecationWarning"
)


def kinds(text: str) -> list[tuple[str, str]]:
    return [(span.kind, span.text) for span in find_technical_spans(text)]


@pytest.mark.parametrize("unit", UNITS.split())
def test_a_number_and_its_unit_are_one_quantity(unit: str) -> None:
    assert ("quantity", f"42 {unit}") in kinds(f"it took 42 {unit} yesterday")
    assert ("quantity", f"42 {unit}") not in kinds(f"it took 42 {unit}q yesterday")


@pytest.mark.parametrize("code", CODES.split())
def test_an_error_is_known_by_its_code(code: str) -> None:
    assert kinds(f"we saw {code} again") == [("error_code", code)]


@pytest.mark.parametrize(
    "status",
    [
        "500 Internal Server Error",
        "503 Service Unavailable",
        "429 Too Many Requests",
        "504 Gateway Timeout",
        "409 Conflict",
        "404 Not Found",
        "502 Bad Gateway",
        "401 Unauthorized",
        "403 Forbidden",
        "400 Bad Request",
    ],
)
def test_a_status_and_its_words_are_one_error(status: str) -> None:
    assert kinds(f"it says {status} now") == [("error_code", status)]
    assert kinds(f"it says {status.lower()} now") != [("error_code", status.lower())]


@pytest.mark.parametrize("root", ["etc", "tmp", "usr", "var", "boot", "Users", "Library", "Applications"])
def test_a_well_known_root_stands_alone(root: str) -> None:
    assert kinds(f"look in /{root} first") == [("path", f"/{root}")]
    assert "path" not in [kind for kind, _ in kinds(f"look in /{root}q first")]


@pytest.mark.parametrize(
    "extension", ["dart", "lua", "ml", "sqlite", "parquet", "whl", "rs", "toml", "lock", "tf"]
)
def test_a_file_is_known_by_its_extension(extension: str) -> None:
    assert kinds(f"see main.{extension} there") == [("path", f"main.{extension}")]


@pytest.mark.parametrize("glued", ["xGET /a", "POSTx /a", "xlocalhost:8080", "Z127.0.0.1:80"])
def test_a_word_around_an_endpoint_is_no_endpoint(glued: str) -> None:
    assert "endpoint" not in [kind for kind, _ in kinds(glued)]


def test_an_identifier_may_be_as_long_as_the_bound_and_no_longer() -> None:
    assert MAX_IDENTIFIER_CHARS == 2048
    path = "src/" + "/".join(["a" * 200] * 10)
    fitting = (path + "a" * 300)[:MAX_IDENTIFIER_CHARS]
    assert extract_identifiers(f"see {fitting} there") == (fitting,)
    assert fitting + "a" not in extract_identifiers(f"see {fitting}a there")
    assert len(fold_identifier(fitting)) > 1
    assert fold_identifier(fitting + "a") == (fitting + "a",)


def test_an_overlong_path_does_not_hide_the_next_one() -> None:
    long = "src/" + "/".join(["a" * 200] * 12)
    assert "lib/app.py" in extract_identifiers(f"{long} and lib/app.py")
    filler = "word " * 500
    assert "lib/app.py" in extract_identifiers(f"{filler} lib/app.py")


def test_dots_at_the_ends_of_a_segment_are_no_part_of_it() -> None:
    folded = fold_identifier("../.github/workflows/ci.yml")
    assert "github" in folded
    assert ".github" not in folded[1:]
    assert {"ci.yml", "ci", "yml"} <= set(folded)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see (https://x.org/a_(b)) now", "https://x.org/a_(b)"),
        ("see https://x.org/a)). now", "https://x.org/a"),
        ("[https://x.org/a]", "https://x.org/a"),
    ],
)
def test_brackets_around_a_link_are_left_and_those_inside_are_kept(text: str, found: str) -> None:
    assert extract_identifiers(text) == (found,)


def test_a_domain_is_judged_by_its_last_part() -> None:
    assert ("url", "docs.example.com/guide") in kinds("see docs.example.com/guide there")
    assert ("url", "example.local/guide") not in kinds("see example.local/guide there")
