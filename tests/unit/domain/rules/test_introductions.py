"""The sentence above a list: which one it is, and what it makes of the items."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.rules.detector import DeonticReading, Modality, read_authored
from models.domain.rules.introductions import (
    MAX_INTRODUCTION_CHARACTERS,
    find_introduction,
    lend_force,
    read_force,
)

BAN, DUTY, LEAVE = Modality.PROHIBITION, Modality.OBLIGATION, Modality.PERMISSION


class TestFinding:
    @pytest.mark.parametrize(
        ("paragraph", "introduction"),
        [
            ("Never:", "Never:"),
            ("You must\nnot:", "You must not:"),
            ("**Never:**", "**Never:**"),
            ("**Never**:", "**Never**:"),
            ("Be kind. Do not:", "Do not:"),
            ("Be kind! **Do not:**", "**Do not:**"),
            ("Use a tool (e.g. Ruff) that can:", "Use a tool (e.g. Ruff) that can:"),
            ("Version 1.2 must not:", "Version 1.2 must not:"),
            ("**Don't**", "**Don't**"),
            ("__Never do this__", "__Never do this__"),
        ],
    )
    def test_it_is_the_sentence_that_ends_with_a_colon_or_one_emphasised_line(
        self, paragraph: str, introduction: str
    ) -> None:
        assert find_introduction(paragraph) == introduction

    @pytest.mark.parametrize(
        "paragraph",
        [
            "",
            "Use tabs.",
            "Mind: the gap.",
            "**Use** tabs",
            "**Use**\n**tabs**",
            "** **",
            "**" + "x" * 300 + "**",
        ],
    )
    def test_other_paragraphs_introduce_nothing(self, paragraph: str) -> None:
        assert find_introduction(paragraph) is None

    def test_of_a_long_sentence_the_end_is_kept_from_a_word_on(self) -> None:
        found = find_introduction("word " * 100 + "and you must not:")
        assert found is not None
        assert found.startswith("… word ") and found.endswith(" and you must not:")
        assert len(found) <= MAX_INTRODUCTION_CHARACTERS + 2

    def test_of_a_long_word_the_end_is_kept(self) -> None:
        assert find_introduction("x" * 1000 + ":") == "… " + "x" * (MAX_INTRODUCTION_CHARACTERS - 1) + ":"

    @pytest.mark.parametrize("unit", ["a. ", "**", "a ", "*_", ". A"])
    def test_a_megabyte_is_searched_in_linear_time(self, unit: str) -> None:
        for end in ("", ":"):
            find_introduction(unit * (1_000_000 // len(unit)) + end)

    @given(st.text(max_size=400))
    def test_what_is_found_fits_on_one_line_and_in_the_cap(self, paragraph: str) -> None:
        found = find_introduction(paragraph)
        if found is not None:
            assert found == " ".join(found.split())
            assert len(found) <= MAX_INTRODUCTION_CHARACTERS + 2
            read_force(found)


class TestForce:
    @pytest.mark.parametrize(
        ("introduction", "modality"),
        [
            ("Never:", BAN),
            ("**Never**", BAN),
            ("Don’t:", BAN),
            ("Do not:", BAN),
            ("Please do not ever do the following:", BAN),
            ("You must not:", BAN),
            ("When you deploy, you **must never**:", BAN),
            ("Agents may not do any of these:", BAN),
            ("Secrets should not be:", BAN),
            ("What not to do:", BAN),
            ("Avoid:", BAN),
            ("Forbidden:", BAN),
            ("The following are not allowed:", BAN),
            ("You cannot:", BAN),
            ("Always:", DUTY),
            ("**Do:**", DUTY),
            ("You must:", DUTY),
            ("Before a release, make sure to:", DUTY),
            ("Do not forget:", DUTY),
            ("You may:", LEAVE),
            ("You can:", LEAVE),
            ("Feel free to:", LEAVE),
            ("Allowed:", LEAVE),
        ],
    )
    def test_words_of_force_at_the_end_are_lent_to_the_items(
        self, introduction: str, modality: Modality
    ) -> None:
        force = read_force(introduction)
        assert force is not None
        assert force.modality is modality
        assert force.verb is None
        assert force.cue

    @pytest.mark.parametrize(
        ("introduction", "verb"),
        [
            ("Never commit:", "commit"),
            ("You must not edit:", "edit"),
            ("Avoid using:", "using"),
            ("In tests, do not mock:", "mock"),
        ],
    )
    def test_a_ban_with_a_verb_acts_on_the_items(self, introduction: str, verb: str) -> None:
        force = read_force(introduction)
        assert force is not None
        assert (force.modality, force.verb) == (BAN, verb)

    @pytest.mark.parametrize(
        "introduction",
        [
            "Examples:",
            "Use the following tools:",
            "If you must:",
            "When you may not:",
            "If you do not have:",
            "Things that do not work:",
            "Files we never touch:",
            "Commit only when:",
            "Not required:",
            "It never does that, for example:",
            "The musts:",
        ],
    )
    def test_other_introductions_lend_none(self, introduction: str) -> None:
        assert read_force(introduction) is None


class TestLending:
    def read(self, introductions: list[str], text: str) -> list[tuple[Modality, str]]:
        reading = lend_force(introductions, text, read_authored(text))
        return [(span.modality, span.action) for span in reading.spans]

    def test_a_command_under_a_ban_is_forbidden(self) -> None:
        assert self.read([], "- push to main") == [(DUTY, "push main")]
        assert self.read(["Never:"], "- push to main") == [(BAN, "push main")]
        assert self.read(["You may:"], "- push to main") == [(LEAVE, "push main")]
        assert self.read(["You must:"], "- push to main") == [(DUTY, "push main")]

    def test_its_cue_names_both(self) -> None:
        reading = lend_force(["Never:"], "- push to main", read_authored("- push to main"))
        assert reading.spans[0].cue == "never: push"

    @pytest.mark.parametrize(
        ("introduction", "modality"), [("Never:", BAN), ("Always:", DUTY), ("You may:", LEAVE)]
    )
    def test_an_item_without_a_rule_becomes_one(self, introduction: str, modality: Modality) -> None:
        for marker in ("- ", "  * ", "3. ", "- [ ] ", ""):
            text = f"{marker}secrets in logs \n"
            reading = lend_force([introduction], text, DeonticReading(spans=()))
            (span,) = reading.spans
            assert (span.modality, text[span.start : span.end]) == (modality, "secrets in logs")
            assert span.action == "secrets log"

    def test_under_a_ban_with_a_verb_the_item_is_what_is_acted_on(self) -> None:
        assert self.read(["Never commit:"], "* secrets") == [(BAN, "commit secret")]
        assert self.read(["Never commit:"], "* build output") == [(BAN, "commit build output")]

    def test_what_already_forbids_still_forbids(self) -> None:
        for introduction in ("Never:", "You may:", "Always:", "Never commit:"):
            assert self.read([introduction], "- Do not skip tests.") == [(BAN, "skip test")]

    def test_the_nearest_introduction_with_force_counts(self) -> None:
        assert self.read(["Never:", "In production:"], "- push to main") == [(BAN, "push main")]
        assert self.read(["Never:", "You may:"], "- push to main") == [(LEAVE, "push main")]
        assert self.read(["Examples:"], "- push to main") == [(DUTY, "push main")]

    def test_an_empty_item_stays_silent(self) -> None:
        assert self.read(["Never:"], "- ") == []


@pytest.mark.parametrize(
    ("introduction", "cue", "verb"),
    [
        ("Never:", "never", None),
        ("In tests, never:", "never", None),
        ("In tests; you must not:", "must not", None),
        ("In tests — never commit:", "never commit", "commit"),
        ("Do not forget:", "do not forget", None),
        ('Never!"', "never", None),
        ("Never)", "never", None),
        ("Never.", "never", None),
        ("Never,", "never", None),
        ("If you must, always:", "always", None),
    ],
)
def test_the_cue_is_the_words_of_force_alone(introduction: str, cue: str, verb: str | None) -> None:
    force = read_force(introduction)
    assert force is not None
    assert (force.cue, force.verb) == (cue, verb)


def test_a_condition_counts_in_the_last_clause_only() -> None:
    assert read_force("Always sign; if in doubt, when you must:") is None
    assert read_force("If in doubt, sign; you must:") is not None
