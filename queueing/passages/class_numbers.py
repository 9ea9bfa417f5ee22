"""Who is where, of several kinds of jobs that share the servers of a closed or mixed network.

Kinds differ in the times they need; of each, so many are at the stations, and others come. Numbers
have a product form: m_1, m_2... at one queue, n in all, weigh n! / (m_1! m_2! ...) times the
product of load_j**m_j, over the product of min(i, servers) for i up to n.

Source: Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.linalg import toeplitz

from headway.kinds import FloatArray
from headway.queueing.closed.series import geometric
from headway.queueing.passages.aggregation import Comers, outside
from headway.queueing.passages.passage import Circle

_ROOM = 16
_SMALL = 256
"""Numbers of one kind for which a matrix is quicker."""

_LARGEST = 200_000
"""Numbers of all kinds together that arrays are made for."""

_REST = 1e-7
"""Chance of as many of a kind as are counted with, where they come for ever."""


@dataclass(frozen=True)
class Kind:
    """Jobs that need the same times.

    Parameters
    ----------
    times, visits
        Mean service time at each station [s], above 0 where there are visits, and mean visits to
        it, by station.
    flow
        What they do together, about [1/s], above 0.
    comers
        The classes of them.
    """

    times: tuple[float, ...]
    visits: tuple[float, ...]
    flow: float
    comers: tuple[Comers, ...]

    @property
    def comes(self) -> bool:
        """Whether some of them come from outside, for ever."""
        return any(not each.jobs for each in self.comers)

    @property
    def jobs(self) -> int:
        """How many of them circulate."""
        return sum(each.jobs for each in self.comers)

    def joined(self, other: "Kind") -> "Kind":
        """Both as one kind, of their mean times.

        Examples
        --------
        >>> a, b = Kind((1.0,), (1.0,), 0.3, ()), Kind((2.0,), (1.0,), 0.1, ())
        >>> a.joined(b).times, a.joined(b).flow
        ((1.25,), 0.4)
        """
        flow = self.flow + other.flow
        each = np.array([self.flow, other.flow])[:, None]
        through = each * np.array([self.visits, other.visits])
        times = np.array([self.times, other.times])
        share = np.where(through.sum(axis=0) > 0, through, each)
        mean = (share * times).sum(axis=0) / share.sum(axis=0)
        visits = through.sum(axis=0) / flow
        return Kind(tuple(mean.tolist()), tuple(visits.tolist()), flow, self.comers + other.comers)


@dataclass(frozen=True, eq=False)
class Company:
    """The others of a job that goes through a circle, by kind.

    Parameters
    ----------
    circle
        The stations, all shared or delays, and the ways of the job; its numbers of others are not
        used.
    kinds
        Who else is there, one kind or more.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Place
    >>> one = np.ones(1)
    >>> alone = Circle((Place("cpu", 1.0, 1, 1),), one, 0 * one[None], one, 1, 0.0, 0.5, one)
    >>> both = Company(alone, (Kind((1.0,), (1.0,), 0.3, (Comers(2, 4.0),)),))
    >>> both.most, both.inside.round(3).tolist()  # 2 who are away for 4 s: 1, 1 / 2, 1 / 8
    ((2,), [0.615, 0.308, 0.077])
    """

    circle: Circle
    kinds: tuple[Kind, ...]

    @cached_property
    def sized(self) -> "Sized | None":
        """Weights of numbers up to those that are rarely passed; None if these are too many."""
        most = [kind.jobs + _ROOM * kind.comes for kind in self.kinds]
        while np.prod([n + 1.0 for n in most]) <= _LARGEST:
            sized = Sized(self, tuple(most))
            more = [
                kind.comes and sized.of_kind(j)[-1] > _REST for j, kind in enumerate(self.kinds)
            ]
            if not any(more):
                return sized
            most = [2 * n if each else n for n, each in zip(most, more, strict=True)]
        return None

    @property
    def most(self) -> tuple[int, ...]:
        """Largest number of each kind that is counted with."""
        return () if self.sized is None else self.sized.most

    @property
    def inside(self) -> FloatArray:
        """Chances of numbers at all stations."""
        return np.zeros(0) if self.sized is None else self.sized.inside

    @cached_property
    def loads(self) -> FloatArray:
        """Services that each kind asks of a lane of each station, shape (stations, kinds)."""
        lanes = np.array([max(place.lanes, 1) for place in self.circle.places])
        each = [kind.flow * np.array(kind.visits) * np.array(kind.times) for kind in self.kinds]
        return np.asarray(np.array(each).T / lanes[:, None])

    def fewer(self) -> "Company":
        """The same with the two kinds whose times are the nearest as one."""
        pairs = combinations(range(len(self.kinds)), 2)
        i, j = min(pairs, key=lambda pair: self._apart(*pair))
        rest = [kind for k, kind in enumerate(self.kinds) if k not in {i, j}]
        return replace(self, kinds=(*rest, self.kinds[i].joined(self.kinds[j])))

    def _apart(self, i: int, j: int) -> float:
        first, second = np.array(self.kinds[i].times), np.array(self.kinds[j].times)
        return float(np.abs(np.log(np.maximum(first, _TINY) / np.maximum(second, _TINY))).max())


_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Sized:
    """Weights of numbers of each kind, up to `most`: arrays with an axis for each."""

    company: Company
    most: tuple[int, ...]

    @cached_property
    def _coming(self) -> tuple[FloatArray, ...]:
        """Weights H(n) of n inside, of each kind."""
        kinds = zip(self.company.kinds, self.most, strict=True)
        return tuple(outside(kind.comers, most, kind.flow)[::-1] for kind, most in kinds)

    @cached_property
    def coming(self) -> FloatArray:
        """Weights H(n) of all numbers inside."""
        whole = np.ones(())
        for each in self._coming:
            whole = np.multiply.outer(whole, each)
        return np.asarray(whole)

    @cached_property
    def returns(self) -> tuple[FloatArray, ...]:
        """How fast those of a kind come, by their number inside, over the flow assumed."""
        speeds = []
        for each in self._coming:
            more = np.append(each[1:], 0.0)
            speeds.append(np.where(each > 0, more / np.where(each > 0, each, 1.0), 0.0))
        return tuple(speeds)

    @cached_property
    def inside(self) -> FloatArray:
        """Chances of numbers at all stations."""
        weights = self.elsewhere(()) * self.coming
        return np.asarray(weights / weights.sum())

    def of_kind(self, j: int) -> FloatArray:
        """Chances of numbers of a kind at all stations."""
        others = tuple(i for i in range(len(self.most)) if i != j)
        return np.asarray(self.inside.sum(axis=others))

    def here(self, k: int) -> FloatArray:
        """Weights of numbers in one lane of a station."""
        return self._lane(self._nobody, k)

    def elsewhere(self, without: Sequence[int]) -> FloatArray:
        """Weights of numbers at all stations, but in one lane of some."""
        return self._beside(self._nobody, without)

    def rest(self, k: int) -> FloatArray:
        """Weights of all that may be elsewhere or away, by numbers in one lane of a station."""
        return _turned(self._beside(_turned(self.coming), (k,)))

    def behind(self, k: int) -> FloatArray:
        """Weights of all that may be in one lane of a station or away, by numbers elsewhere."""
        return _turned(self._lane(_turned(self.coming), k))

    @property
    def _nobody(self) -> FloatArray:
        delta = np.zeros([n + 1 for n in self.most])
        delta[(0,) * len(self.most)] = 1.0
        return delta

    def _beside(self, series: FloatArray, without: Sequence[int]) -> FloatArray:
        for k, place in enumerate(self.company.circle.places):
            for _ in range(place.lanes - list(without).count(k)):
                series = self._lane(series, k)
            series = self._delay(series, k) if place.is_delay else series
        return series

    def _lane(self, series: FloatArray, k: int) -> FloatArray:
        """Convolve with what is in one lane of a station."""
        loads, servers = self.company.loads[k], self.company.circle.places[k].servers
        total, term = np.zeros_like(series), series
        for number in range(1, min(servers, sum(self.most) + 1)):
            total += term
            term = _one_more(term, loads / number)
        return np.asarray(total + _for_ever(term, loads / servers))

    def _delay(self, series: FloatArray, k: int) -> FloatArray:
        """Convolve with what is at a delay."""
        total, term = np.zeros_like(series), series
        for number in range(1, sum(self.most) + 2):
            total += term
            term = _one_more(term, self.company.loads[k] / number)
        return total


def _turned(series: FloatArray) -> FloatArray:
    return series[(slice(None, None, -1),) * series.ndim]


def _one_more(series: FloatArray, loads: FloatArray) -> FloatArray:
    """Convolve with the sum of load_j z_j."""
    total = np.zeros_like(series)
    for axis, load in enumerate(loads):
        ahead, behind = [slice(None)] * series.ndim, [slice(None)] * series.ndim
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        total[tuple(ahead)] += load * series[tuple(behind)]
    return total


def _for_ever(series: FloatArray, ratios: FloatArray) -> FloatArray:
    """Convolve with (sum of ratio_j z_j)**n, summed over all n."""
    if series.ndim == 1:
        return geometric(series[:, None].copy(), ratios[:1])[:, 0]
    size = series.shape[-1]
    powers = ratios[-1] ** np.arange(size) if size <= _SMALL else None
    return _by_rows(series, ratios, None if powers is None else np.tril(toeplitz(powers)))


def _by_rows(series: FloatArray, ratios: FloatArray, last: FloatArray | None) -> FloatArray:
    if series.ndim == 1:
        return _for_ever(series, ratios) if last is None else np.asarray(last @ series)
    total, before = np.empty_like(series), np.zeros_like(series[0])
    for number, row in enumerate(series):
        before = _by_rows(row + ratios[0] * before, ratios[1:], last)
        total[number] = before
    return total
