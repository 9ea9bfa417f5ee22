"""How response times are distributed: what share of requests is answered within a time.

A request's visits are taken as independent, which is exact for one station and for
M/M/1 and M/M/m stations in series, and an approximation where paths overtake or come
back. Transforms are inverted numerically to some 1e-9.

Source: Kleinrock, *Queueing Systems* I, 1975, sections 3.2, 3.5 and 5.7; Abate and Whitt,
"Numerical inversion of Laplace transforms of probability distributions", ORSA J. Computing
7(1), 1995 (their algorithm Euler).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray, check_domain, check_not_negative, plain
from headway.queueing.dependent import Parallel
from headway.queueing.erlang import erlang_c
from headway.queueing.general import MD1, MG1
from headway.queueing.stations import MM1, Delay, MMm, Station

_Transform = Callable[[Any], Any]
_Law = tuple[FloatArray, _Transform]  # a constant part [s], and the transform of the rest

_DAMPING = 23.0  # discretisation error exp(-23) = 1e-10
_TERMS, _AVERAGED = 40, 12  # of the alternating series, and of Euler's averaging
_HALVINGS = 52
_INSTANT = 1e-9  # of the mean: a time that counts as none


@dataclass(frozen=True)
class Phase:
    """Visits of a request to a station.

    Parameters
    ----------
    visits
        Mean visits, 0 or more. 2.4 visits are two, and a third in 40 % of requests.
    station
        Delay (taken as constant), MM1, MMm, Parallel, MG1 or MD1.
    arrival_rate
        Of all visits to the station [1/s].

    Examples
    --------
    >>> Phase(1.0, MM1(0.01), 50.0).visits
    1.0
    """

    visits: float
    station: Station
    arrival_rate: Any

    def __post_init__(self) -> None:
        check_not_negative("visits", self.visits)
        check_not_negative("arrival_rate", self.arrival_rate)


def response_time_percentile(station: Station, arrival_rate: Any, share: Any) -> Any:
    """Time within which a share of a station's visits is answered.

    Exact for MM1 and Parallel (-R log(1 - share)), MMm, MD1 and a constant Delay. MG1's service
    time is taken as gamma-distributed (constant at scv = 0), and is then exact as well.

    Parameters
    ----------
    station
        Delay, MM1, MMm, Parallel, MG1 or MD1, first come first served.
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
    >>> round(response_time_percentile(MM1(0.5), 1.0, 0.95), 6)
    2.995732

    References
    ----------
    Kleinrock, *Queueing Systems* I, 1975, sections 3.2 and 5.7.
    """
    return path_percentile([Phase(1.0, station, arrival_rate)], share)


def path_percentile(phases: Sequence[Phase], share: Any) -> Any:
    """Time within which a share of requests has made all its visits, taken as independent.

    Parameters
    ----------
    phases
        Visits to each station on the way.
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
    >>> tandem = [Phase(1, MM1(0.5), 1.0), Phase(1, MM1(0.5), 1.0)]
    >>> round(path_percentile(tandem, 0.95), 6)
    4.743865
    """
    check_domain("share", share, lambda p: (p > 0) & (p < 1), "between 0 and 1")
    if not phases:
        raise GraphError("a path needs a phase; there is none")
    path = _Path(phases)
    tail = 1 - np.asarray(share, float)
    low, high = np.broadcast_arrays(path.start, path.start + path.mean, tail)[:2]
    low, high = low.copy(), high.copy()
    while (short := path.exceedance(high) > tail).any():
        high = np.where(short, path.start + 2 * (high - path.start), high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = path.exceedance(middle) > tail
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return plain(np.where(path.stable, high, np.inf))


def path_exceedance(phases: Sequence[Phase], time: Any) -> Any:
    """Chance that all visits take longer than a time, taken as independent.

    Parameters
    ----------
    phases
        As for `path_percentile`.
    time
        t [s], 0 or more.

    Examples
    --------
    >>> round(path_exceedance([Phase(1, MM1(0.5), 1.0)], 1.0), 6)
    0.367879
    """
    check_not_negative("time", time)
    path = _Path(phases)
    return plain(np.where(path.stable, path.exceedance(np.asarray(time, float)), 1.0))


class _Path:
    """Constant part, mean of the rest, and transform of the rest of a sum of phases."""

    def __init__(self, phases: Sequence[Phase]) -> None:
        times = [np.asarray(p.station.response_time(p.arrival_rate), float) for p in phases]
        self.stable = np.all(np.broadcast_arrays(*(np.isfinite(t) for t in times)), axis=0)
        self._parts = [(phase.visits, *_law(phase)) for phase in phases]
        fixed = [np.floor(visits) * constant for visits, constant, _ in self._parts]
        self.start = sum(fixed, np.zeros(self.stable.shape))
        spent = [np.where(np.isfinite(time), time, 1.0) for time in times]
        total = sum(p.visits * time for p, time in zip(phases, spent, strict=True))
        self.mean = np.maximum(np.asarray(total) - self.start, 1e-12 * np.asarray(total))

    def transform(self, s: Any) -> Any:
        """Laplace transform of the time after the constant part."""
        result: Any = 1.0
        for visits, constant, rest in self._parts:
            share, value = visits - np.floor(visits), rest(s)
            perhaps = 1 - share + share * value * np.exp(-s * _column(constant))
            result = result * value ** int(visits) * perhaps
        return result

    def exceedance(self, time: FloatArray) -> FloatArray:
        """Chance of more than t, by Abate and Whitt's algorithm Euler."""
        rest = np.asarray(time) - self.start
        some = np.where(rest > _INSTANT * self.mean, rest, self.mean)
        numbers = np.arange(_TERMS + _AVERAGED + 1)
        s = (_DAMPING + 2j * np.pi * numbers) / (2 * some[..., None])
        terms = ((1 - self.transform(s)) / s).real * (-1.0) ** numbers
        terms[..., 0] /= 2
        sums = np.cumsum(terms, axis=-1)[..., _TERMS:]
        chosen = np.array([comb(_AVERAGED, k) for k in range(_AVERAGED + 1)]) / 2**_AVERAGED
        value = np.clip(np.exp(_DAMPING / 2) / some * (sums @ chosen), 0, 1)
        at_once = np.where(rest < 0, 1.0, self._after_start())
        return np.where(rest > _INSTANT * self.mean, value, at_once)

    def _after_start(self) -> Any:
        """Chance of more than the constant part alone: 1 less the transform far out."""
        far = 1e9 / np.asarray(self.mean)[..., None] + 0j
        return 1 - np.real(self.transform(far))[..., 0]


