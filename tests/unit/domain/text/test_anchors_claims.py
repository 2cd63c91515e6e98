"""Whole calendars: every month, weekday and holiday that is meant to be known (memory-model.md section 7)."""

import pytest

from models.domain.text.anchors import find_anchors

MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
}


@pytest.mark.parametrize(
    "month", [name for names in MONTHS.values() for name in names.split()], ids=lambda name: str(name)
)
def test_every_month_beside_a_day_is_a_date(month: str) -> None:
    assert [(anchor.kind, anchor.text) for anchor in find_anchors(f"we met 7 {month} 2024 there")] == [
        ("date", f"7 {month} 2024")
    ]
    assert all(month not in anchor.text for anchor in find_anchors(f"we met 7 q{month} there"))
    assert all(month not in anchor.text for anchor in find_anchors(f"we met 7 {month}q there"))


@pytest.mark.parametrize(
    "holiday",
    [
        "Christmas",
        "Christmas Eve",
        "Thanksgiving",
        "Easter Sunday",
        "Halloween",
        "Hanukkah",
        "Diwali",
        "Ramadan",
        "New Year's Eve",
        "Lunar New Year",
        "Chinese New Year",
        "Valentine's Day",
        "Mother's Day",
        "Father’s Day",
        "Labor Day",
        "Memorial Day",
        "Independence Day",
        "Boxing Day",
        "Ash Wednesday",
        "Maundy Thursday",
        "Good Friday",
        "Black Friday",
    ],
)
def test_every_holiday_is_found_whole(holiday: str) -> None:
    found = [(anchor.kind, anchor.text) for anchor in find_anchors(f"we met at {holiday} there")]
    assert ("holiday", holiday) in found


@pytest.mark.parametrize("letter", ["Q", "q", "é", "7", "_"])
def test_an_expression_inside_a_word_is_none(letter: str) -> None:
    assert find_anchors(f"{letter}yesterday") == ()
    assert find_anchors(f"yesterday{letter}") == ()
    assert find_anchors(f"{letter}December") == ()
    assert find_anchors(f"December{letter}") == ()
