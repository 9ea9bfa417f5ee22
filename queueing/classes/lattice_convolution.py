"""Exact closed networks of several classes with pools and other speeds, by convolution.

A station's product form is a function F(s) of s = sum over classes of D_c z_c, the z_c counting
jobs. With speeds a(1), a(2)... of which the K-th holds from there on,

    F(s) = sum of s**n / (a(1) ... a(n)) = B(s) / (1 - s/a(K)),
    B(s) = sum over t < K of s**t / (a(1) ... a(t)) (1 - a(t)/a(K)),

so it is applied to an array over the lattice by K shifts and one recurrence; m servers have a(n) =
min(n, m). If some speed is above the last, B has negative coefficients, and the first K terms of F
are summed separately. Open jobs that keep u servers busy on average turn F(s) into F(s + u), which
has the same form. All terms are positive, and every station is scaled to probabilities at
throughputs near the solution, so that nothing overflows (compare
`headway.queueing.closed.convolution`).

Source: Reiser and Kobayashi, IBM J. Res. Dev. 19, 1975; Bruell and Balbo, *Computational
Algorithms for Closed Queueing Networks*, 1980.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import NamedTuple

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.classes.lattice import Lattice, lattice_for
from headway.queueing.erlang.poisson import poisson
from headway.records import dataclass

_LONG = 1000  # states from which a compiled filter is worth its import


@dataclass(frozen=True)
class Speeds:
    """A closed or mixed network as arrays.

    Parameters
    ----------
    demand
        Demands D of the closed classes, shape (classes, stations, points) [s].
    speeds
        For each station, work done per second with 1, 2... jobs [s/s], shape (numbers, points);
        then the last holds.
    open_load
        Offered work u of open classes [s/s], shape (stations, points), below the last speed.
    think_time, population
        Z [s], delays included, and N, shape (classes, points).
    guess
        Throughputs near the solution, shape (classes, points), above 0; in principle any will do.
    crews
        For stations, by row, of which min(n, m) servers work with n jobs: m, shape (points,).
    """

    demand: FloatArray
    speeds: tuple[FloatArray, ...]
    open_load: FloatArray
    think_time: FloatArray
    population: FloatArray
    guess: FloatArray
    crews: Mapping[int, FloatArray] = field(default_factory=dict)


class ConvolvedClasses(NamedTuple):
    """Results of a convolution.

    Parameters
    ----------
    throughput
        Shape (classes, points) [1/s].
    queue_length
        Closed jobs at each station, shape (classes, stations, points).
    open_growth
        d log F / d log u over u: open jobs per offered work of theirs, shape (stations, points).
    working
        Mean share of the servers of a station in `Speeds.crews` that works for each closed class,
        shape as `queue_length`.
    open_working
        The same for open classes, divided by their offered work u, shape (stations, points).
    """

    throughput: FloatArray
    queue_length: FloatArray
    open_growth: FloatArray
    working: FloatArray
    open_working: FloatArray


def lattice_convolution(network: Speeds) -> ConvolvedClasses:
    """Solve a closed or mixed network of several classes.

    Raises
    ------
    InvalidParameter
        For a lattice too large for the memory, or beyond the range of floating point.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> network = Speeds(one[None], (one,), 0 * one, one, 2 * one, one / 2)
    >>> round(float(lattice_convolution(network).throughput[0, 0]), 12)
    0.8
    """
    lattice = lattice_for(network.population, len(network.speeds))
    guess = within_capacity(network)
    rows, points = lattice.row(network.population), np.arange(guess.shape[1])
    stations = [LatticeStation(network, k, guess, lattice) for k in range(len(network.speeds))]
    before = [thinking_jobs(lattice, guess * network.think_time)]
    for station in stations:
        before.append(station.times(before[-1]))
    top = before[-1][rows, points]
    if not (top > 0).all():
        msg = "convolution exceeded the range of floating-point numbers; use method linearizer"
        raise InvalidParameter(msg)
    fewer = np.stack([before[-1][neighbour[rows], points] for neighbour in lattice.fewer])
    workers = {k: _working(network, k, guess, stations[k]) for k in network.crews}
    numbers = _numbers(lattice, stations, before, network.population, workers)
    return ConvolvedClasses(guess * fewer / top, *(part / top for part in numbers))


def within_capacity(network: Speeds) -> FloatArray:
    """Lower the guess where it exceeds the capacity of a station."""
    works = (network.demand * network.guess[:, None]).sum(axis=0)
    busy = np.zeros(network.guess.shape[1])
    for work, speeds, taken in zip(works, network.speeds, network.open_load, strict=True):
        busy = np.maximum(busy, work / (speeds[-1] - taken))
    jobs = network.population.sum(axis=0)
    return np.asarray(network.guess * np.minimum(1, jobs / (jobs + 1) / np.maximum(busy, 1e-300)))


def thinking_jobs(lattice: Lattice, mean: FloatArray) -> FloatArray:
    """Probabilities of thinking jobs, independent by class; with one more row of zeros."""
    chances = np.zeros((lattice.states + 1, mean.shape[1]))
    chances[:-1] = 1.0
    for c, numbers in enumerate(lattice.number):
        chances[:-1] *= poisson(np.arange(lattice.sizes[c])[:, None], mean[c])[numbers]
    return chances


class LatticeStation:
    """F of a station in s' = s / (offered work of closed jobs), scaled to F(1) = 1.

    F = P + T / (1 - r s'), with P = 0 if all coefficients of the second term are positive.
    """

    def __init__(self, network: Speeds, k: int, guess: FloatArray, lattice: Lattice) -> None:
        self.load = load = guess * network.demand[:, k]
        closed, opened, speeds = load.sum(axis=0), network.open_load[k], network.speeds[k]
        some = np.where(closed > 0, closed, 1.0)
        self.lattice = lattice
        self.share = load / some
        self.ratio = closed / (speeds[-1] - opened)
        first, further = _series(speeds, closed + opened)
        most = sum(size - 1 for size in lattice.sizes) + 2  # a derivative has one fewer
        low, high = (_shifted(part, closed, opened, most) for part in (first, further))
        grown = speeds[-1] / (speeds[-1] - opened)
        scale = 1 / (first.sum(axis=0) + further.sum(axis=0) * grown / (1 - self.ratio))
        self.low, self.high = low * scale, high * (scale * grown)
        self.per_open = np.where(closed > 0, 1 / some, 0.0)
        self.log_none = np.log(scale) - _logs(speeds, closed + opened).max(axis=0)

    def times(self, series: FloatArray) -> FloatArray:
        """Multiply an array over the lattice by F."""
        result = self._recur(self._polynomial(self.high, series))
        return result + self._polynomial(self.low, series) if len(self.low) else result

    def slope_times(self, series: FloatArray) -> FloatArray:
        """Multiply by dF/ds' = P' + (T' + r T / (1 - r s')) / (1 - r s')."""
        whole = self._recur(self._polynomial(self.high, series))
        result = self._recur(self.ratio * whole + self._polynomial(_slope(self.high), series))
        return result + self._polynomial(_slope(self.low), series) if len(self.low) else result

    def _polynomial(self, coefficients: FloatArray, series: FloatArray) -> FloatArray:
        if not len(coefficients):
            return np.zeros(series.shape)
        result = coefficients[-1] * series
        for coefficient in coefficients[-2::-1]:
            result = self._step(result) + coefficient * series
        return np.asarray(result)

    def _step(self, series: FloatArray) -> FloatArray:
        """Multiply by s': add up the neighbours with one job fewer."""
        result = np.zeros(series.shape)
        for share, fewer in zip(self.share, self.lattice.fewer, strict=True):
            result[:-1] += share * series[fewer]
        return result

    def _recur(self, series: FloatArray) -> FloatArray:
        """Divide by 1 - r s', plane by plane, in place."""
        states, points = series.shape
        if len(self.lattice.sizes) == 1 and states > max(points, _LONG):
            return _divided_by_filter(self.ratio * self.share[0], series)
        for plane in self.lattice.planes():
            for share, fewer in zip(self.share, self.lattice.fewer, strict=True):
                series[plane] += (self.ratio * share) * series[fewer[plane]]
        return series


def _divided_by_filter(ratio: FloatArray, series: FloatArray) -> FloatArray:
    """Divide by 1 - r s of a single class, as a recursive filter, point by point."""
    from scipy.signal import lfilter

    for point, each in enumerate(ratio):
        series[:-1, point] = lfilter([1.0], [1.0, -each], series[:-1, point])
    return series


def _logs(speeds: FloatArray, load: FloatArray) -> FloatArray:
    """Logarithms of a**t / (a(1) ... a(t)), t < K, shape (K, points)."""
    with np.errstate(divide="ignore"):
        steps = np.log(load) - np.log(speeds[:-1])
    return np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])


