"""Writes what a run found into docs/mutation.md: the score of every module, and every survivor with a reason."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import libcst as cst

from bench.mutants.making import Mutant
from bench.mutants.results import NOTICED, Score, count_module
from bench.mutants.rules import RULES
from bench.mutants.running import Outcome

PAGE = Path("docs/mutation.md")
BEGIN, END = "<!-- begin: python -m bench.mutants --report -->", "<!-- end -->"
BEGIN_RULES, END_RULES = "<!-- begin: rules -->", "<!-- end: rules -->"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a fault may live: what its group has in common, and how it is recognised."""

    title: str
    why: str
    holds: Callable[[Mutant, str, str], bool]  # the mutant, the line before, the line after


def _is_text(mutant: Mutant, before: str, after: str) -> bool:  # noqa: ARG001
    return isinstance(mutant.mutation.original_node, cst.SimpleString)


def _is_default(mutant: Mutant, before: str, after: str) -> bool:
    falsy = r"(?:None|False|\"\"|\(\))"
    same = re.sub(rf"= {falsy}", "= _", before) == re.sub(rf"= {falsy}", "= _", after)
    return same and before != after and isinstance(mutant.mutation.original_node, cst.Assign | cst.AnnAssign)


def _is_comparison(mutant: Mutant, before: str, after: str) -> bool:  # noqa: ARG001
    pair = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
    operator = getattr(mutant.mutation.original_node, "operator", None)
    other = getattr(mutant.mutation.mutated_node, "operator", None)
    if operator is None or other is None:
        return False
    empty = cst.Module([])
    was, becomes = (empty.code_for_node(node).strip() for node in (operator, other))
    return pair.get(was) == becomes


def _ignores_case(mutant: Mutant, before: str, after: str) -> bool:
    """Letters in the other case, in an expression that reads both alike."""
    if before.lower() != after.lower() or not _is_text(mutant, before, after):
        return False
    holder = next(part for part in mutant.tree.body if _holds(part, mutant.mutation.original_node))
    return "IGNORECASE" in mutant.tree.code_for_node(holder)


def _holds(node: cst.CSTNode, wanted: cst.CSTNode) -> bool:
    return node is wanted or any(_holds(child, wanted) for child in node.children)


# Read by hand: (module, what the mutant holds) and why nothing can tell it from the code.
EQUAL = {
    (
        "guidance",
        "is not Modality.PROHIBITION",
    ): "for and against change places; only their opposition is read",
    ("guidance", "default=None"): "clamp01 reads None as 0",
    (
        "guidance",
        "has_surface_hint: bool = True",
    ): "the booster is 0 by default, so the hint alone protects nothing",
    ("patterns", "start = None"): "a slice from None is a slice from 0",
    (
        "patterns",
        "range(len(word))",
    ): "at 0 the word is cut before its first letter, and empty parts are left out",
    ("patterns", "isupper() and token.istitle"): "a shortcut; words in capitals are no identifier either way",
    (
        "patterns",
        "islower() and token.isupper",
    ): "a shortcut; words in small letters are no identifier either way",
    ("clustering", "6F0E5B0A"): "a UUID reads the same in capitals",
    ("scoring", "2.0)"): "the quotient is at most 1 already; the cap guards against rounding",
    ("scoring", "access_count < 0"): "log(1 + 0) is 0",
    ("scoring", 'form="seed_linear", lexical_weight=0.0)'): "the linear form does not read omega0",
    ("scoring", 'form="seed_linear", omega0=1.0'): "the linear form does not read omega0",
    ("tokens", "_FIND_CJK.search(telling, )"): "a search from the start finds the same; it only reads more",
    (
        "gating",
        "_nearest(turn_similarities, None)",
    ): "five hits among the ten nearest are five hits among all",
    ("markers", "not marker and marker not in text"): "a shortcut; no block bears a marker that is not there",
    ("markers", "end <"): "what closes a block never stands at the very start of the text",
    ("escaping", "done = None"): "a slice from None is a slice from 0",
    ("escaping", "(pieces) or True"): "without pieces the rest is the whole text",
    ("anchors", '"XX XX".join'): "only whether two expressions are the same is read",
    ("patterns", 'strip("XX.XX")'): "an identifier is in small letters by then",
    (
        "sanitizing",
        '_PARAMETER: Final = r"[A-Z0-9',
    ): "the expression it becomes part of reads both cases alike",
    ("overruling", "if not rules and not wishes"): "a shortcut; with neither there is no pair to compare",
    ("lineage", '[child] = ""'): "a dict used as an ordered set; its values are never read",
    ("deontic_actions", "raw.isalpha()) and False"): "a shortcut; a word of letters has no mark to strip",
    ("deontic_authored", "(spans) or True"): "a reading without spans equals NO_RULE",
    ("deontic_clauses", "done = None"): "a search from None is a search from 0",
    ("deontic_clauses", "or True else _hide_simple_code"): "a shortcut; the expression finds the same code",
    ("deontic_clauses", "end <"): "what closes a comment never stands before what opens it",
    ("deontic_commands", '"XX\'sXX"'): "a word that ends in 's ends in s, which rules it out as well",
    ("deontic_conversation", "(is_marked) or True"): "a shortcut; without a marker nothing lasts",
    (
        "deontic_frames",
        '("*" in folded) or True',
    ): "a shortcut; a text without stars is the same without them",
    ("deontic_frames", 'lastgroup or "XXXX"'): "every alternative of the frame is a named group",
    ("deontic_frames", '"PREFER"'): "the words of an action are read in small letters",
    ("deontic_evidence", "body.split(None, 3)"): "words are joined with single blanks",
    ("extraction", "day = None"): "both read as no day",
    ("authored", "to_bytes(8, )"): "big is the default",
    ("tokens", '"XX'): "no letter of ASCII reaches the expression",
    ("conflicts", '"XXweekdayXX"'): "the name of a slot, the same on both sides",
    ("conflicts", '"WEEKDAY"'): "the name of a slot, the same on both sides",
    ("conflicts", '"XXmoneyXX"'): "the name of a slot, the same on both sides",
    ("conflicts", '"MONEY"'): "the name of a slot, the same on both sides",
    ("conflicts", '"XXclockXX"'): "the name of a slot, the same on both sides",
    ("conflicts", '"CLOCK"'): "the name of a slot, the same on both sides",
    ("conflicts", "_DENIED: Final = None"): "the name of a slot; None is one as well",
    ("conflicts", "_STATED: Final = None"): "the name of a slot; None is one as well",
    ("conflicts", '"XX XX".join'): "only whether two values are the same is read",
    ("deontic_conversation", "(spans) or True"): "a reading without spans equals NO_RULE",
    (
        "deontic_conversation",
        "(lead is None) and False",
    ): "the expression matches nothing at least, so there is a lead always",
    (
        "deontic_conversation",
        "_Weighed(None, [], [], frozenset())",
    ): "nobody reads the rest of a sentence without cues",
    (
        "deontic_conversation",
        "_Weighed(sentence, None, [], frozenset())",
    ): "nobody reads the rest of a sentence without cues",
    (
        "deontic_conversation",
        "_Weighed(sentence, [], None, frozenset())",
    ): "nobody reads the rest of a sentence without cues",
    ("deontic_conversation", "unwrap=None"): "None is as false as False",
}


