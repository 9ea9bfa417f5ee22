"""Percentiles of jobs with random routes that never return, at many operating points at once.

No job visits a station twice, so E[exp(-s T)] follows from the last station to the first: y_k =
T_k(s) (q_k + sum over j of p_kj y_j), with T_k the transforms of independent visits.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.queueing.stations.base import Station
from headway.queueing.stations.rows import in_a_row
from headway.queueing.times.inversion import invert, invert_with_slope
from headway.queueing.times.laws import ComplexArray, Within
from headway.records import dataclass

_INSTANT = 1e-9  # of the mean: a smaller time counts as 0


@dataclass(frozen=True)
class FeedForwardNetwork:
    """Stations in an order in which jobs visit them, at points where none is saturated.

    Parameters
    ----------
    stations
        Stations of kinds with a smooth law; numbers, or arrays of shape (points,). Every job visits
        stations with constant times.
    rates
        Arrivals at each [1/s], shape (stations, points).
    entries
        Probability that a job enters at each, shape (stations, points).
    onward
        Probabilities of going on, shape (points,), by the indices of the two stations.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> one = np.ones((1, 1))
    >>> alone = FeedForwardNetwork((MM1(0.5),), one, one, {})
    >>> alone.law().exceedance(np.array([1.0])).round(9).tolist()
    [0.367879441]
    """

    stations: tuple[Station, ...]
    rates: FloatArray
    entries: FloatArray
    onward: Mapping[tuple[int, int], FloatArray]

    def at(self, points: slice | NDArray[Any]) -> "FeedForwardNetwork":
        """The same network at some of the points."""
        return self.mapped(lambda row: row[points])

    def mapped(self, change: Callable[[FloatArray], FloatArray]) -> "FeedForwardNetwork":
        """The network with each row of numbers over points replaced by a function of it."""
        onward = {ends: change(chance) for ends, chance in self.onward.items()}
        stations = tuple(in_a_row(station, change) for station in self.stations)
        rates = np.array([change(row) for row in self.rates])
        entries = np.array([change(row) for row in self.entries])
        return FeedForwardNetwork(stations, rates, entries, onward)

    @property
    def visits(self) -> list[FloatArray]:
        """Mean visits of a job to each station."""
        visits = list(self.entries)
        for (source, target), chance in self._in_order():
            visits[target] = visits[target] + visits[source] * chance
        return visits

    def _in_order(self) -> list[tuple[tuple[int, int], FloatArray]]:
        return sorted(self.onward.items())

    def law(self) -> "FeedForwardLaw":
        """The constant time, the mean time beyond it, and the transform of the time beyond."""
        laws = [s.time_law(rate) for s, rate in zip(self.stations, self.rates, strict=True)]
        shifts: Amount = sum(law.pieces[0].shift for law in laws)
        constant = np.zeros(self.rates.shape[1]) + shifts
        times = (law.mean - law.pieces[0].shift for law in laws)
        beyond = sum(v * time for v, time in zip(self.visits, times, strict=True))
        transforms = [law.pieces[0].transform for law in laws]
        is_alone = len(laws) == 1 and not self.onward and bool(np.all(self.entries == 1))
        within = laws[0].pieces[0].within if is_alone else None
        return FeedForwardLaw(self, transforms, constant, np.asarray(beyond), within)


@dataclass(frozen=True)
class FeedForwardLaw:
    """The law of the time of a network's jobs, at its points.

    Parameters
    ----------
    network
        The network.
    transforms
        E[exp(-s T)] of a visit to each station, without its constant part.
    constant, beyond
        Constant time and mean of the rest [s], shape (points,).
    within
        Chance of at most a rest [s], and the density there, where they need no inversion: at one
        station alone whose law is known in closed form.
    """

    network: FeedForwardNetwork
    transforms: list[Amount]
    constant: FloatArray
    beyond: FloatArray
    within: Within | None = None

    def at(self, points: NDArray[np.intp]) -> "FeedForwardLaw":
        """The law at some of the points, in ascending order."""
        return self if points.size == self.beyond.size else self.network.at(points).law()

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

    def longer(self) -> FloatArray:
        """Probability of exceeding the constant time, shape (points,)."""
        instant = _INSTANT * (self.constant + self.beyond)
        with np.errstate(divide="ignore", invalid="ignore"):
            node = np.asarray(1 / instant[None], complex)
            chance = 1 - self.transform(node)[0].real
        return np.where(self.beyond > 0, chance, 0.0)

    def exceedance(self, time: FloatArray) -> FloatArray:
        """Probability of exceeding a time [s]."""
        rest = self._beyond_constant(time)
        if self.within is not None:
            return np.asarray(np.clip(1 - self.within(rest)[0], 0.0, 1.0))
        within = invert(lambda s: self.transform(s) / s, rest)
        return np.asarray(np.clip(1 - within, 0.0, 1.0))

    def exceedance_and_density(self, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probability of exceeding a time [s], and the density there [1/s]."""
        rest = self._beyond_constant(time)
        if self.within is not None:
            within, density = self.within(rest)
        else:
            within, density = invert_with_slope(lambda s: self.transform(s) / s, rest)
        return np.asarray(np.clip(1 - within, 0.0, 1.0)), np.asarray(density)

    def _beyond_constant(self, time: FloatArray) -> FloatArray:
        return np.maximum(time - self.constant, _INSTANT * (self.constant + self.beyond))


def in_blocks(
    network: FeedForwardNetwork, size: int, find: Callable[[FeedForwardNetwork], FloatArray]
) -> FloatArray:
    """Results of a function for all points, in blocks whose transforms fit into the cache.

    Parameters
    ----------
    network
        The network at its operating points.
    size
        Number of points in a block.
    find
        Function that returns a number for each point.
    """
    starts = range(0, network.rates.shape[1], size)
    blocks = [find(network.at(slice(k, k + size))) for k in starts]
    return np.concatenate(blocks) if blocks else np.empty(0)