def _law(phase: Phase) -> _Law:
    """How one visit's response time is distributed; saturated points as if empty."""
    read = _LAWS.get(type(phase.station))
    if read is None:
        name, known = type(phase.station).__name__, ", ".join(kind.__name__ for kind in _LAWS)
        msg = f"the response time of {name} has no known distribution; use {known}"
        raise GraphError(msg)
    rate = np.asarray(phase.arrival_rate, float)
    stable = np.isfinite(phase.station.response_time(rate))
    return read(phase.station, np.where(stable, rate, 0.0))


def _column(value: Any) -> Any:
    """Make room for the nodes of the inversion as a last axis."""
    return np.asarray(value, float)[..., None]


def _constant(station: Any, rate: FloatArray) -> _Law:
    return np.broadcast_to(np.asarray(station.service_time, float), rate.shape), np.ones_like


def _exponential(station: Any, rate: FloatArray) -> _Law:
    mean = _column(station.response_time(rate))
    return np.zeros(rate.shape), lambda s: 1 / (1 + s * mean)


def _pooled(station: Any, rate: FloatArray) -> _Law:
    """Service, and with chance C an exponential wait with rate m/S - lambda."""
    time, servers = np.asarray(station.service_time, float), station.count
    waits = _column(erlang_c(servers, rate * time))
    mean = _column(time / (servers - rate * time))
    service = _column(time)

    def law(s: Any) -> Any:
        return (1 - waits + waits / (1 + s * mean)) / (1 + s * service)

    return np.zeros(rate.shape), law


def _general(station: Any, rate: FloatArray) -> _Law:
    """Pollaczek and Khinchine's transform with gamma-distributed service."""
    time, scv = _column(station.service_time), _column(getattr(station, "scv", 0.0))
    busy, always = _column(rate) * time, not np.any(scv)

    def service(s: Any) -> Any:
        some = np.where(scv > 0, scv, 1.0)
        return np.where(scv > 0, np.exp(-np.log1p(s * time * some) / some), np.exp(-s * time))

    def law(s: Any) -> Any:
        value = service(s)
        wait = (1 - busy) / (1 - busy * (1 - value) / (s * time))
        return wait if always else wait * value

    return (time[..., 0] if always else np.zeros(rate.shape)), law


_LAWS: dict[type, Callable[[Any, FloatArray], _Law]] = {
    Delay: _constant,
    MM1: _exponential,
    Parallel: _exponential,
    MMm: _pooled,
    MG1: _general,
    MD1: _general,
}
