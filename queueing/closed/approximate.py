"""Approximate mean value analysis: one equation for N jobs instead of a recursion up to N.

All arrays have the shape (classes, stations, points), so one class is a special case.

Source: Schweitzer, "Approximate analysis of multiclass closed networks of queues", 1979;
Bard 1979; Chandy and Neuse, "Linearizer", CACM 25(2), 1982; de Souza e Silva and Muntz, IEEE
Trans. Computers 39(6), 1990, for the sums that make a step of it O(classes**2 stations).
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.closed.fixed_point import Iterate, Linear, settle
from headway.queueing.closed.pools import Crowd
from headway.records import dataclass

# Chandy and Neuse's number; more change little, and other than at single servers 1 suffices
_CORRECTIONS = 3


@dataclass(frozen=True)
class Ordered:
    """Stations that serve classes of different times in order of arrival.

    Parameters
    ----------
    here
        Which stations these are, shape (stations, points).
    service_times
        S of the closed classes, shape (classes, stations, points) [s].
    visits
        V, of the same shape.
    open_load, open_work
        Servers that open classes hold, and their sum of servers times S [s], with the rest of S if
        times are not exponential, shape (stations, points).
    rest
        The rest of a job's service beyond S: S (scv - 1) / 2, as `service_times` [s].
    """

    here: NDArray[np.bool_]
    service_times: FloatArray
    visits: FloatArray
    open_load: FloatArray
    open_work: FloatArray
    rest: FloatArray


@dataclass(frozen=True)
class Closed:
    """A closed network as arrays.

    Parameters
    ----------
    demand
        Demands D, shape (classes, stations, points) [s].
    queues
        Number of separate queues of each station, shape (stations, points).
    think_time, population
        Z [s] and N, shape (classes, points).
    free
        Share of a server that open classes leave, shape (stations, points); all of it by default.
    crowded, rates
        Indices of stations whose speed depends on the number of jobs, and their speeds with 1, 2...
        jobs, shape (numbers, stations of these, points); then the last holds.
    ordered
        The stations that serve in order of arrival.
    """

    demand: FloatArray
    queues: FloatArray
    think_time: FloatArray
    population: FloatArray
    free: FloatArray | None = None
    crowded: tuple[int, ...] = ()
    rates: FloatArray | None = None
    ordered: Ordered | None = None

    def at(self, points: NDArray[np.intp]) -> "Closed":
        """The network at some of the points."""
        line = self.ordered
        return replace(
            self,
            demand=self.demand[..., points],
            queues=self.queues[..., points],
            think_time=self.think_time[..., points],
            population=self.population[..., points],
            free=None if self.free is None else self.free[..., points],
            rates=None if self.rates is None else self.rates[..., points],
            ordered=line and Ordered(*(part[..., points] for part in vars(line).values())),
        )

    @cached_property
    def full(self) -> FloatArray:
        """Work rate of each station for closed jobs when it is full of them, shape as `queues`."""
        free = np.ones(self.queues.shape) if self.free is None else self.free
        full = self.queues * free
        if self.rates is not None:
            full[list(self.crowded)] = self.rates[-1]
        return full

    @cached_property
    def _plain(self) -> Linear:
        """Coefficients of single servers and parallel queues, the same at every state."""
        return Linear(0.0, self.demand / self.full, self.demand, self.queues, 0.0)

    @property
    def steady(self) -> Linear | None:
        """The coefficients, if they depend on the state at no station; otherwise None."""
        return None if self.ordered is not None or self.crowded else self._plain

    @cached_property
    def _crowd(self) -> Crowd:
        return Crowd(np.ones((1, 0, 0)) if self.rates is None else self.rates)

    def linear(self, state: Iterate) -> Linear:
        """The coefficients of the residence times near a state."""
        near = self._plain
        if self.ordered is not None:
            near = self._in_order(self.ordered, near, state)
        return self._at_multiple_servers(near, state) if self.crowded else near

    def _at_multiple_servers(self, near: Linear, state: Iterate) -> Linear:
        """The coefficients with stations of several servers, where an arrival may find one idle.

        The number found by an average job depends on the queue length; classes differ by `share`.
        """
        rows = list(self.crowded)
        work, taken, share = self._in_service(state)
        extra_jobs, by_work, by_taken, fewer = self._crowd.crowded(work, taken)
        demand, gain = self.demand[:, rows], near.gain[:, rows]
        extra, slope = near.extra.copy(), np.zeros(self.demand.shape)
        offset = near.offset + np.zeros(self.demand.shape)
        extra[rows] = 1 + extra_jobs
        slope[:, rows] = (by_work + by_taken * 2 * (share - taken) / work) * demand
        offset[:, rows] += gain * fewer * (share - taken)
        return replace(near, offset=offset, extra=extra, slope=slope)

    def _in_service(self, state: Iterate) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Work in service at crowded stations, and probabilities that a job is removed.

        They are a class's share of the work over N_c, and the mean of these.
        """
        work = state.rate[:, None] * self.demand[:, list(self.crowded)]
        total = np.maximum(work.sum(axis=0), _NOBODY)
        share = work / total / np.maximum(self.population, 1)[:, None]
        return total, (work * share).sum(axis=0) / total, share

    def growth(self, state: Iterate) -> FloatArray:
        """Response over service time of a job from outside, shape as `queues`."""
        jobs = self.queues + state.queue.sum(axis=0)
        if self.crowded:
            work, taken, _ = self._in_service(state)
            jobs[list(self.crowded)] += self._crowd.moments(work, taken)[0]
        return np.asarray(jobs / self.full)

    def _in_order(self, line: Ordered, near: Linear, state: Iterate) -> Linear:
        """The coefficients if an arrival waits for the work that it finds, R = S + (g - 1) S'."""
        mine = state.queue / np.maximum(self.population, 1)[:, None]
        jobs = state.queue.sum(axis=0) - mine + line.open_load
        times, served = line.service_times, state.rate[:, None] * line.visits * line.service_times
        own = served / np.maximum(self.population, 1)[:, None]
        work = (state.queue * times + served * line.rest).sum(axis=0)
        work = work - mine * times - own * line.rest
        mean = (work + line.open_work) / np.maximum(jobs, _NOBODY)
        waits = np.where(line.here & (self.demand > 0), line.visits * mean, self.demand)
        scale = np.where(self.demand > 0, waits / np.where(self.demand > 0, self.demand, 1), 1)
        return replace(near, offset=self.demand - waits, gain=near.gain * scale)


