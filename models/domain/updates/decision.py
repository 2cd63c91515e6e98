"""Whether a newer claim of a speaker replaces an older one: same subject and attribute, another value (section 7).

Each way to be sure is a conjunction of structure (what both name, where they differ, whether the newer says that something
changed) and of how alike the two sentences are. What fits none replaces nothing: a wrong mark costs more than a missing one.
"""

from typing import Final

from models.domain.updates.claims import Claim
from models.domain.updates.contrasts import find_contrast
from models.domain.updates.verdict import COMMON_WORDS, SPEAKER, TIME_WORDS, Verdict

LEAST_CHANGED: Final = 0.3  # of one attribute, where the newer says that something changed, and other things
LEAST_COSINE: Final = 0.2  # under it two sentences are never compared
COMMON_UNITS: Final = frozenset(
    [
        "hour",
        "minut",
        "second",
        "day",
        "week",
        "month",
        "year",
        "tim",
        "people",
        "percent",
        "person",
        "thing",
        "on",
        *("mil", "kilomet", "km", "pag", "pound", "kilo", "kg", "gram", "litr"),
        "dat",
    ]
)
# Values that are said of many things: two of them contradict only where the rest is the same.
COMMON_VALUES: Final = frozenset(
    {"weekday", "month", "season", "daytime", "length", "workplace", "school", "mode", "commute"}
)
FIXED_UNITS: Final = frozenset(
    {"clock", "port", "room", "floor", "gate", "platform", "version"}
)  # numbers that are no measure
_PRICE_LIST: Final = """
    someth around rang mid-rang cost spend spent budget pric pay paid consider dollar reasonabl buy bought sav
"""
PRICE_WORDS: Final = COMMON_WORDS | frozenset(_PRICE_LIST.split())
LEAST_PRICED: Final = 2  # words that say of what a price is
LEAST_SAME_PRICE: Final = 0.75  # cosine at which a price is of the same, whatever it is of
MOST_TIMES_DEARER: Final = 5.0  # of one thing, from one day to another


