"""Passage time of a job of a closed or mixed network whose queues are all processor sharing."""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from headway.queueing.passages.class_numbers import SharingClass, SharingNetwork
from headway.queueing.passages.passage import Passage, topological_order
from headway.queueing.passages.sharing_chain import sharing_chain_law
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
NEAREST = "classes with the closest service times are merged: percentiles within 8% where measured"
"""Measured, like the two above, by ``python -m tests.campaigns.percentile_campaign``."""

AWAY = (
    "percentiles take the constant times of other jobs at delays as varying: up to the 99th "
    "within 4%, the 99.9th within 7% where measured"
)
"""Measured by ``python -m tests.campaigns.away_errors``."""

_ROUNDING = 1e-9  # relative difference up to which service times are the same


@lru_cache(maxsize=64)  # several percentiles are asked for, one after the other
def sharing_law(alone: Passage, classes: tuple[SharingClass, ...], mean: float) -> TimeLaw | None:
    """Law of the passage time of a job among others who share all servers with it.

    Delays that every job visits once are added as constants. If other delays have constant times,
    and no route returns, visits are taken as independent, which keeps the constants; otherwise the
    tagged job spends them in Erlang phases.

    Parameters
    ----------
    alone
        The routes of the tagged job; its own numbers of other jobs are ignored.
    classes
        The other jobs.
    mean
        Mean passage time [s].

    Returns
    -------
    None if servers are not shared, there is no other job, some service takes no time, or no chain
    is small enough.

    Examples
    --------
    >>> from headway.queueing.passages.aggregation import ArrivingClass
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("cpu", 1.0, 1, 1, shares=True)
    >>> alone = Passage((cpu,), one, 0 * one[None], one, 1, 0.0, 0.5, one)
    >>> opened = SharingClass((1.0,), (1.0,), 0.5, (ArrivingClass(0, 2.0),))
    >>> law = sharing_law(alone, (opened,), 2.0)
    >>> law.mean, law.notes
    (2.0, ())
    """
    if not all(station.shares or station.is_delay for station in alone.stations):
        return None
    used = alone.settled()
    always = np.flatnonzero(used.spent_by_all)
    rest, shift = used.without(always), float(sum(used.stations[k].own_time for k in always))
    names = [station.name for station in alone.stations]
    kept = [names.index(station.name) for station in rest.stations]
    others = _merged_classes(_at_stations(each, kept, alone) for each in classes)
    waits = any(not station.is_delay for station in rest.stations)
    if not (others and waits) or mean <= shift or _is_instant(rest, others):
        return None
    jumps = any(station.is_delay for station in rest.stations)
    straight = topological_order(rest.onward) is not None
    find = _by_independent_visits if jumps and straight else _by_chain
    law = find(SharingNetwork(rest, others), mean - shift)
    if law is None:
        return None
    if jumps and not straight:
        notes: tuple[str, ...] = (SMOOTHED,)
    else:
        notes = (AWAY,) if _away(others) > _away(classes) * (1 + _ROUNDING) else ()
    return replace(in_series(constant(shift), law), notes=merged(notes, law.notes))


def _is_instant(passage: Passage, classes: Iterable[SharingClass]) -> bool:
    """Whether the tagged job or another one is served somewhere in no time."""
    return any(station.own_time == 0 for station in passage.stations) or any(
        time == 0 and visits > 0
        for each in classes
        for time, visits in zip(each.times, each.visits, strict=True)
    )


def _away(classes: Iterable[SharingClass]) -> float:
    """Time away of all closed jobs together, in a cycle of each [s]."""
    return sum(one.away * one.jobs for each in classes for one in each.arriving)


def _at_stations(one: SharingClass, kept: list[int], alone: Passage) -> SharingClass:
    """Restrict a class to some stations; its time at other delays is added to its time away."""
    gone = [k for k, station in enumerate(alone.stations) if station.is_delay and k not in kept]
    more = sum(one.visits[k] * one.times[k] for k in gone)
    arriving = tuple(replace(c, away=c.away + more) if c.jobs else c for c in one.arriving)
    times, visits = (tuple(each[k] for k in kept) for each in (one.times, one.visits))
    return SharingClass(times, visits, one.flow, arriving)


def _merged_classes(classes: Iterable[SharingClass]) -> tuple[SharingClass, ...]:
    """Merge classes of the same service times and the same arrivals; open ones last.

    Classes with different times away are kept apart: the numbers of each at stations do not follow
    from the total number.
    """
    by_needs: dict[tuple[object, ...], SharingClass] = {}
    for one in classes:
        away = tuple(each.away if each.jobs else None for each in one.arriving)
        needs = one.times, one.visits, away
        before = by_needs.get(needs)
        arriving = one.arriving if before is None else before.arriving + one.arriving
        flow = one.flow if before is None else before.flow + one.flow
        by_needs[needs] = replace(one, flow=flow, arriving=arriving)
    return tuple(sorted(by_needs.values(), key=lambda one: one.has_open))


def _by_independent_visits(network: SharingNetwork, mean: float) -> TimeLaw | None:
    """Law of the sum of independent visits, keeping constant times."""
    passage = network.passage
    laws = [
        constant(station.own_time)
        if station.is_delay
        else _by_chain(replace(network, passage=passage.through(k)), None)
        for k, station in enumerate(passage.stations)
    ]
    every = [law for law in laws if law is not None]
    if len(every) < len(laws):
        return None
    law = Journey(tuple(every), passage.entries, passage.onward, passage.leaving).law()
    return replace(law, mean=mean, notes=merged((APART,), law.notes))


def _by_chain(network: SharingNetwork, mean: float | None) -> TimeLaw | None:
    """Law by the chain of the tagged job, with classes merged until it is small enough."""
    notes: tuple[str, ...] = ()
    while (law := sharing_chain_law(network, mean)) is None and len(network.classes) > 1:
        network, notes = network.with_nearest_merged(), (NEAREST,)
    return None if law is None else replace(law, notes=merged(notes, law.notes))
