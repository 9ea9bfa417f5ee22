"""Percentiles of a request's response time at one station, and along a path of stations.

Visits are taken as independent, which is exact for one station and for M/M/1 and M/M/m stations in
series (Burke; Reich). For routes, see `headway.queueing.sojourn.routed_network`.

Source: Kleinrock, *Queueing Systems* I, 1975, sections 3.2, 3.5 and 5.7.
"""

from collections.abc import Sequence
from math import isfinite

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, check_domain, check_not_negative, plain
from headway.queueing.stations.base import Station
from headway.queueing.stations.rows import arrays_in, in_a_row
from headway.queueing.times.inversion import exceedance, percentile_of
from headway.queueing.times.laws import TimeLaw, in_series, independent_visits
from headway.records import dataclass


@dataclass(frozen=True)
class StationVisits:
    """Visits of a request to a station.

    Parameters
    ----------
    visits
        Number of visits, 0 or more. 2.4 visits are two, and a third for 40% of the requests.
    station
        Any kind whose law is known: Delay (taken as constant), MM1, MMm, Parallel, MG1, MD1,
        MM1K, MMmK or GIMmK (of those let in).
    arrival_rate
        Of all visits to the station [1/s].

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> StationVisits(1.0, MM1(0.01), 50.0).visits
    1.0
    """

    visits: Amount
    station: Station
    arrival_rate: Amount

    def __post_init__(self) -> None:
        check_not_negative("visits", self.visits)
        check_not_negative("arrival_rate", self.arrival_rate)


def response_time_percentile(station: Station, arrival_rate: Amount, share: Amount) -> Amount:
    """Time within which a share of a station's visits is answered.

    Exact for MM1 and Parallel (-R log(1 - share)), MMm, MD1, MM1K, MMmK, GIMmK, constant Delay.
    MG1's service time is taken as gamma-distributed (constant at scv = 0), and is then exact.

    Parameters
    ----------
    station
        Of a kind whose law is known, first come first served.
    arrival_rate
        lambda [1/s].
    share
        Between 0 and 1, e.g. 0.95.

    Returns
    -------
    Time [s], infinite from saturation on.

    Raises
    ------
    GraphError
        For a station whose distribution is not known.
    InvalidParameter
        For a share outside 0..1.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> round(response_time_percentile(MM1(0.5), 1.0, 0.95), 6)
    2.995732

    References
    ----------
    Kleinrock, *Queueing Systems* I, 1975, sections 3.2 and 5.7.
    """
    return path_percentile([StationVisits(1.0, station, arrival_rate)], share)


def path_percentile(phases: Sequence[StationVisits], share: Amount) -> Amount:
    """Time within which a share of requests has made all its visits, taken as independent.

    Parameters
    ----------
    phases
        Visits to each station on the way; numbers or arrays over operating points.
    share
        Between 0 and 1, e.g. 0.95.

    Returns
    -------
    Time [s], infinite where a station is saturated.

    Raises
    ------
    GraphError
        For no phase, or a station whose distribution is not known.
    InvalidParameter
        For a share outside 0..1.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> tandem = [StationVisits(1, MM1(0.5), 1.0), StationVisits(1, MM1(0.5), 1.0)]
    >>> round(path_percentile(tandem, 0.95), 6)
    4.743865
    """
    check_share(share)
    return _pointwise(phases, share, percentile_of, np.inf)


def path_exceedance(phases: Sequence[StationVisits], time: Amount) -> Amount:
    """Probability that all visits take longer than a time, taken as independent.

    Parameters
    ----------
    phases
        As for `path_percentile`.
    time
        t [s], 0 or more.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> round(path_exceedance([StationVisits(1, MM1(0.5), 1.0)], 1.0), 6)
    0.367879
    """
    check_not_negative("time", time)
    return _pointwise(phases, time, exceedance, 1.0)


def check_share(share: Amount) -> None:
    """Refuse a share that is not between 0 and 1."""
    check_domain("share", share, lambda p: (p > 0) & (p < 1), "between 0 and 1")


def path_law(phases: Sequence[StationVisits]) -> TimeLaw:
    """Law of the time of all visits of a path, at one operating point.

    Parameters
    ----------
    phases
        At least one phase, with numbers; no station saturated.

    Raises
    ------
    GraphError
        For no phase, or a station whose distribution is not known.

    Examples
    --------
    >>> from headway.queueing import Delay
    >>> path_law([StationVisits(2.5, Delay(2.0), 1.0)]).mean
    5.0
    """
    if not phases:
        raise GraphError("a path needs at least one phase")
    laws = [(p.station.time_law(p.arrival_rate), float(p.visits)) for p in phases]
    return in_series(*(independent_visits(law, visits) for law, visits in laws))


def _pointwise(
    phases: Sequence[StationVisits], settings: Amount, answer: Amount, saturated: float
) -> Amount:
    """Compute point by point; saturated points have the result given for them."""
    if not phases:
        raise GraphError("a path needs at least one phase")
    numbers = [n for p in phases for n in (p.visits, p.arrival_rate, *arrays_in(p.station))]
    shape = np.broadcast_shapes(*(np.shape(n) for n in (*numbers, settings)))
    values = np.empty(shape)
    for index in np.ndindex(shape):
        here = [_at(phase, shape, index) for phase in phases]
        stable = all(isfinite(p.station.response_time(p.arrival_rate)) for p in here)
        wanted = _pick(settings, shape, index)
        values[index] = answer(path_law(here), wanted) if stable else saturated
    return plain(values)


def _at(phase: StationVisits, shape: tuple[int, ...], index: tuple[int, ...]) -> StationVisits:
    station = in_a_row(phase.station, lambda value: _pick(value, shape, index))
    visits, rate = (_pick(v, shape, index) for v in (phase.visits, phase.arrival_rate))
    return StationVisits(visits, station, rate)


def _pick(value: Amount, shape: tuple[int, ...], index: tuple[int, ...]) -> float:
    return float(np.broadcast_to(np.asarray(value, float), shape)[index])
