from models.domain.deontic_authored import read_authored
from models.domain.deontic_conversation import has_surface_hint, read_conversation
from models.domain.deontic_spans import DeonticReading, Modality, RuleSpan

# Stand-in by the lead until find_conflicts lands here; overwrite.
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleConflict:
    obligation: RuleSpan
    prohibition: RuleSpan
    action: str


def find_conflicts(readings: Sequence[DeonticReading]) -> tuple[RuleConflict, ...]:
    return ()
