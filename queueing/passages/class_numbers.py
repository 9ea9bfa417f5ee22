"""Numbers of other jobs by class that a tagged job meets, in a closed or mixed BCMP network.

The other jobs are of classes j = 1, 2... with service times S_kj. Stations share their servers
(BCMP type 2) or are delays (type 3). The numbers n_1, n_2, ... in one of the equal queues (lanes)
of station k, with n = n_1 + n_2 + ..., have the weight

    f_k(n_1, n_2, ...) = n! prod over j of a_kj**n_j / n_j! / prod over i = 1..n of min(i, m_k),

with a_kj = X_j V_kj S_kj / lanes_k, and m_k the servers, infinite at a delay. The whole network has
the product form

    P(n_1, n_2, ...) ~ prod over k of f_k * prod over j of H_j(n_j),

summed by convolution over the stations, with H_j the weight of class j away from the queues
(`headway.queueing.passages.aggregation`). Arrays have an axis for each class. A convolution with
f_k multiplies by its generating function

    F_k(z) = sum over n of (sum over j of a_kj z_j)**n / prod over i = 1..n of min(i, m_k).

Source: Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.linalg import toeplitz

from headway.kinds import FloatArray
from headway.queueing.closed.series import geometric
from headway.queueing.passages.aggregation import ArrivingClass, outside_weights
from headway.queueing.passages.passage import Passage
from headway.records import dataclass

_FEWEST = 16  # largest number of jobs of an open class at first: for speed
_SMALL = 256  # size of an axis up to which a matrix is faster than a recursion: for speed
_LARGEST = 200_000  # most elements of an array: for memory and speed
_LEFT_OUT = 1e-7
"""Largest probability of the last number of jobs of an open class that arrays keep;
`AVERAGED_ELSEWHERE` of `headway.queueing.passages.sharing_chain` was measured with it.
"""


@dataclass(frozen=True)
class SharingClass:
    """Other jobs of the same service times: one class, or several that differ in their arrivals.

    Parameters
    ----------
    times, visits
        S_k, mean service time [s], above 0 if there are visits, and V_k, mean visits, by station.
    flow
        X, their approximate throughput [1/s], above 0; it only scales the weights.
    arriving
        N and the mean time away, or lambda, for each class.
    """

    times: tuple[float, ...]
    visits: tuple[float, ...]
    flow: float
    arriving: tuple[ArrivingClass, ...]

    @property
    def has_open(self) -> bool:
        """Whether any of them is an open class."""
        return any(not each.jobs for each in self.arriving)

    @property
    def jobs(self) -> int:
        """Population of the closed classes."""
        return sum(each.jobs for each in self.arriving)

    def merged_with(self, other: "SharingClass") -> "SharingClass":
        """Merge two classes: X = X_1 + X_2, and V_k and S_k are means weighted by flow.

        Examples
        --------
        >>> a = SharingClass((1.0,), (1.0,), 0.3, ())
        >>> b = SharingClass((2.0,), (1.0,), 0.1, ())
        >>> a.merged_with(b).times, a.merged_with(b).flow
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
    """A network of shared servers and delays, with the other jobs by class.

    Parameters
    ----------
    passage
        The stations and the routes of the tagged job; its own numbers of other jobs are ignored.
    classes
        The other jobs, of one or more classes.

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
        """Weights up to numbers rarely exceeded by open classes; None if arrays are too large."""
        most = [each.jobs + _FEWEST * each.has_open for each in self.classes]
        while np.prod([n + 1.0 for n in most]) <= _LARGEST:
            truncated = TruncatedNumbers(self, tuple(most))
            more = [
                each.has_open and truncated.of_class(j)[-1] > _LEFT_OUT
                for j, each in enumerate(self.classes)
            ]
            if not any(more):
                return truncated
            most = [2 * n if each else n for n, each in zip(most, more, strict=True)]
        return None

    @cached_property
    def loads(self) -> FloatArray:
        """a_kj = X_j V_kj S_kj / lanes_k, shape (stations, classes)."""
        lanes = np.array([max(station.lanes, 1) for station in self.passage.stations])
        each = [one.flow * np.array(one.visits) * np.array(one.times) for one in self.classes]
        return np.asarray(np.array(each).T / lanes[:, None])

    def with_nearest_merged(self) -> "SharingNetwork":
        """Merge the two classes i, j with the smallest max over k of |log(S_ki / S_kj)|."""

        def log_ratio(pair: tuple[int, int]) -> float:
            first, second = (np.maximum(self.classes[j].times, _TINY) for j in pair)
            return float(np.abs(np.log(first / second)).max())

        i, j = min(combinations(range(len(self.classes)), 2), key=log_ratio)
        rest = [each for k, each in enumerate(self.classes) if k not in {i, j}]
        return replace(self, classes=(*rest, self.classes[i].merged_with(self.classes[j])))


_TINY = 1e-300  # [s], stands for 0, whose logarithm is not finite


@dataclass(frozen=True, eq=False)
class TruncatedNumbers:
    """Weights of (n_1, n_2, ...) up to `most`, in arrays with an axis for each class."""

    network: SharingNetwork
    most: tuple[int, ...]

    @cached_property
    def _arrival_weights(self) -> tuple[FloatArray, ...]:
        """H_j(n) for n = 0, 1, 2... jobs of each class j at stations."""
        classes = zip(self.network.classes, self.most, strict=True)
        return tuple(outside_weights(one.arriving, most, one.flow)[::-1] for one, most in classes)

    @cached_property
    def joint_arrival_weights(self) -> FloatArray:
        """Prod over j of H_j(n_j)."""
        whole = np.ones(())
        for each in self._arrival_weights:
            whole = np.multiply.outer(whole, each)
        return np.asarray(whole)

    @cached_property
    def returns(self) -> tuple[FloatArray, ...]:
        """H_j(n + 1) / H_j(n): arrival rate of class j with n of its jobs at stations, over X_j."""
        ratios = []
        for each in self._arrival_weights:
            more = np.append(each[1:], 0.0)
            ratios.append(np.where(each > 0, more / np.where(each > 0, each, 1.0), 0.0))
        return tuple(ratios)

    @cached_property
    def inside(self) -> FloatArray:
        """P(n_1, n_2, ...) at all stations together."""
        weights = self.elsewhere(()) * self.joint_arrival_weights
        return np.asarray(weights / weights.sum())

    def of_class(self, j: int) -> FloatArray:
        """P(n_j) at all stations together."""
        others = tuple(i for i in range(len(self.most)) if i != j)
        return np.asarray(self.inside.sum(axis=others))

    def lane_weights(self, k: int) -> FloatArray:
        """f_k(n_1, n_2, ...) in one lane of station k."""
        return self._lane(self._no_jobs, k)

    def elsewhere(self, without: Sequence[int]) -> FloatArray:
        """Convolve f_k over all lanes of all stations, except one lane of each in `without`."""
        return self._convolved_over_stations(self._no_jobs, without)

    def rest(self, k: int) -> FloatArray:
        """Weights of all jobs outside one lane of station k, by the numbers in that lane."""
        return _reversed(self._convolved_over_stations(_reversed(self.joint_arrival_weights), (k,)))

    def behind(self, k: int) -> FloatArray:
        """Weights of the jobs in one lane of station k or away, by the numbers elsewhere."""
        return _reversed(self._lane(_reversed(self.joint_arrival_weights), k))

    @property
    def _no_jobs(self) -> FloatArray:
        delta = np.zeros([n + 1 for n in self.most])
        delta[(0,) * len(self.most)] = 1.0
        return delta

    def _convolved_over_stations(self, series: FloatArray, without: Sequence[int]) -> FloatArray:
        for k, station in enumerate(self.network.passage.stations):
            for _ in range(station.lanes - list(without).count(k)):
                series = self._lane(series, k)
            series = self._delay(series, k) if station.is_delay else series
        return series

    def _lane(self, series: FloatArray, k: int) -> FloatArray:
        """Multiply by F_k(z) of one lane: polynomial for n < m, then a geometric series."""
        loads, servers = self.network.loads[k], self.network.passage.stations[k].servers
        total, term = np.zeros_like(series), series
        for number in range(1, min(servers, sum(self.most) + 1)):
            total += term
            term = _times_loads(term, loads / number)
        return np.asarray(total + _geometric(term, loads / servers))

    def _delay(self, series: FloatArray, k: int) -> FloatArray:
        """Multiply by F_k(z) = exp(sum over j of a_kj z_j) of a delay, truncated."""
        total, term = np.zeros_like(series), series
        for number in range(1, sum(self.most) + 2):
            total += term
            term = _times_loads(term, self.network.loads[k] / number)
        return total


def _reversed(series: FloatArray) -> FloatArray:
    """Reverse each axis: index n becomes `most` - n."""
    return series[(slice(None, None, -1),) * series.ndim]


def _times_loads(series: FloatArray, loads: FloatArray) -> FloatArray:
    """Multiply by sum over j of a_j z_j, truncated at `most`."""
    total = np.zeros_like(series)
    for axis, load in enumerate(loads):
        ahead, behind = [slice(None)] * series.ndim, [slice(None)] * series.ndim
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        total[tuple(ahead)] += load * series[tuple(behind)]
    return total


def _geometric(series: FloatArray, ratios: FloatArray) -> FloatArray:
    """Multiply by 1 / (1 - sum over j of r_j z_j), truncated at `most`."""
    if series.ndim == 1:
        return geometric(series[:, None].copy(), ratios[:1])[:, 0]
    size = series.shape[-1]
    powers = ratios[-1] ** np.arange(size) if size <= _SMALL else None
    return _geometric_by_rows(series, ratios, None if powers is None else np.tril(toeplitz(powers)))


def _geometric_by_rows(
    series: FloatArray, ratios: FloatArray, last: FloatArray | None
) -> FloatArray:
    """Solve y(n_1) = (x(n_1) + r_1 y(n_1 - 1)) / (1 - sum over j > 1 of r_j z_j) in turn.

    `last` is the Toeplitz matrix of 1 / (1 - r z) of the last class; None for the recursion.
    """
    if series.ndim == 1:
        return _geometric(series, ratios) if last is None else np.asarray(last @ series)
    total, before = np.empty_like(series), np.zeros_like(series[0])
    for number, row in enumerate(series):
        before = _geometric_by_rows(row + ratios[0] * before, ratios[1:], last)
        total[number] = before
    return total
