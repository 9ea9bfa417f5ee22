"""Percentiles of jobs that go forward only, by chance, at many operating points at once.

Nobody comes to a station twice, so that E[exp(-s T)] follows from the last station to the first:
y_k = T_k(s) (q_k + sum over j of p_kj y_j), with T_k the transforms of independent visits.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.queueing.balance import Guess, balance
from headway.queueing.stations.base import Station
from headway.queueing.times.inversion import invert
from headway.queueing.times.laws import ComplexArray

_BLOCK = 256  # points whose transforms stay in the cache
_INSTANT = 1e-9  # of the mean: a time that counts as none
_NEVER = 1e-300
PRECISION = 2e-12
"""Of a chance."""


@dataclass(frozen=True)
class ForwardNetwork:
    """Stations in an order in which jobs visit them, at points where none is saturated.

    Parameters
    ----------
    stations
        Of kinds whose law is smooth; numbers, or arrays of shape (points,). What takes constant
        time is visited by every job.
    rates
        Arrivals at each [1/s], shape (stations, points).
    entries
        Chance that a job enters at each, shape (stations, points).
    onward
        Chances of going on, shape (points,), by the places of the two stations.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> one = np.ones((1, 1))
    >>> alone = ForwardNetwork((MM1(0.5),), one, one, {})
    >>> forward_percentiles(alone, 0.95).round(6).tolist()
    [2.995732]
    """

    stations: tuple[Station, ...]
    rates: FloatArray
    entries: FloatArray
    onward: Mapping[tuple[int, int], FloatArray]

    def at(self, points: slice | NDArray[Any]) -> "ForwardNetwork":
        """The same network at some of the points."""
        return self.mapped(lambda row: row[points])

    def mapped(self, change: Callable[[FloatArray], FloatArray]) -> "ForwardNetwork":
        """The network of what a change makes of each row of numbers over points."""
        onward = {ends: change(chance) for ends, chance in self.onward.items()}
        stations = tuple(_mapped(station, change) for station in self.stations)
        rates = np.array([change(row) for row in self.rates])
        entries = np.array([change(row) for row in self.entries])
        return ForwardNetwork(stations, rates, entries, onward)

    @property
    def visits(self) -> list[FloatArray]:
        """Mean visits of a job to each station."""
        visits = list(self.entries)
        for (source, target), chance in self._in_order():
            visits[target] = visits[target] + visits[source] * chance
        return visits

    def _in_order(self) -> list[tuple[tuple[int, int], FloatArray]]:
        return sorted(self.onward.items())

    def law(self) -> "_Law":
        """Its constant time, its mean time beyond that, and the transform of what is beyond."""
        laws = [s.time_law(rate) for s, rate in zip(self.stations, self.rates, strict=True)]
        shifts: Amount = sum(law.pieces[0].shift for law in laws)
        constant = np.zeros(self.rates.shape[1]) + shifts
        times = (law.mean - law.pieces[0].shift for law in laws)
        beyond = sum(v * time for v, time in zip(self.visits, times, strict=True))
        return _Law(self, [law.pieces[0].transform for law in laws], constant, np.asarray(beyond))


@dataclass(frozen=True)
class _Law:
    network: ForwardNetwork
    transforms: list[Amount]
    constant: FloatArray
    beyond: FloatArray

    def transform(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s (T - constant))], shape (terms, points)."""
        after: dict[int, Amount] = {}
        going: dict[int, Amount] = {}
        for (source, target), chance in self.network.onward.items():
            going.setdefault(source, []).append((target, chance))
        for k in reversed(range(len(self.transforms))):
            onward = going.get(k, [])
            rest = 1 - sum(chance for _, chance in onward)
            following = sum((chance * after[target] for target, chance in onward), rest)
            after[k] = self.transforms[k](s) * following
        return np.asarray(sum(e * after[k] for k, e in enumerate(self.network.entries)))

    def exceedance(self, time: FloatArray) -> FloatArray:
        """Chance of more than a time [s]."""
        rest = np.maximum(time - self.constant, _INSTANT * (self.constant + self.beyond))
        within = invert(lambda s: self.transform(s) / s, rest)
        return np.asarray(np.clip(1 - within, 0.0, 1.0))


def _mapped(station: Station, change: Callable[[FloatArray], FloatArray]) -> Station:
    own = {f.name: getattr(station, f.name) for f in fields(station)}  # type: ignore[arg-type]
    arrays = {name: change(value) for name, value in own.items() if np.ndim(value)}
    return replace(station, **arrays) if arrays else station  # type: ignore[type-var]


def forward_percentiles(network: ForwardNetwork, share: float) -> FloatArray:
    """Least times that a share of all times does not exceed [s].

    Parameters
    ----------
    network
        At its operating points.
    share
        Between 0 and 1.

    Returns
    -------
    Array of shape (points,).
    """
    count = network.rates.shape[1]
    starts = range(0, count, _BLOCK)
    blocks = [_of_block(network.at(slice(k, k + _BLOCK)), share) for k in starts]
    return np.concatenate(blocks) if blocks else np.empty(0)


def _of_block(network: ForwardNetwork, share: float) -> FloatArray:
    law, tail = network.law(), 1 - share
    times = law.constant.copy()
    some = np.flatnonzero(law.beyond > 0)
    if some.size:
        some = some[network.at(some).law().exceedance(times[some]) > tail]
    if some.size:
        times[some] = _beyond_constant(network.at(some), tail)
    return times


def _beyond_constant(network: ForwardNetwork, tail: float) -> FloatArray:
    law = network.law()

    def above(time: FloatArray, law: _Law) -> FloatArray:
        return np.asarray(np.log(np.maximum(law.exceedance(time), _NEVER) / tail))

    low, before = law.constant, np.full(law.constant.size, -np.log(tail))
    high = low - law.beyond * np.log(tail)
    found = above(high, law)
    while (found > 0).any():
        low, before = np.where(found > 0, high, low), np.where(found > 0, found, before)
        high = np.where(found > 0, 2 * high, high)
        found = above(high, law)
    slope = 1 + law.beyond * (found - before) / (high - low)
    return balance(
        lambda time, points: time + law.beyond[points] * above(time, network.at(points).law()),
        low,
        high,
        Guess(high, high + law.beyond * found, slope),
        PRECISION / tail,
    )
