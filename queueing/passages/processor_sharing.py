"""How long a job takes where kinds of jobs share all servers of a closed or mixed network."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from headway.queueing.passages.class_numbers import Company, Kind
from headway.queueing.passages.passage import Circle, in_order
from headway.queueing.passages.sharing_chain import beside_law
from headway.queueing.times.absorption import Journey
from headway.queueing.times.laws import TimeLaw, constant, in_series, merged

APART = (
    "percentiles assume independent visits of a job to shared servers: up to the 99th within "
    "2%, the 99.9th within 4% where measured"
)
SMOOTHED = (
    "constant times that only some jobs spend are approximated as varying: "
    "percentiles up to the 99th "
    "within 6%, the 99.9th within 6% where measured"
)
AWAY = (
    "percentiles take the constant times of other jobs at delays as varying: up to the 99th "
    "within 4%, the 99.9th within 7% where measured"
)
"""``python -m tests.away_errors`` measures it."""
NEAREST = "classes with the closest service times are merged: percentiles within 8% where measured"


@lru_cache(maxsize=64)  # as several percentiles are asked for, one after the other
def sharing_law(alone: Circle, kinds: tuple[Kind, ...], mean: float) -> TimeLaw | None:
    """How long a job takes among others who share all servers with it.

    Parameters
    ----------
    alone
        A job's way through the stations; its numbers of others are not used.
    kinds
        The others.
    mean
        What the job takes on average [s].

    Returns
    -------
    None where servers are not shared, where there is nobody else, where somebody is served in no
    time, or where there are too many to be followed.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Place
    >>> from headway.queueing.passages.aggregation import Comers
    >>> one = np.ones(1)
    >>> place = Place("cpu", 1.0, 1, 1, shares=True)
    >>> alone = Circle((place,), one, 0 * one[None], one, 1, 0.0, 0.5, one)
    >>> law = sharing_law(alone, (Kind((1.0,), (1.0,), 0.5, (Comers(0, 2.0),)),), 2.0)
    >>> law.mean, law.notes
    (2.0, ())
    """
    if not all(place.shares or place.is_delay for place in alone.places):
        return None
    used = alone.settled()
    always = np.flatnonzero(used.spent_by_all)
    rest, shift = used.without(always), float(sum(used.places[k].own_time for k in always))
    names = [place.name for place in alone.places]
    kept = [names.index(place.name) for place in rest.places]
    others = _alike(_at(kind, kept, alone) for kind in kinds)
    waits = any(not place.is_delay for place in rest.places)
    if not (others and waits) or mean <= shift or _instant(rest, others):
        return None
    jumps = any(place.is_delay for place in rest.places)
    straight = in_order(rest.onward) is not None
    law = (_apart if jumps and straight else _among)(Company(rest, others), mean - shift)
    if law is None:
        return None
    notes = (SMOOTHED,) if jumps and not straight else _away(kinds, others)
    return replace(in_series(constant(shift), law), notes=merged(notes, law.notes))


def _at(kind: Kind, kept: list[int], alone: Circle) -> Kind:
    """Of some of the stations; what is spent at other delays counts as being away."""
    gone = [k for k, place in enumerate(alone.places) if place.is_delay and k not in kept]
    more = sum(kind.visits[k] * kind.times[k] for k in gone)
    comers = tuple(replace(c, away=c.away + more) if c.jobs else c for c in kind.comers)
    times, visits = (tuple(each[k] for k in kept) for each in (kind.times, kind.visits))
    return Kind(times, visits, kind.flow, comers)


def _alike(kinds: Iterable[Kind]) -> tuple[Kind, ...]:
    """Kinds that need the same, and come alike, as one; those that come for ever last.

    How many come does not follow from how many of several kinds are there in all, if some are
    longer away than others or come from outside.
    """
    by_needs: dict[tuple[object, ...], Kind] = {}
    for kind in kinds:
        away = tuple(each.away if each.jobs else None for each in kind.comers)
        needs = kind.times, kind.visits, away
        before = by_needs.get(needs)
        comers = kind.comers if before is None else before.comers + kind.comers
        flow = kind.flow if before is None else before.flow + kind.flow
        by_needs[needs] = replace(kind, flow=flow, comers=comers)
    return tuple(sorted(by_needs.values(), key=lambda kind: kind.comes))


def _away(kinds: Iterable[Kind], others: Iterable[Kind]) -> tuple[str, ...]:
    """What is said where some circulate by delays that count as being away."""
    before, after = (
        sum(c.away * c.jobs for k in each for c in k.comers) for each in (kinds, others)
    )
    return (AWAY,) if after > before * (1 + _ROUNDING) else ()


_ROUNDING = 1e-9


def _instant(circle: Circle, kinds: Sequence[Kind]) -> bool:
    """Whether somebody is served in no time where others are not."""
    own = any(place.own_time == 0 for place in circle.places)
    each = [pair for kind in kinds for pair in zip(kind.times, kind.visits, strict=True)]
    return own or any(time == 0 and visits > 0 for time, visits in each)


def _apart(company: Company, mean: float) -> TimeLaw | None:
    """With constants that only some spend as they are: visits as if of different jobs."""
    circle = company.circle
    laws = [
        constant(place.own_time)
        if place.is_delay
        else _among(replace(company, circle=circle.through(k)), None)
        for k, place in enumerate(circle.places)
    ]
    every = [law for law in laws if law is not None]
    if len(every) < len(laws):
        return None
    law = Journey(tuple(every), circle.entries, circle.onward, circle.leaving).law()
    return replace(law, mean=mean, notes=merged((APART,), law.notes))


def _among(company: Company, mean: float | None) -> TimeLaw | None:
    """With as many kinds as can be followed."""
    notes: tuple[str, ...] = ()
    while (law := beside_law(company, mean)) is None and len(company.kinds) > 1:
        company, notes = company.fewer(), (NEAREST,)
    return None if law is None else replace(law, notes=merged(notes, law.notes))
