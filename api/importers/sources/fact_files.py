"""Exports of systems that keep facts: one JSON document, or one fact a line; each fact with its place in the file."""

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from api.importers.reading import parse_json, read_json_lines
from api.importers.records import Dropped, Finding, Unit

Place = tuple[str, dict[str, Any] | Dropped]


def find_fact_units(path: Path, read: Callable[[Path], Iterator[Finding]]) -> list[Unit]:
    """The JSON files of a folder, or the one file."""
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in {".json", ".jsonl", ".ndjson"})
    units = []
    for file in files:
        name = str(file.relative_to(path)) if path.is_dir() else file.name
        facts = file.stat()
        units.append(Unit(name=name, size=facts.st_size, changed=facts.st_mtime_ns, read=partial(read, file)))
    return units


def read_facts(file: Path, lists: tuple[str, ...]) -> Iterator[Place]:
    """The facts of a file: its lines, its list, or the lists that it holds under one of the names."""
    if file.suffix in {".jsonl", ".ndjson"}:
        yield from read_json_lines(file)
        return
    found = parse_json(file.read_bytes(), file.name)
    if isinstance(found, list) and all(isinstance(page, dict) and _lists_of(page, lists) for page in found):
        pages = found  # several answers of an API, one after the other
    else:
        pages = [found]
    listed = 0
    for page in pages:
        for place in _read_page(page, file, lists):
            listed += 1
            yield place
    total = max((page.get("total", 0) for page in pages if isinstance(page, dict)), default=0)
    if isinstance(total, int) and total > listed:
        yield file.name, Dropped("on pages that are not in the file", f"{file.name}: {listed} of {total}")


def _lists_of(page: dict[str, Any], lists: tuple[str, ...]) -> list[str]:
    return [name for name in lists if isinstance(page.get(name), list)]


def _read_page(page: Any, file: Path, lists: tuple[str, ...]) -> Iterator[Place]:
    named = [("", page)] if isinstance(page, list) else []
    if isinstance(page, dict):
        named = [(f"{name} ", page[name]) for name in _lists_of(page, lists)]
        if not named:
            yield file.name, Dropped(f"of no known shape: no list under {', '.join(lists)}", file.name)
    for name, items in named:
        for number, item in enumerate(items, start=1):
            where = f"{file.name}, {name}item {number}"
            yield where, item if isinstance(item, dict) else Dropped("no JSON object", where)


def name_fact(fact: dict[str, Any], text: str) -> str:
    """The fact's own id, or one made of its words."""
    for key in ("id", "memory_id", "hash"):
        if fact.get(key):
            return str(fact[key])
    data = text.encode("utf-8", "replace")
    return f"{len(data)}-{zlib.crc32(data):08x}"
