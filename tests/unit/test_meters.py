"""Claims about tallies: nothing is counted twice or lost on the way, and what comes out is what went in."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from api.status.metrics import STORED
from models.meters import METERS, Tally, add_up, read_series

SECONDS = st.lists(st.floats(0, 1000, allow_nan=False), max_size=30)


def tally_of(seconds: list[float]) -> Tally:
    tally = Tally()
    for one in seconds:
        tally.observe("stage_seconds", one, stage="embedded")
        tally.add("stage_items", stage="embedded")
    return tally


@given(SECONDS)
def test_a_bucket_holds_every_measurement_up_to_its_bound(seconds: list[float]) -> None:
    series = dict(read_series(tally_of(seconds).read()))
    if not seconds:
        assert series == {}
        return
    (found,) = series["stage_seconds"]
    for bound, count in found.buckets:
        assert count == sum(one <= float(bound) for one in seconds)
    assert abs(found.value - sum(seconds)) < 1e-6
    assert series["stage_items"][0].value == len(seconds)


@given(st.lists(SECONDS, max_size=5))
def test_tallies_of_several_processes_add_up_to_one_of_all(processes: list[list[float]]) -> None:
    together = add_up(tally_of(one).read() for one in processes)
    alone = tally_of([second for one in processes for second in one]).read()
    assert together.keys() == alone.keys()
    assert all(abs(together[field] - alone[field]) < 1e-6 for field in alone)


@given(SECONDS, SECONDS)
def test_what_could_not_be_handed_on_is_counted_once(first: list[float], second: list[float]) -> None:
    tally = tally_of(first)
    taken = tally.take()
    assert tally.read() == {}
    for one in second:
        tally.observe("stage_seconds", one, stage="embedded")
        tally.add("stage_items", stage="embedded")
    tally.give_back(*taken)
    wanted = tally_of([*first, *second]).read()
    assert all(abs(tally.read()[field] - wanted[field]) < 1e-6 for field in wanted)


def test_a_newer_mark_survives_one_that_comes_back_late() -> None:
    tally = Tally()
    tally.mark("task_ended", 1.0, task="memory.sweep")
    taken = tally.take()
    tally.mark("task_ended", 2.0, task="memory.sweep")
    tally.give_back(*taken)
    assert list(tally.read().values()) == [2.0]


def test_numbers_of_another_version_are_left_out() -> None:
    fields = {
        "no_such_meter": 1.0,
        "stage_items": 1.0,
        "stage_items|embedded|more": 1.0,
        "stage_items|gate": 2.0,
    }
    assert [(name, [one.labels for one in series]) for name, series in read_series(fields)] == [
        ("stage_items", [("gate",)])
    ]
    assert all(meter.meaning.endswith(".") for meter in METERS.values())


def test_the_page_names_every_meter_and_no_other() -> None:
    page = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `longtail_(\w+?)(?:_total)?` \|", page, re.MULTILINE))
    assert named == {*METERS, *STORED, "up", "queue_messages"}