def _series(speeds: FloatArray, load: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients of P and of T at a, over the largest term of F; shape (degrees, points)."""
    logs = _logs(speeds, load)
    terms = np.exp(logs - logs.max(axis=0))
    last = speeds[-1]
    if (speeds <= last).all():
        before = np.concatenate([np.zeros((1, speeds.shape[1])), speeds[:-1]])
        return np.zeros((0, speeds.shape[1])), terms * (1 - before / last)
    beyond = np.concatenate([np.zeros(terms.shape), terms[-1:] * (load / last)])
    return terms, beyond


def _slope(coefficients: FloatArray) -> FloatArray:
    """Coefficients of the derivative of a polynomial."""
    return np.arange(1, len(coefficients))[:, None] * coefficients[1:]


def _shifted(terms: FloatArray, closed: FloatArray, opened: FloatArray, most: int) -> FloatArray:
    """First coefficients in s' of the sum of terms ((closed s' + opened) / (closed + opened))**t.

    Coefficients beyond the number of jobs never meet an array over the lattice.
    """
    if not opened.any():
        return terms
    total = closed + opened
    total = np.where(total > 0, total, 1.0)
    result = np.zeros((min(most, len(terms)), terms.shape[1]))
    for term in terms[::-1]:  # Horner's rule for polynomials
        following = result * (opened / total)
        following[1:] += result[:-1] * (closed / total)
        following[0] += term
        result = following
    return result


def _numbers(
    lattice: Lattice,
    stations: list[LatticeStation],
    before: list[FloatArray],
    population: FloatArray,
    workers: Mapping[int, tuple[LatticeStation, FloatArray]],
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Means times G(N), from the stations before each, itself, and those after.

    Closed jobs, open jobs per offered work, and working servers for closed and open jobs.
    """
    closed = np.zeros((len(lattice.sizes), len(stations), population.shape[1]))
    working, opened, open_working = closed.copy(), *np.zeros((2, *closed.shape[1:]))
    after = np.zeros(before[0].shape)
    after[0] = 1.0
    for k in range(len(stations) - 1, -1, -1):
        station = stations[k]
        slope = station.slope_times(before[k])
        mirrored = _mirrored(lattice, after, population)
        opened[k] = (slope * mirrored)[:-1].sum(axis=0) * station.per_open
        for c, fewer in enumerate(lattice.fewer):
            closed[c, k] = station.share[c] * (slope[fewer] * mirrored[:-1]).sum(axis=0)
        if k in workers:
            worker, each = workers[k]
            served = worker.times(before[k]) * each
            open_working[k] = (served * mirrored)[:-1].sum(axis=0)
            for c, fewer in enumerate(lattice.fewer):
                working[c, k] = station.load[c] * (served[fewer] * mirrored[:-1]).sum(axis=0)
        after = station.times(after)
    return closed, opened, working, open_working


