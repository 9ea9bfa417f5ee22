"""A closed network, as a tagged job passes through it from request to answer.

The network has the product form of Gordon and Newell: with n_k of the other jobs at station k,

    P(n_1, n_2, ...) ~ f_1(n_1) f_2(n_2) ...,
    f_k(n) = a_k**n / (min(1, m_k) min(2, m_k) ... min(n, m_k)),  a_k = X V_k S_k,

with m_k the servers, V_k the mean visits and S_k the mean service time; a delay has m_k = oo, so
f_k(n) = a_k**n / n!. X only scales the weights; the throughput keeps them in range. Sums over all
n_1 + n_2 + ... = n are convolutions (Buzen, CACM 16(9), 1973): the code calls an array of such sums
for n = 0, 1, 2... a series.

Source: Gordon and Newell, Operations Research 15(2), 1967.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.closed.series import geometric, thinking
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.times.absorption import mean_visits
from headway.records import dataclass

_CERTAIN = 1e-9
"""Rounding error of the visits to a station that every job visits once."""

# products in a convolution above which Fourier transforms are faster: for speed
_MOST_PRODUCTS = 10**8
# share of the largest number below which rounding makes those of a Fourier transform useless
_HIDDEN = 1e-15


@dataclass(frozen=True)
class PassageStation:
    """A station of a closed network: parallel queues (lanes) of m servers each, or a delay.

    Parameters
    ----------
    name
        Used in messages.
    time
        Mean service time [s].
    servers, lanes
        Servers of each queue, and number of queues, one of which a job joins at random; 0 for a
        delay.
    own
        Mean service time of the tagged job [s]; None if it is that of all jobs.
    shares
        Whether all jobs at a queue share its servers (processor sharing).

    Examples
    --------
    >>> PassageStation("disks", 0.01, 1, 8).is_delay
    False
    """

    name: str
    time: float
    servers: int
    lanes: int
    own: float | None = None
    shares: bool = False

    @property
    def own_time(self) -> float:
        """Mean service time of the tagged job [s]."""
        return self.time if self.own is None else self.own

    @property
    def is_delay(self) -> bool:
        """Whether all jobs are served at once."""
        return self.lanes == 0


def passage_station(name: str, station: Station, most: int) -> PassageStation:
    """A station in this form, for at most `most` jobs; servers beyond that are left out.

    Raises
    ------
    GraphError
        For a kind of station whose jobs are served in no known order.

    Examples
    --------
    >>> from headway.queueing import MMm
    >>> passage_station("cpu", MMm(0.1, 4), most=100)
    PassageStation(name='cpu', time=0.1, servers=4, lanes=1, own=None, shares=False)
    """
    kind, count = station.can.product_form, station.plain_count
    if kind is ServiceKind.DELAY:
        return PassageStation(name, station.mean_service, 0, 0)
    if kind is ServiceKind.PARALLEL:
        return PassageStation(name, station.mean_service, 1, int(count))
    if kind is ServiceKind.QUEUE:
        return PassageStation(name, station.mean_service, int(min(count, max(most, 1))), 1)
    msg = f"{name}: its response time distribution is unknown: {station.lawless}; use MM1, MMm"
    msg += ", Parallel or Delay, or give the load as arrivals"
    raise GraphError(msg)


@dataclass(frozen=True, eq=False)
class Passage:
    """A closed network and the routes of the tagged job through it, from request to answer.

    Parameters
    ----------
    stations
        First come first served, unless their servers are shared.
    entries, onward, leaving
        Routes of the tagged job, as in `headway.queueing.times.absorption.Journey`.
    population
        Jobs N, 1 or more, the tagged one included.
    think_time
        Mean time Z from an answer to the next request [s], 0 or more.
    throughput
        X [1/s], approximate: it keeps the weights of numbers in range.
    stays
        Mean response time of a visit to each station [s].
    visits
        Mean visits of the other jobs to each station; None if they take the tagged job's routes.
    Weights of 0, 1, 2... other jobs away from the queues, as in
    `headway.queueing.passages.aggregation`; None if all have the same think time.

    Examples
    --------
    >>> one = np.ones(1)
    >>> cpu = PassageStation("cpu", 1.0, 1, 1)
    >>> passage = Passage((cpu,), one, np.zeros((1, 1)), one, 3, 2.0, 0.8, stays=1.6 * one)
    >>> passage.others
    2
    """

    stations: tuple[PassageStation, ...]
    entries: FloatArray
    onward: FloatArray
    leaving: FloatArray
    population: int
    think_time: float
    throughput: float
    stays: FloatArray
    visits: FloatArray | None = None
    outside: FloatArray | None = None

    @cached_property
    def _key(self) -> tuple[object, ...]:
        arrays = [self.entries, self.onward, self.leaving, self.stays, self.others_visits]
        arrays += [] if self.outside is None else [self.outside]
        numbers = (self.stations, self.population, self.think_time, self.throughput)
        return *numbers, *(each.tobytes() for each in arrays)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Passage) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def others(self) -> int:
        """N - 1, number of other jobs."""
        return self.population - 1

    @cached_property
    def others_visits(self) -> FloatArray:
        """Mean visits of another job to each station."""
        own = mean_visits(self.entries, self.onward)
        return own if self.visits is None else self.visits

    @cached_property
    def own_visits(self) -> FloatArray:
        """Mean visits of the tagged job to each station."""
        return mean_visits(self.entries, self.onward)

    @property
    def away(self) -> float:
        """Mean time per cycle that another job thinks or spends at delays [s]."""
        delays = zip(self.stations, self.others_visits, strict=True)
        resting = sum(float(v) * station.time for station, v in delays if station.is_delay)
        return self.think_time + resting

    @cached_property
    def queues(self) -> "tuple[QueueWeights | None, ...]":
        """Weights f_k of the numbers at each station; None for a delay."""
        rates = self.throughput * self.others_visits
        return tuple(
            None
            if station.is_delay
            else QueueWeights(station, float(rate) * station.time / station.lanes)
            for station, rate in zip(self.stations, rates, strict=True)
        )

    @property
    def has_jobs_away(self) -> bool:
        """Whether other jobs think or visit delays."""
        return self.away > 0 if self.outside is None else bool(self.outside[1:].any())

    @cached_property
    def return_rates(self) -> FloatArray:
        """Arrival rate at the queues with j = 0, 1, 2... jobs away, divided by X.

        With weights h(j) of j jobs away, it is h(j - 1) / h(j), that is j / (X away) for one class.
        """
        if not self.has_jobs_away:
            return np.zeros(self.population)
        if self.outside is None:
            return np.arange(self.population) / (self.throughput * self.away)
        some = self.outside > 0
        ratios = self.outside[:-1] / np.where(some, self.outside, 1.0)[1:]
        return np.append(0.0, np.where(some[1:], ratios, 0.0))

    def at_delays(self, size: int) -> FloatArray:
        """Weights of 0, 1, 2... other jobs that think or are at delays, shape (size, 1)."""
        if self.outside is not None:
            return self.outside[:size, None]
        return thinking(size, np.array([self.throughput * self.away]))

    @property
    def fullness(self) -> float:
        """P(n = N - 1): probability that all other jobs are at queues."""
        series = np.zeros((self.population, 1))
        series[0] = 1.0
        for queue in self.queues:
            series = series if queue is None else queue.times(series)
        chances = series[:, 0] * self.at_delays(self.population)[::-1, 0]
        return float(chances[-1] / chances.sum())

    @property
    def spent_by_all(self) -> NDArray[np.bool_]:
        """Delays that the tagged job visits exactly once on every route."""
        count = len(self.stations)
        again = np.diag(np.linalg.inv(np.eye(count) - self.onward)) > 1 + _CERTAIN
        once = np.abs(self.own_visits - 1) < _CERTAIN
        return np.array([station.is_delay for station in self.stations], bool) & once & ~again

    def settled(self) -> "Passage":
        """The passage without stations that have no visits or no service time."""
        used = (self.own_visits > 0) | (self.others_visits > 0)
        busy = np.array([station.time > 0 for station in self.stations])
        return self.without(np.flatnonzero(~(used & busy)))

    def without(self, gone: NDArray[np.intp]) -> "Passage":
        """Leave stations out: other jobs spend their time there thinking, the tagged job does not.

        Routes through the set g of these stations become direct: P' = P + P_g (1 - P_gg)^-1 P_g.
        """
        keep = np.setdiff1d(np.arange(len(self.stations)), gone)
        through = np.linalg.inv(np.eye(len(gone)) - self.onward[np.ix_(gone, gone)])
        to = self.onward[:, gone] @ through
        onward = self.onward + to @ self.onward[gone]
        entries = self.entries + self.entries[gone] @ through @ self.onward[gone]
        delays = sum(self.others_visits[k] * self.stations[k].time for k in gone)
        return replace(
            self,
            think_time=self.think_time + float(delays),
            stations=tuple(self.stations[k] for k in keep),
            entries=entries[keep],
            onward=onward[np.ix_(keep, keep)],
            leaving=(self.leaving + to @ self.leaving[gone])[keep],
            stays=self.stays[keep],
            visits=self.others_visits[keep],
        )

    def through(self, k: int) -> "Passage":
        """The network with a tagged job that visits station k once and leaves."""
        only = np.zeros(len(self.stations))
        only[k] = 1.0
        return replace(
            self,
            entries=only,
            onward=np.zeros((len(only), len(only))),
            leaving=np.ones(len(only)),
            visits=self.others_visits,
        )

    @property
    def mean(self) -> float:
        """Mean time of the tagged job from request to answer [s]."""
        return float(self.own_visits @ self.stays)


@dataclass(frozen=True)
class QueueWeights:
    """Weights f(n) of n jobs in one lane of a station with queues.

    Parameters
    ----------
    station
        A station, with one lane or several.
    load
        a = X V S / lanes: offered load of one lane at the network's throughput.
    """

    station: PassageStation
    load: float

    @cached_property
    def head(self) -> FloatArray:
        """f(0), f(1)... f(m), scaled so that the largest is 1."""
        n = np.arange(1, self.station.servers + 1)
        with np.errstate(divide="ignore"):
            logs = np.append(0.0, np.cumsum(np.log(self.load / n)))
        return np.asarray(np.exp(logs - logs.max()))

    @property
    def busy(self) -> float:
        """A / m = f(n + 1) / f(n) for n >= m."""
        return self.load / self.station.servers

    def weights(self, size: int) -> FloatArray:
        """f(0), f(1)... of one lane, `size` of them."""
        last = self.station.servers - 1
        tail = self.head[last] * self.busy ** np.arange(max(size - last, 0))
        return np.append(self.head[:last], tail)[:size]

    def times(self, series: FloatArray, lanes: int | None = None) -> FloatArray:
        """Convolve a series with f of each lane, or of as many lanes as given."""
        for _ in range(self.station.lanes if lanes is None else lanes):
            series = self.lane(series)
        return series

    def lane(self, series: FloatArray) -> FloatArray:
        """Convolve a series with f of one lane, shape (numbers, 1)."""
        last = self.station.servers - 1
        ratio = np.full(series.shape[1:], self.busy)
        tail = geometric(self.head[last] * series[: max(len(series) - last, 0)], ratio)
        if not last:
            return tail
        result = np.zeros(series.shape)
        result[:, 0] = _convolved(self.head[:last], series[:, 0])
        result[last:] += tail
        return np.asarray(result)


def _convolved(head: FloatArray, series: FloatArray) -> FloatArray:
    """Convolve the weights below the servers with a series, up to the length of the series.

    Very long ones use Fourier transforms, and drop what is rounding.
    """
    likely, size = np.flatnonzero(head[: len(series)]), len(series)
    if len(likely) == 0:
        return np.zeros(size)
    start, head = int(likely[0]), head[likely[0] : likely[-1] + 1]
    if len(head) * size <= _MOST_PRODUCTS:
        return np.append(np.zeros(start), np.convolve(head, series))[:size]
    length = 1 << (len(head) + size).bit_length()
    both = np.fft.irfft(np.fft.rfft(head, length) * np.fft.rfft(series, length), length)
    both[both < _HIDDEN * both.max()] = 0.0
    return np.append(np.zeros(start), both)[:size]


def topological_order(onward: FloatArray) -> list[int] | None:
    """Stations in an order in which jobs visit them; None if jobs can return to a station.

    Examples
    --------
    >>> topological_order(np.array([[0.0, 0.0], [1.0, 0.0]]))
    [1, 0]
    """
    left, order = set(range(len(onward))), list[int]()
    while left:
        free = [k for k in sorted(left) if not any(onward[j, k] > 0 for j in left)]
        if not free:
            return None
        order += free
        left -= set(free)
    return order