def find_note(mutant: Mutant, after: str) -> str | None:
    """Why this very mutant is no fault, if somebody has shown it."""
    module = mutant.module.rpartition(".")[2]
    return next((note for (name, part), note in EQUAL.items() if name == module and part in after), None)


REASONS = (
    Reason(
        "the same behaviour",
        "Read one by one: nothing outside can tell these from the code.",
        lambda mutant, _before, after: find_note(mutant, after) is not None,
    ),
    Reason(
        "capitals where case does not count",
        "The expression is compiled to read both cases alike.",
        _ignores_case,
    ),
    Reason(
        "the words of an error",
        "A message for a person. Tests check that the subject, the number and the remedy are in it, not each letter.",
        lambda mutant, _before, _after: mutant.in_raise,
    ),
    Reason(
        "another way to say the same",
        "An argument that states the default or what the input is already: `strict=` over lists made equally long, "
        "a `dtype` of what is a float, a clip of what lies inside.",
        lambda _mutant, before, _after: bool(
            re.search(r"strict=|dtype=|astype|np\.clip|maxsplit|key=", before)
        ),
    ),
    Reason(
        "letters more in a set of marks",
        "A set of characters to strip or to look for, with a capital X in it: the text has none there, mostly because "
        "it is in small letters by then.",
        lambda _mutant, before, after: bool(
            re.search(r"(?:strip\(|\bin |frozenset\()\"XX", after) and not re.search(r"\"XX", before)
        ),
    ),
    Reason(
        "a search without its end",
        "A search in one sentence that may read on: it differs where only a later sentence holds what is looked for, "
        "and most of those look at a place, not for a word.",
        lambda _mutant, before, after: bool(
            re.search(r"(?:search|match|finditer|find_segment_end|find)\([^()]*, \)", after)
            and not re.search(r", \)", before)
        ),
    ),
    Reason(
        "an equally empty default",
        "`None`, `False` and an empty string all read as “not said”; types keep them apart, behaviour does not.",
        _is_default,
    ),
    Reason(
        "one edge of a word list or pattern",
        "A table that calibration chose: an alternative, or a letter class, that no sentence in the tests needs. "
        "Its effect is measured by the benchmarks on labelled text, not sentence by sentence.",
        lambda mutant, before, after: mutant.function is None and _is_text(mutant, before, after),
    ),
    Reason(
        "a comparison at its exact bound",
        "Differs only when two numbers are exactly equal, mostly sums of floats or lengths of text.",
        _is_comparison,
    ),
    Reason(
        "a bound that calibration set",
        "A number of a table (a window, a cap, a count of words) moved by one; the claims hold on both sides.",
        lambda mutant, _before, _after: isinstance(mutant.mutation.original_node, cst.Integer | cst.Float),
    ),
    Reason(
        "open",
        "No reason but that no test asks. Each is a place where a claim could still be written.",
        lambda _mutant, _before, _after: True,
    ),
)


