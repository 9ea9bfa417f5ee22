"""Numbers of other jobs by class, in a closed or mixed network of shared servers and delays.

Other jobs are of classes j = 1, 2... that differ in the service times S_kj they need. With
n = n_1 + n_2 + ... of them in one lane of station k, the numbers have the product form (type 2)

    f_k(n_1, n_2, ...) = n! prod over j of a_kj**n_j / n_j! / prod over i = 1..n of min(i, m_k),

with a_kj = X_j V_kj S_kj over the lanes, and m_k the servers, oo at a delay. In the whole network

    P(n_1, n_2, ...) ~ prod over k of f_k * prod over j of H_j(n_j),

convolved over the stations, with H_j as of `headway.queueing.passages.aggregation`. Arrays have an
axis for each class; f_k is applied by its generating function, in which one more job is a
multiplication by sum over j of a_kj z_j.

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
from headway.queueing.passages.aggregation import ArrivingClass, outside_weights
from headway.queueing.passages.passage import Passage

_FEWEST = 16  # jobs of an open class that are allowed for at first: for speed
_SMALL = 256  # numbers of one class for which a matrix is faster than a recursion
_LARGEST = 200_000  # numbers of all classes together that arrays are made for: memory and speed
_LEFT_OUT = 1e-7
"""Probability of the largest number of an open class that is allowed for; `BESIDE` of
`headway.queueing.passages.sharing_chain` was measured with it."""


@dataclass(frozen=True)
class SharingClass:
    """Other jobs that need the same service times: a class, or several that differ in coming.

    Parameters
    ----------
    times, visits
        S_k, mean service time [s], above 0 where there are visits, and V_k, mean visits, by
        station.
    flow
        X, their throughput, approximately [1/s], above 0.
    arriving
        How they come to the stations.
    """

    times: tuple[float, ...]
    visits: tuple[float, ...]
    flow: float
    arriving: tuple[ArrivingClass, ...]

    @property
    def comes(self) -> bool:
        """Whether some of them are of an open class."""
        return any(not each.jobs for each in self.arriving)

    @property
    def jobs(self) -> int:
        """How many of them are of closed classes."""
        return sum(each.jobs for each in self.arriving)

    def joined(self, other: "SharingClass") -> "SharingClass":
        """Both as one class, of their mean times and visits.

        Examples
        --------
        >>> a = SharingClass((1.0,), (1.0,), 0.3, ())
        >>> b = SharingClass((2.0,), (1.0,), 0.1, ())
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
        arriving = self.arriving + other.arriving
        return SharingClass(tuple(mean.tolist()), tuple(visits.tolist()), flow, arriving)


@dataclass(frozen=True, eq=False)
class SharingNetwork:
    """A network of shared servers and delays with its other jobs, as a tagged job passes it.

    Parameters
    ----------
    passage
        The stations and the routes of the tagged job; its numbers of other jobs are not used.
    classes
        The other jobs, of one class or more.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("cpu", 1.0, 1, 1)
    >>> alone = Passage((cpu,), one, 0 * one[None], one, 1, 0.0, 0.5, one)
    >>> others = SharingClass((1.0,), (1.0,), 0.3, (ArrivingClass(2, 4.0),))
    >>> truncated = SharingNetwork(alone, (others,)).truncated
    >>> truncated.most, truncated.inside.round(3).tolist()  # 2 away for 4 s: 1, 1 / 2, 1 / 8
    ((2,), [0.615, 0.308, 0.077])
    """

    passage: Passage
    classes: tuple[SharingClass, ...]

    @cached_property
    def truncated(self) -> "TruncatedNumbers | None":
        """Weights of numbers up to those that are rarely exceeded; None if these are too many."""
        most = [each.jobs + _FEWEST * each.comes for each in self.classes]
        while np.prod([n + 1.0 for n in most]) <= _LARGEST:
            truncated = TruncatedNumbers(self, tuple(most))
            more = [
                each.comes and truncated.of_class(j)[-1] > _LEFT_OUT
                for j, each in enumerate(self.classes)
            ]
            if not any(more):
                return truncated
            most = [2 * n if each else n for n, each in zip(most, more, strict=True)]
        return None

    @cached_property
    def loads(self) -> FloatArray:
        """a_kj, offered load of each class at one lane of a station, shape (stations, classes)."""
        lanes = np.array([max(station.lanes, 1) for station in self.passage.stations])
        each = [one.flow * np.array(one.visits) * np.array(one.times) for one in self.classes]
        return np.asarray(np.array(each).T / lanes[:, None])

    def fewer(self) -> "SharingNetwork":
        """The same with two classes as one: those of the least max over k of |log(S_ki / S_kj)|."""

        def apart(pair: tuple[int, int]) -> float:
            first, second = (np.maximum(self.classes[j].times, _TINY) for j in pair)
            return float(np.abs(np.log(first / second)).max())

        i, j = min(combinations(range(len(self.classes)), 2), key=apart)
        rest = [each for k, each in enumerate(self.classes) if k not in {i, j}]
        return replace(self, classes=(*rest, self.classes[i].joined(self.classes[j])))