_NOBODY = 1e-300  # stands for 0 jobs, to avoid 0 / 0


def schweitzer(network: Closed) -> Iterate:
    """Bard's and Schweitzer's approximation: an arriving job leaves out its own share.

    Q_jk seen by class c is Q_jk for other classes and Q_ck (N_c - 1) / N_c for its own.

    Returns
    -------
    Throughputs, queue lengths, and what an additional job would find at each station.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> network = Closed(one[None], one, one, 2 * one)
    >>> round(float(schweitzer(network).rate[0, 0]), 3)
    0.764
    """
    return settle(network, 0.0, _evenly(network))


def linearizer(network: Closed) -> Iterate:
    """Chandy and Neuse's Linearizer: Schweitzer with shares corrected from one job fewer.

    The networks with one job fewer of a class are solved as additional points.

    Returns
    -------
    As for `schweitzer`.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> network = Closed(one[None], one, one, 2 * one)
    >>> round(float(linearizer(network).rate[0, 0]), 3)
    0.8
    """
    levels = _levels(network)
    whole = settle(network, 0.0, _evenly(network))
    times = len(network.demand) + 1
    state = Iterate(*(_repeated(part, times) for part in (whole.rate, whole.found, whole.queue)))
    correction = np.zeros((*network.demand.shape[:2], times * network.queues.shape[1]))
    for _ in range(_CORRECTIONS if network.steady else 1):
        state = settle(levels, correction, state)
        correction = _correction(levels, state, times)
    points = np.s_[..., : network.queues.shape[1]]
    start = Iterate(state.rate[points], state.found[points], state.queue[points])
    return settle(network, correction[points], start)


def _repeated(values: FloatArray, times: int) -> FloatArray:
    """The values repeated for copies of the points."""
    return np.tile(values, (1,) * (values.ndim - 1) + (times,))


def _levels(network: Closed) -> Closed:
    """The network, followed by those with a job fewer of the first, second... class, as points."""
    classes = len(network.population)
    every = np.tile(np.arange(network.queues.shape[1]), classes + 1)
    population = network.population[:, every].reshape(classes, classes + 1, -1)
    for c in range(classes):
        population[c, c + 1] = np.maximum(population[c, c + 1] - 1, 0)
    return replace(network.at(every), population=population.reshape(classes, -1))


def _correction(levels: Closed, state: Iterate, times: int) -> FloatArray:
    """What class j meets besides leaving out its own share: sum over c of n_c (share_c's change).

    The sum over c is computed once for all levels; each level then subtracts one job's part.
    """
    classes, stations, columns = levels.demand.shape
    points = columns // times
    population = levels.population.reshape(classes, times, points)
    share = state.queue / np.maximum(levels.population, 1)[:, None]
    share = share.reshape(classes, stations, times, points)
    change = (share[:, :, 1:] - share[:, :, :1]).transpose(2, 1, 0, 3)  # by [j, k, c]
    some = population[:, 0] > 0
    own = np.einsum("jkjp->jkp", change)
    whole = np.einsum("jkcp,cp->jkp", change, population[:, 0]) - own
    fewer = whole[:, :, None] - change * some
    return np.concatenate([whole[:, :, None], fewer], axis=2).reshape(classes, stations, columns)


def _evenly(network: Closed) -> Iterate:
    """The initial state, with every class spread evenly over the stations that it visits."""
    visited = network.demand > 0
    share = network.population[:, None] / np.maximum(visited.sum(axis=1, keepdims=True), 1)
    queue = np.where(visited, share, 0.0)
    found = network.queues + queue.sum(axis=0)
    cycle = network.think_time + (network.demand * found).sum(axis=1)
    return Iterate(network.population / np.where(cycle > 0, cycle, 1.0), found, queue)
