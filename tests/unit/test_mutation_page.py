"""docs/mutation.md speaks of the domain as it is."""

import re
from pathlib import Path

from bench.mutants.rules import RULES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/mutation.md").read_text()


def test_the_page_has_a_row_for_every_module_of_the_domain() -> None:
    rows = re.findall(
        r"^\| (\w+) \| \d+ \| \d+ \| \d+ \| \d+ \| [\d.]+% \| (?:whole|all but \d+|sample) \|$",
        PAGE,
        re.MULTILINE,
    )
    domain = sorted(path.stem for path in (ROOT / "models/domain").glob("[!_]*.py"))
    assert rows == domain, "renew the page: python -m bench.mutants --minutes 0 --report"


def test_the_share_of_the_page_is_enough_and_adds_up() -> None:
    rows = re.findall(r"^\| \w+ \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", PAGE, re.MULTILINE)
    sums = [sum(int(row[column]) for row in rows) for column in range(4)]
    total = re.search(r"\| \*\*all\*\* \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", PAGE)
    assert total is not None
    assert [int(number) for number in total.groups()] == sums
    assert sums[2] >= 0.85 * sums[1]


def test_every_rule_can_still_be_broken_as_written() -> None:
    """A rule whose line was rewritten would break nothing, and prove nothing."""
    for rule in RULES:
        source = (ROOT / "models/domain" / f"{rule.module}.py").read_text()
        assert source.count(rule.was) == 1, rule.invariant
        file, _, name = rule.test.partition("::")
        function = name.rpartition("::")[2].partition("[")[0]
        assert f"def {function}(" in (ROOT / "tests/unit" / file).read_text(), rule.test


def test_every_rule_is_on_the_page() -> None:
    for rule in RULES:
        assert rule.invariant in PAGE
