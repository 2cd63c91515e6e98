"""docs/configuration.md against the settings: every variable is there once, with the default it has."""

import re
from pathlib import Path

import pytest

from models.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `LONGTAIL_(\w+)` \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)


def test_every_setting_has_one_row_and_no_row_is_of_another() -> None:
    assert sorted(name.lower() for name, _, _ in ROWS) == sorted(Settings.model_fields)


@pytest.mark.parametrize(("name", "written", "meaning"), ROWS)
def test_a_row_says_the_default_and_what_it_is_for(name: str, written: str, meaning: str) -> None:
    default = Settings.model_fields[name.lower()].get_default()
    if name != "HOME":  # its default depends on who asks
        assert written == (
            "none" if default is None else f"{default:g}" if isinstance(default, float) else str(default)
        )
    assert len(meaning) > 5