_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class TruncatedNumbers:
    """Weights of the numbers of each class up to `most`: arrays with an axis for each class."""

    network: SharingNetwork
    most: tuple[int, ...]

    @cached_property
    def _coming(self) -> tuple[FloatArray, ...]:
        """H_j(n) of n = 0, 1, 2... jobs at stations, of each class."""
        classes = zip(self.network.classes, self.most, strict=True)
        return tuple(outside_weights(one.arriving, most, one.flow)[::-1] for one, most in classes)

    @cached_property
    def coming(self) -> FloatArray:
        """Product of H_j(n_j) over the classes."""
        whole = np.ones(())
        for each in self._coming:
            whole = np.multiply.outer(whole, each)
        return np.asarray(whole)

    @cached_property
    def returns(self) -> tuple[FloatArray, ...]:
        """H_j(n + 1) / H_j(n): rate at which a class comes while n are inside, over X_j."""
        ratios = []
        for each in self._coming:
            more = np.append(each[1:], 0.0)
            ratios.append(np.where(each > 0, more / np.where(each > 0, each, 1.0), 0.0))
        return tuple(ratios)

    @cached_property
    def inside(self) -> FloatArray:
        """Probabilities of the numbers at all stations."""
        weights = self.elsewhere(()) * self.coming
        return np.asarray(weights / weights.sum())

    def of_class(self, j: int) -> FloatArray:
        """Probabilities of the number of class j at all stations."""
        others = tuple(i for i in range(len(self.most)) if i != j)
        return np.asarray(self.inside.sum(axis=others))

    def here(self, k: int) -> FloatArray:
        """f_k: weights of the numbers in one lane of station k."""
        return self._lane(self._nobody, k)

    def elsewhere(self, without: Sequence[int]) -> FloatArray:
        """Weights of the numbers at all stations but one lane of each station in `without`."""
        return self._beside(self._nobody, without)

    def rest(self, k: int) -> FloatArray:
        """Weights of the other numbers, elsewhere or away, by those in one lane of station k."""
        return _turned(self._beside(_turned(self.coming), (k,)))

    def behind(self, k: int) -> FloatArray:
        """Weights of the other numbers, in one lane of station k or away, by those elsewhere."""
        return _turned(self._lane(_turned(self.coming), k))

    @property
    def _nobody(self) -> FloatArray:
        delta = np.zeros([n + 1 for n in self.most])
        delta[(0,) * len(self.most)] = 1.0
        return delta

    def _beside(self, series: FloatArray, without: Sequence[int]) -> FloatArray:
        for k, station in enumerate(self.network.passage.stations):
            for _ in range(station.lanes - list(without).count(k)):
                series = self._lane(series, k)
            series = self._delay(series, k) if station.is_delay else series
        return series

    def _lane(self, series: FloatArray, k: int) -> FloatArray:
        """Convolve with f_k of one lane: (sum a_kj z_j)**n / (min(1, m)...min(n, m)) over n."""
        loads, servers = self.network.loads[k], self.network.passage.stations[k].servers
        total, term = np.zeros_like(series), series
        for number in range(1, min(servers, sum(self.most) + 1)):
            total += term
            term = _one_more(term, loads / number)
        return np.asarray(total + _geometric(term, loads / servers))

    def _delay(self, series: FloatArray, k: int) -> FloatArray:
        """Convolve with f_k of a delay: (sum over j of a_kj z_j)**n / n! over n."""
        total, term = np.zeros_like(series), series
        for number in range(1, sum(self.most) + 2):
            total += term
            term = _one_more(term, self.network.loads[k] / number)
        return total


def _turned(series: FloatArray) -> FloatArray:
    """By how many fewer there are than the largest numbers."""
    return series[(slice(None, None, -1),) * series.ndim]


def _one_more(series: FloatArray, loads: FloatArray) -> FloatArray:
    """Multiply by sum over j of load_j z_j, up to the largest numbers."""
    total = np.zeros_like(series)
    for axis, load in enumerate(loads):
        ahead, behind = [slice(None)] * series.ndim, [slice(None)] * series.ndim
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        total[tuple(ahead)] += load * series[tuple(behind)]
    return total


def _geometric(series: FloatArray, ratios: FloatArray) -> FloatArray:
    """Multiply by 1 / (1 - sum over j of ratio_j z_j), up to the largest numbers."""
    if series.ndim == 1:
        return geometric(series[:, None].copy(), ratios[:1])[:, 0]
    size = series.shape[-1]
    powers = ratios[-1] ** np.arange(size) if size <= _SMALL else None
    return _by_rows(series, ratios, None if powers is None else np.tril(toeplitz(powers)))


def _by_rows(series: FloatArray, ratios: FloatArray, last: FloatArray | None) -> FloatArray:
    """The same, class by class: row n_1 follows from row n_1 - 1; `last` is the last class's."""
    if series.ndim == 1:
        return _geometric(series, ratios) if last is None else np.asarray(last @ series)
    total, before = np.empty_like(series), np.zeros_like(series[0])
    for number, row in enumerate(series):
        before = _by_rows(row + ratios[0] * before, ratios[1:], last)
        total[number] = before
    return total
