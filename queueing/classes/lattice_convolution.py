"""Exact closed networks of several classes with pools of servers, by convolution.

A station's product form is a function F(s) of s = sum over classes of D_c z_c, the z_c
counting jobs. For m servers it is a polynomial with positive coefficients over 1 - s/m:

    F(s) = B(s) / (1 - s/m),  B(s) = sum over t < m of s**t / t! (1 - t/m),

so it is applied to an array over the lattice by m shifts and one recurrence. Open jobs
that hold u servers on average turn F(s) into F(s + u), again of that form. All terms are
positive; every station is scaled to a probability at throughputs near the solution, so
that nothing overflows (compare `headway.queueing.closed.convolution`).

Source: Reiser and Kobayashi, IBM J. Res. Dev. 19, 1975; Bruell and Balbo, *Computational
Algorithms for Closed Queueing Networks*, 1980.
"""

from dataclasses import dataclass
from math import lgamma, log

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.classes.lattice import Lattice, lattice_for
from headway.queueing.erlang.poisson import poisson

_LONG = 1000  # states from which a filter that is compiled is worth its import


@dataclass(frozen=True)
class Pools:
    """A closed or mixed network as arrays.

    Parameters
    ----------
    demand
        D of the closed classes, shape (classes, stations, points) [s].
    servers
        m of each station, a list of whole numbers.
    open_load
        Servers u that open classes hold, shape (stations, points), below m.
    think_time, population
        Z [s], delays included, and N, shape (classes, points).
    guess
        Throughputs near the solution, shape (classes, points), above 0; any do in principle.
    """

    demand: FloatArray
    servers: list[int]
    open_load: FloatArray
    think_time: FloatArray
    population: FloatArray
    guess: FloatArray


def lattice_convolution(network: Pools) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Solve a closed or mixed network of several classes.

    Returns
    -------
    Throughputs, shape (classes, points); queue lengths of the closed classes, shape
    (classes, stations, points); d log F / d log u, the mean number of open jobs for each
    server they hold, shape (stations, points).

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> network = Pools(one[None], [1], 0 * one, one, 2 * one, one / 2)
    >>> round(float(lattice_convolution(network)[0][0, 0]), 12)
    0.8
    """
    lattice = lattice_for(network.population, len(network.servers))
    guess = _within_capacity(network)
    rows, points = lattice.row(network.population), np.arange(guess.shape[1])
    pools = [_Pool(network, k, guess, lattice) for k in range(len(network.servers))]
    before = [_thinking(lattice, guess * network.think_time)]
    for pool in pools:
        before.append(pool.times(before[-1]))
    top = before[-1][rows, points]
    if not (top > 0).all():
        msg = "convolution left the range of floating-point numbers; use method linearizer"
        raise InvalidParameter(msg)
    fewer = np.stack([before[-1][neighbour[rows], points] for neighbour in lattice.fewer])
    closed, opened = _numbers(lattice, pools, before, network.population)
    return guess * fewer / top, closed / top, opened / top


def _within_capacity(network: Pools) -> FloatArray:
    """Lower the guess where a station could not sustain it."""
    room = np.array(network.servers, float)[:, None] - network.open_load
    busy = ((network.demand * network.guess[:, None]).sum(axis=0) / room).max(axis=0, initial=0)
    jobs = network.population.sum(axis=0)
    return np.asarray(network.guess * np.minimum(1, jobs / (jobs + 1) / np.maximum(busy, 1e-300)))


def _thinking(lattice: Lattice, mean: FloatArray) -> FloatArray:
    """Chances of the jobs thinking, independent by class; one more row of zeros."""
    chances = np.zeros((lattice.states + 1, mean.shape[1]))
    chances[:-1] = 1.0
    for c, numbers in enumerate(lattice.number):
        chances[:-1] *= poisson(np.arange(lattice.sizes[c])[:, None], mean[c])[numbers]
    return chances


class _Pool:
    """F of one station in s' = s / (servers that closed jobs hold), scaled to F(1) = 1."""

    def __init__(self, network: Pools, k: int, guess: FloatArray, lattice: Lattice) -> None:
        held = guess * network.demand[:, k]
        closed, opened = held.sum(axis=0), network.open_load[k]
        some = np.where(closed > 0, closed, 1.0)
        self.lattice = lattice
        self.share = held / some
        self.ratio = closed / (network.servers[k] - opened)
        numerator = _shifted(_numerator(network.servers[k], closed + opened), closed, opened)
        self.numerator = numerator * ((1 - self.ratio) / numerator.sum(axis=0))
        self.per_open = np.where(closed > 0, 1 / some, 0.0)

    def times(self, series: FloatArray) -> FloatArray:
        """Apply F to an array over the lattice."""
        return self._recur(self._polynomial(self.numerator, series))

    def slope_times(self, series: FloatArray) -> FloatArray:
        """Apply dF/ds' = (B' + r F) / (1 - r s')."""
        degrees = np.arange(1, len(self.numerator))[:, None]
        result = self.ratio * self.times(series)
        if len(degrees):
            result += self._polynomial(degrees * self.numerator[1:], series)
        return self._recur(result)

    def _polynomial(self, coefficients: FloatArray, series: FloatArray) -> FloatArray:
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
            return _followed(self.ratio * self.share[0], series)
        for plane in self.lattice.planes():
            for share, fewer in zip(self.share, self.lattice.fewer, strict=True):
                series[plane] += (self.ratio * share) * series[fewer[plane]]
        return series