def write_page(mutants: dict[str, list[Mutant]], outcomes: dict[str, Outcome]) -> None:
    """Put the newest scores and survivors between the marks of the page."""
    scores = [count_module(module, made, outcomes) for module, made in mutants.items()]
    found = [mutant for made in mutants.values() for mutant in made if mutant.key in outcomes]
    lived = [mutant for mutant in found if outcomes[mutant.key] not in NOTICED]
    rules = ["| invariant | its test |", "|---|---|", *(f"| {r.invariant} | `{r.test}` |" for r in RULES)]
    text = _put_between(PAGE.read_text(), BEGIN_RULES, END_RULES, "\n".join(rules))
    body = "\n\n".join((_write_scores(scores), _write_survivors(lived, outcomes)))
    PAGE.write_text(_put_between(text, BEGIN, END, body))


def _put_between(text: str, begin: str, end: str, body: str) -> str:
    head, rest = text.split(begin)
    return f"{head}{begin}\n\n{body}\n\n{end}{rest.split(end, maxsplit=1)[1]}"


def _write_scores(scores: list[Score]) -> str:
    lines = ["| module | mutants | run | noticed | survived | share | |", "|---|--:|--:|--:|--:|--:|---|"]
    for score in scores:
        name = score.module.rpartition(".")[2]
        lived = score.ran - score.noticed
        lines.append(
            f"| {name} | {score.made} | {score.ran} | {score.noticed} | {lived} | {score.share:.1%} |"
            f" {name_part(score)} |"
        )
    made, ran, noticed = (sum(getattr(s, field) for s in scores) for field in ("made", "ran", "noticed"))
    lines.append(
        f"| **all** | {made} | {ran} | {noticed} | {ran - noticed} | **{noticed / max(ran, 1):.1%}** |"
        f" {sum(score.ran == score.made for score in scores)} of {len(scores)} modules whole |"
    )
    known = [score for score in scores if score.ran]
    made_share = sum(score.share * score.made for score in known) / max(sum(score.made for score in known), 1)
    note = f"\n\nEach module weighed by all its mutants, run or not: {made_share:.1%}."
    return "\n".join(lines) + note


def name_part(score: Score) -> str:
    """Whether all mutants of a module were run, most of them, a sample, or none."""
    if score.ran == score.made:
        return "whole"
    if score.ran > score.made / 2:
        return f"all but {score.made - score.ran}"
    return "sample" if score.ran else "not run"


def _write_survivors(lived: list[Mutant], outcomes: dict[str, Outcome]) -> str:
    entries = []
    for mutant in lived:
        before, after = mutant.changed_lines()
        place = next(i for i, reason in enumerate(REASONS) if reason.holds(mutant, before, after))
        note = find_note(mutant, after)
        entries.append((place, mutant.module, mutant, *_shorten(before, after), f" ({note})" if note else ""))
    parts = []
    for place, group in groupby(sorted(entries, key=lambda entry: entry[:2]), key=lambda entry: entry[0]):
        rows = list(group)
        parts.append(f"### {REASONS[place].title.capitalize()} ({len(rows)})\n\n{REASONS[place].why}\n")
        for module, same in groupby(rows, key=lambda entry: entry[1]):
            parts.append(f"- **{module.rpartition('.')[2]}**")
            for _, _, mutant, was, becomes, note in same:
                where = f"{mutant.function or 'table'}, line {mutant.line}"
                unreached = ", no test reaches it" if outcomes[mutant.key] == "unreached" else ""
                parts.append(f"  - {where}{unreached}: `{was}` → `{becomes}`{note}")
        parts.append("")
    return "\n".join(["## Survivors, and why", "", *parts]).rstrip()


def _shorten(before: str, after: str) -> tuple[str, str]:
    """The words that differ, with a little of what stands around them."""
    left = 0
    while left < min(len(before), len(after)) and before[left] == after[left]:
        left += 1
    right = 0
    while right < min(len(before), len(after)) - left and before[-1 - right] == after[-1 - right]:
        right += 1
    start = max(0, left - 24)
    both = tuple(text[start : max(left, len(text) - right) + 24] for text in (before, after))
    was, becomes = ((text if len(text) <= 90 else text[:87] + "…").replace("`", "'") for text in both)
    return was, becomes