def decide(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """The reason for which the newer claim replaces the older; None when it does not.

    >>> from models.domain.updates.claims import read_claims
    >>> was, now = (read_claims(text)[0] for text in ("My rent is 900 euros.", "My rent is 950 euros now."))
    >>> decide(was, now, 0.9)
    Verdict(reason='number', about='money')
    """
    if cosine < LEAST_COSINE or older.text == newer.text:
        return None
    if older.is_wish and not newer.is_wish and not newer.has_change:
        return None  # a statement ends a rule only if it says that something changed
    if older.conditions and newer.conditions and not older.conditions & newer.conditions:
        return None  # "when you write to the bank …", "when you write to friends …"
    return (
        _find_denied(older, newer, cosine)
        or _find_number(older, newer, cosine)
        or _find_value(older, newer, cosine)
        or _find_revoked(older, newer, cosine)
        or _find_changed(older, newer, cosine)
        or _find_renamed(older, newer, cosine)
        or find_contrast(older, newer, cosine)
    )


def _share_subject(older: Claim, newer: Claim) -> bool:
    """Whether both speak of the same: one subject in common, or the one's subject is named in the other."""
    if (older.subjects & newer.subjects) - {"you"} or (older.is_wish and newer.is_wish):
        return True
    if newer.is_answer and newer.is_short:
        return True
    return bool((older.subjects - SPEAKER) & newer.words or (newer.subjects - SPEAKER) & older.words)


def _are_both_own(older: Claim, newer: Claim) -> bool:
    """Whether both are about the speaker and nobody else."""
    return older.is_own and newer.is_own and not _are_others(older, newer)


def _are_others(older: Claim, newer: Claim) -> bool:
    """Whether they are about different people: "my brother …", "my cousin …"."""
    return older.people != newer.people and not (newer.subjects - SPEAKER) & older.words


def _find_denied(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """The same words, but for a "not"."""
    if older.is_denied == newer.is_denied or newer.is_hedged or older.is_hedged:
        return None
    is_told = older.is_wish or newer.has_change or newer.has_hint
    if (older.is_wish != newer.is_wish and not newer.is_lifted) or (
        not is_told and (older.is_mood or newer.is_mood)
    ):
        return None
    shared = older.words & newer.words
    least_shared = max(
        1
        if (older.is_wish and newer.is_lifted)
        or (is_told and older.is_short and newer.is_short and cosine >= 0.65)
        else 2,
        (0.4 if newer.is_lifted else 0.5 if is_told else 0.75) * min(len(older.words), len(newer.words)),
    )
    if len(shared) < least_shared or not (_share_subject(older, newer) or newer.is_lifted):
        return None
    return Verdict("denied", " ".join(sorted(shared))) if cosine >= (0.55 if is_told else 0.72) else None


def _find_number(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """The same thing is counted or dated, with another number."""
    if (newer.is_event and not (newer.is_total or newer.has_change)) or (
        older.is_event and not older.is_total
    ):
        return None
    is_own = (
        newer.is_own
        or newer.is_wish
        or (older.is_own and (newer.is_total or bool(newer.subjects & older.words)))
    )
    if _is_told_apart(older, newer, frozenset()):
        return None
    is_fixed = newer.has_hint and cosine >= 0.75 and _count(older) & _count(newer) & FIXED_UNITS
    if not (newer.has_change or is_fixed or (is_own and (older.is_own or older.is_wish))) or _are_others(
        older, newer
    ):
        return None  # a reading: nobody's, and nothing is said to have changed
    shared = older.words & newer.words
    is_one = bool((older.subjects & newer.subjects) - SPEAKER)
    same = {value for value, _ in older.numbers} & {value for value, _ in newer.numbers}
    for value, units in newer.numbers:
        for was, known in older.numbers:
            about = units & known
            if newer.is_hedged and not newer.is_total and value not in newer.firm:
                continue  # a plan or a guess: "Tuesday at 2:00 could work"
            if value in same or was in same or _are_other_sums(was, value, units):
                continue
            if not about and newer.is_total and cosine >= 0.55:
                about = (known & newer.words if not units else frozenset()) | (
                    units & older.words if not known else frozenset()
                )
            rest = shared - about
            is_plain = newer.has_change or is_one or cosine >= LEAST_SAME_PRICE
            if about == {"money"} and not is_plain and len(rest - PRICE_WORDS) < LEAST_PRICED:
                continue  # "something around $50": of what, nobody says
            if about <= {"clock", "dat"} and not rest - TIME_WORDS:
                continue
            if about == {"dat"} and not (newer.has_change or is_one):
                continue  # what happened on two days
            if (
                not about
                or (not rest and (cosine < 0.6 or (newer.is_added and not newer.is_total)))
                or not (_share_subject(older, newer) or len(rest) >= (1 if newer.has_change else 2))
            ):
                continue
            least = 0.6 if about <= COMMON_UNITS else 0.48
            if older.names & newer.names or len(rest) >= 3:
                least -= 0.12
            if cosine >= least:
                return Verdict("number", " ".join(sorted(about)))
    return None


def _are_other_sums(was: str, value: str, units: frozenset[str]) -> bool:
    """Whether two sums of money are too far apart to be of one thing: a fare of $6, a month's $240."""
    if units != {"money"}:
        return False
    try:
        low, high = sorted((float(was), float(value)))
    except ValueError:
        return False
    return low <= 0 or high / low > MOST_TIMES_DEARER


def _count(claim: Claim) -> frozenset[str]:
    """All that a claim counts or numbers."""
    return frozenset(unit for _, units in claim.numbers for unit in units)


def _find_value(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """Of one attribute, another of its known values."""
    if (newer.is_event and not newer.has_change) or (newer.is_hedged and cosine < 0.75):
        return None
    before = dict(older.values)
    for attribute, values in newer.values:
        known = before.get(attribute, frozenset())
        is_over = bool(known & newer.revoked)
        if (
            not known
            or not values - known
            or (known <= values and not (newer.has_change or is_over or newer.has_hint))
        ):
            continue
        rest = (older.words & newer.words) - values - known
        mine, yours = older.words - values - known, newer.words - values - known
        if older.numbers and newer.numbers and not newer.has_change:
            continue  # "the first milestone", "the second milestone"
        is_one = is_over or _share_subject(older, newer) or (newer.has_change and _are_both_own(older, newer))
        if not is_one or _is_told_apart(older, newer, values | known):
            continue
        is_told = newer.has_change or newer.is_wish or newer.has_hint
        if attribute in COMMON_VALUES:
            is_same = bool(rest) and (is_told or cosine >= 0.72)
            least = 0.5 if is_told else 0.72
        else:
            is_same = bool(rest) or not mine or not yours or is_over or newer.has_change
            is_same = is_same or (cosine >= 0.7 and not newer.is_wish)
            least = (
                LEAST_COSINE
                if newer.is_wish and rest
                else 0.28
                if is_over or newer.has_change
                else 0.4
                if is_told
                else 0.62
                if len(rest) > 1
                else 0.72
            )
        if is_same and cosine >= least:
            return Verdict("value", attribute)
    return None


def _is_told_apart(older: Claim, newer: Claim, values: frozenset[str]) -> bool:
    """Whether names that are no values of the attribute tell the two apart: "Anna …", "Ben …"."""
    mine, yours = (
        {name for name in claim.names if not any(name.startswith(value) for value in values)}
        for claim in (older, newer)
    )
    return bool(mine and yours and not mine & yours)


def _find_revoked(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """The newer says that what the older says is over: "no longer …", "instead of …", "… is fine"."""
    over = (newer.revoked & older.words) - COMMON_WORDS
    if (
        not over
        or newer.is_hedged
        or older.is_denied
        or older.is_event
        or not (older.is_own or older.is_wish)
    ):
        return None
    if not (older.is_standing or older.is_wish):
        return None
    is_same = _share_subject(older, newer) or bool(older.attributes & newer.attributes)
    return Verdict("revoked", " ".join(sorted(over))) if is_same and cosine >= 0.42 else None


def _find_changed(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """The newer says that something changed, and both are about one attribute of one subject."""
    shared = older.words & newer.words
    if older.is_wish and newer.is_wish:  # "from now on …", about the same matter
        if older.is_mood or newer.is_mood:
            return None
        gone, come = older.words - newer.words, newer.words - older.words
        is_swap = len(gone) == len(come) == 1 and cosine >= 0.7 and not _are_of_other_kinds(older, newer)
        is_told = newer.has_change and cosine >= 0.55 and (len(shared) >= 2 or len(older.words) <= 3)
        return (
            Verdict("changed", " ".join(sorted(shared)))
            if shared and gone and come and (is_swap or is_told)
            else None
        )
    if (
        newer.is_hedged
        or older.is_event
        or older.is_wish
        or not older.is_standing
        or older.is_mood
        or newer.is_mood
    ):
        return None
    if older.is_denied or _are_others(older, newer):
        return None
    about = (older.attributes & newer.attributes) - COMMON_VALUES
    is_brief = older.is_short and newer.is_short
    is_repeated = len(shared) > 0.6 * len(older.words)
    is_told = (newer.has_change and cosine >= (LEAST_COSINE if is_brief else LEAST_CHANGED)) or (
        newer.has_hint and cosine >= 0.5
    )
    is_one = _share_subject(older, newer) or _are_both_own(older, newer)
    if about and not is_repeated and is_one and is_told:
        return Verdict("changed", " ".join(sorted(about)))
    things = ((older.subjects | newer.subjects) - SPEAKER - COMMON_WORDS) & shared
    if things and (
        (newer.has_change and cosine >= 0.35)
        or (newer.has_hint and newer.is_own and older.is_placed and newer.is_placed and cosine >= 0.55)
    ):
        return Verdict("changed", " ".join(sorted(things)))
    is_one = _are_both_own(older, newer) or bool(things)
    if shared - COMMON_WORDS and is_one and is_brief and not (is_repeated or newer.is_event):
        least = 0.5 if newer.has_change else 0.62 if newer.has_hint else 1.0
        if cosine >= least:
            return Verdict("changed", " ".join(sorted(shared)))
    return None


def _are_of_other_kinds(older: Claim, newer: Claim) -> bool:
    """Whether both name known values, of different attributes: "answer briefly", "answer in German"."""
    mine, yours = dict(older.values).keys(), dict(newer.values).keys()
    return bool(mine and yours and not mine & yours)


def _find_renamed(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """One subject that is said to be, or to be at, something else: "my manager is …"."""
    if newer.is_event or older.is_event or newer.is_hedged or older.is_denied or newer.is_denied:
        return None
    before = dict(older.slots)
    for slot, value in newer.slots:
        if (
            slot in before
            and before[slot] - value
            and value - before[slot]
            and cosine >= 0.4
            and (newer.has_change or (newer.is_own and older.is_own))
        ):
            return Verdict("renamed", slot)
    return None
