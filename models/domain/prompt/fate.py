"""What becomes of a candidate: it is in, or there is a reason why not. Decided here, read by explain, receipt and search."""

from dataclasses import dataclass
from typing import Final, Literal

Repetition = Literal["said", "covered", "covers_said", "covers_covered"]
Single = Literal["spoken_for", "homeless"]

_REPETITIONS: Final[dict[Repetition, str]] = {
    "said": "already in the prompt",
    "covered": "a summary in the prompt stands for it",
    "covers_said": "the prompt holds turns that it stands for",
    "covers_covered": "another summary in the prompt stands for the same turns",
}
_SINGLES: Final[dict[Single, str]] = {
    "spoken_for": "another of its session stands for it",
    "homeless": "it belongs to no session",
}


@dataclass(frozen=True, slots=True)
class Fate:
    """In, or out for one reason."""

    reason: str | None = None  # why it is out; None: it is in
    wants_room: bool = False  # it would be in, had there been more

    @property
    def is_in(self) -> bool:
        return self.reason is None


IN: Final = Fate()


def decide_fate(
    *,
    overruled_by: str | None = None,  # the authored rule that contradicts a wish
    under_floor: float | None = None,  # the score that a recalled item must reach
    ranked_behind: int | None = None,  # so many came before it that it was not tried
    is_small_talk: bool = False,  # it carries nothing by itself
    is_filtered: bool = False,  # a filter of the search does not let it through
    is_feasible: bool = True,  # hard rules and base tail leave room for anything else at all
    is_shown: bool = False,  # the host shows it anyway
    is_before_tail: bool = False,
    repetition: Repetition | None = None,  # of what is in the prompt
    repeats: str | None = None,  # the better candidate that says nearly the same
    reserve: int | None = None,  # tokens of the reserve that is used up
    room: int | None = None,  # tokens of its tier, of which too few are left
    is_taken_back: bool = False,
    single: Single | None = None,  # one of each session is listed, and it is another
    listed: int | None = None,  # so many are listed before it
) -> Fate:
    """The fate of a candidate by what is known of it; where several things keep it out, the first above is the reason.

    >>> decide_fate(), decide_fate(repeats="m1", room=20)
    (Fate(reason=None, wants_room=False), Fate(reason='nearly the same as m1, which ranks higher', wants_room=False))
    """
    if overruled_by is not None:
        return Fate(f"overruled by the authored rule {overruled_by}")
    if under_floor is not None:
        return Fate(f"scores under the floor of {under_floor:g}")
    if ranked_behind is not None:
        return Fate(f"ranked behind the first {ranked_behind}", wants_room=True)
    if is_small_talk:
        return Fate("carries nothing by itself")
    if is_filtered:
        return Fate("a filter leaves it out")
    if not is_feasible:
        return Fate("the budget is infeasible", wants_room=True)
    if is_shown:
        return Fate("the host shows it")
    if is_before_tail:
        return Fate("before the beginning of the tail")
    if repetition is not None:
        return Fate(_REPETITIONS[repetition])
    if repeats is not None:
        return Fate(f"nearly the same as {repeats}, which ranks higher")
    if reserve is not None:
        return Fate(f"soft reserve of {reserve} tokens is used up", wants_room=True)
    if room is not None:
        return Fate(f"does not fit what is left of {room} tokens", wants_room=True)
    if is_taken_back:
        return Fate("the whole text counts more than its parts", wants_room=True)
    if single is not None:
        return Fate(_SINGLES[single])
    if listed is not None:
        return Fate(f"behind the first {listed}")
    return IN