def _working(
    network: Speeds, k: int, guess: FloatArray, station: LatticeStation
) -> tuple[LatticeStation, FloatArray]:
    """A station whose F counts working servers of another, and its factor.

    With w(n) = min(n, m) / m, whose mean a class has in proportion to its jobs, D_c z_c is
    multiplied by H(s) = sum over n >= 1 of w(n) s**(n - 1) / (a(1) ... a(n)): that is w(1) / a(1)
    times the F of a station with speeds a(n + 1) w(n) / w(n + 1).
    """
    speeds, crew = network.speeds[k], network.crews[k]
    number = np.arange(1, len(speeds) + 1)[:, None]
    shares = np.minimum(number, crew) / np.minimum(number + 1, crew)
    shares[-1] = 1.0  # the list has fewer speeds than servers, and no more jobs than speeds
    following = np.concatenate([speeds[1:], speeds[-1:]]) * shares
    every = list(network.speeds)
    every[k] = following
    worker = LatticeStation(replace(network, speeds=tuple(every)), k, guess, station.lattice)
    return worker, np.exp(station.log_none - worker.log_none) / (speeds[0] * crew)


def _mirrored(lattice: Lattice, series: FloatArray, population: FloatArray) -> FloatArray:
    """Entry N - n in place of n; 0 if that is no population."""
    rest = population.astype(int)[:, None, :] - lattice.number[:, :, None]
    inside = (rest >= 0).all(axis=0)
    rows = np.ravel_multi_index(tuple(np.where(inside, rest, 0)), lattice.sizes)
    result = np.zeros(series.shape)
    result[:-1] = np.where(inside, np.take_along_axis(series, rows, axis=0), 0.0)
    return result
