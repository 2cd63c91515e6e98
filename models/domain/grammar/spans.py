"""What the deontic detector returns: a rule with its place, its force and its action."""

import enum
from dataclasses import dataclass
from typing import NamedTuple


class Modality(enum.StrEnum):
    """The force of a rule (memory-model.md section 6)."""

    OBLIGATION = "obligation"
    PROHIBITION = "prohibition"
    PERMISSION = "permission"


class RuleSpan(NamedTuple):
    """One rule found in a text; `text[start:end]` is the clause that carries it.

    Offsets count code points. A clause that holds two rules ("use tabs, not spaces") gives two spans
    with the same offsets. A tuple, for the detector makes one for every other paragraph of a file.
    """

    modality: Modality
    start: int
    end: int
    action: str  # normalised action words, verb first: "commit secret"
    cue: str  # the words that made it a rule: "never commit"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeonticReading:
    """Every rule of one text, in text order."""

    spans: tuple[RuleSpan, ...]

    @property
    def is_rule(self) -> bool:
        """Say whether the text holds a rule at all."""
        return bool(self.spans)

    @property
    def claims(self) -> list[tuple[str, str]]:
        """Return what the text asks, as pairs of modality and action: enough to tell who contradicts whom."""
        return [(str(span.modality), span.action) for span in self.spans]

    @property
    def modalities(self) -> frozenset[Modality]:
        """Return the set of forces in the text; empty when nothing was found."""
        return frozenset(span.modality for span in self.spans)


NO_RULE = DeonticReading(spans=())