def _followed(ratio: FloatArray, series: FloatArray) -> FloatArray:
    """The same where one class alone makes a long line of states, point by point."""
    from scipy.signal import lfilter

    for point, each in enumerate(ratio):
        series[:-1, point] = lfilter([1.0], [1.0, -each], series[:-1, point])
    return series


def _numerator(servers: int, held: FloatArray) -> FloatArray:
    """Terms a**t / t! (1 - t/m) of B(a), t < m, over the largest; shape (m, points)."""
    degrees = np.arange(servers)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(degrees > 0, degrees * np.log(held), 0.0)
    logs = logs + np.array([[log(1 - t / servers) - lgamma(t + 1)] for t in range(servers)])
    return np.asarray(np.exp(logs - logs.max(axis=0)))


def _shifted(terms: FloatArray, closed: FloatArray, opened: FloatArray) -> FloatArray:
    """Coefficients in s' of the sum of terms ((closed s' + opened) / (closed + opened))**t."""
    if not opened.any():
        return terms
    total = closed + opened
    total = np.where(total > 0, total, 1.0)
    result = np.zeros(terms.shape)
    for term in terms[::-1]:  # Horner's rule on polynomials
        result[1:], result[0] = (
            result[1:] * (opened / total) + result[:-1] * (closed / total),
            result[0] * (opened / total),
        )
        result[0] += term
    return np.asarray(result)


def _numbers(
    lattice: Lattice, pools: list[_Pool], before: list[FloatArray], population: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean numbers at each station times G(N): the stations before it, itself, those after."""
    closed = np.zeros((len(lattice.sizes), len(pools), population.shape[1]))
    opened = np.zeros(closed.shape[1:])
    after = np.zeros(before[0].shape)
    after[0] = 1.0
    for k in range(len(pools) - 1, -1, -1):
        slope = pools[k].slope_times(before[k])
        mirrored = _mirrored(lattice, after, population)
        opened[k] = (slope * mirrored)[:-1].sum(axis=0) * pools[k].per_open
        for c, fewer in enumerate(lattice.fewer):
            closed[c, k] = pools[k].share[c] * (slope[fewer] * mirrored[:-1]).sum(axis=0)
        after = pools[k].times(after)
    return closed, opened


def _mirrored(lattice: Lattice, series: FloatArray, population: FloatArray) -> FloatArray:
    """Entry N - n in the place of n, 0 where that is no population."""
    rest = population.astype(int)[:, None, :] - lattice.number[:, :, None]
    inside = (rest >= 0).all(axis=0)
    rows = np.ravel_multi_index(tuple(np.where(inside, rest, 0)), lattice.sizes)
    result = np.zeros(series.shape)
    result[:-1] = np.where(inside, np.take_along_axis(series, rows, axis=0), 0.0)
    return result
