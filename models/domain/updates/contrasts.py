"""Two claims that say the same of a frame with another filling: how often, liked or not, where it is kept."""

from typing import Final

from models.domain.updates.claims import Claim
from models.domain.updates.frames import find_fillings
from models.domain.updates.patterns import PEOPLE
from models.domain.updates.verdict import COMMON_WORDS, TIME_WORDS, Verdict

LEAST_RATE_COSINE: Final = 0.5
LEAST_TASTE_COSINE: Final = 0.3
LEAST_PART_COSINE: Final = 0.5  # "games", "video games"
LEAST_PLACE_COSINE: Final = 0.4
LEAST_TOLD_COSINE: Final = 0.5
LEAST_WISH_COSINE: Final = 0.6
LEAST_SAID_COSINE: Final = 0.75
LEAST_FILLED_COSINE: Final = 0.5
LEAST_SAME: Final = 0.75  # of the words of the shorter clause
LEAST_DONE_COSINE: Final = 0.55
LEAST_BRIEF_COSINE: Final = 0.7  # a name of one word is often only mentioned
LEAST_SHARED: Final = 2


def find_contrast(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """The reason where a frame of the older has another filling in the newer; None where none has."""
    is_told = newer.has_change or newer.has_hint
    is_own = (older.is_own or older.is_wish) and (newer.is_own or newer.is_wish)
    if not (is_own or is_told):
        return None
    told = _contrast_tastes(older, newer, cosine) or _contrast_rates(older, newer, cosine)
    if told is not None or older.people != newer.people:
        return told
    return (
        _contrast_places(older, newer, cosine)
        or _contrast_complements(older, newer, cosine)
        or _contrast_fillings(older, newer, cosine)
        or _find_done(older, newer, cosine)
    )


def _contrast_rates(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """One habit, as often as it was not before: "twice a week", "every other week", "on Mondays and Fridays"."""
    if (
        len(older.rates) != 1
        or len(newer.rates) != 1
        or older.rates == newer.rates
        or cosine < LEAST_RATE_COSINE
    ):
        return None
    if older.is_denied or newer.is_denied or newer.is_added:
        return None
    if older.people != newer.people and not {"i"} & older.subjects & newer.subjects:
        return None
    shared = (older.words & newer.words) - TIME_WORDS - COMMON_WORDS
    return Verdict("number", " ".join(sorted(shared))) if shared else None


def _contrast_tastes(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """The same is liked by the one and not by the other."""
    if cosine < LEAST_TASTE_COSINE:
        return None
    for now in newer.tastes:
        for was in older.tastes:
            shared = (was.what & now.what) - COMMON_WORDS
            fewer = min(len(was.what), len(now.what))
            if (
                was.is_liked == now.is_liked
                or not shared
                or len(shared) < (1.0 if fewer <= 2 else 0.6) * fewer
            ):
                continue
            broader = min(
                was, now, key=lambda taste: len(taste.what)
            )  # who hates games hates board games too
            if was.what == now.what or (cosine >= LEAST_PART_COSINE and not broader.is_liked):
                return Verdict("denied", " ".join(sorted(shared)))
    return None


def _contrast_places(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """One thing of the speaker's is kept somewhere else."""
    if cosine < LEAST_PLACE_COSINE or newer.is_added:
        return None
    for now in newer.kept:
        for was in older.kept:
            shared = was.what & now.what
            if (
                shared
                and (was.what <= now.what or now.what <= was.what)
                and was.is_kept
                and not was.place & now.place
            ):
                return Verdict("changed", " ".join(sorted(shared)))
    return None


def _contrast_complements(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """The same clause but for what a preposition leads to: "send it to Ann", "send it to Ben".

    What happened once, what is liked and who was there are not one or the other.
    """
    if older.is_event or newer.is_event or older.is_hedged or newer.is_hedged or newer.is_added:
        return None
    if older.tastes or newer.tastes:
        return None
    if not ((older.is_wish and newer.is_wish) or (older.is_standing and newer.is_standing)):
        return None
    is_told = newer.has_change or newer.has_hint
    if cosine < (LEAST_TOLD_COSINE if is_told else LEAST_WISH_COSINE if newer.is_wish else LEAST_SAID_COSINE):
        return None
    for now in newer.led:
        for was in older.led:
            shared = was.rest & now.rest
            come, gone = now.to - was.to, was.to - now.to
            if not come or not gone or come <= older.words or come & was.rest or gone & now.rest:
                continue
            if now.lead != was.lead or len(shared - COMMON_WORDS) < (1 if is_told else LEAST_SHARED):
                continue
            if (
                len(shared) >= LEAST_SAME * min(len(was.rest), len(now.rest))
                and not (was.to | now.to) & PEOPLE
            ):
                return Verdict("value", " ".join(sorted(shared)))
    return None


def _contrast_fillings(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """Two clauses that begin alike and end otherwise: "my car is parked at the station", "… behind the bakery"."""
    if older.is_event or newer.is_added or cosine < LEAST_FILLED_COSINE or older.is_wish != newer.is_wish:
        return None
    is_told = newer.has_change or (newer.is_wish and cosine >= LEAST_WISH_COSINE)
    for now in newer.openings:
        for was in older.openings:
            found = find_fillings(was, now)
            if found is None:
                continue
            shared, gone, come = found
            if (
                len(shared - COMMON_WORDS) >= (1 if is_told else LEAST_SHARED)
                and gone
                and come
                and not gone & come
            ):
                return Verdict("value", " ".join(sorted(shared)))
    return None


def _find_done(older: Claim, newer: Claim, cosine: float) -> Verdict | None:
    """What was meant to be done is done, both naming it: "I still haven't seen …", "I watched … on Friday"."""
    names = {
        name
        for name in (older.planned & newer.done) - older.done - newer.planned
        if " " in name or cosine >= LEAST_BRIEF_COSINE
    }
    if not names or cosine < LEAST_DONE_COSINE or newer.is_denied:
        return None
    return Verdict("changed", " ".join(sorted(names)))
