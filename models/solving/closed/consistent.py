"""The smallest throughput that a closed network results in when its numbers assume it.

Asymptotic bounds show for most trial rates whether the resulting throughput is larger. If, in
between, no demand falls as the rate grows, the resulting throughput can only fall, so exactly one
throughput is consistent, and interpolation finds it. Otherwise headway solves the network at every
trial rate.

Source: Shanthikumar and Yao, "The effect of increasing service rates in a closed queueing
network", J. Appl. Prob. 23(2), 1986: throughput falls as demands grow.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import HeadwayError, InvalidParameter
from headway.kinds import FloatArray
from headway.models.solving.closed.circulation import Assumed, Circulation
from headway.models.solving.solutions.roots import GRID, STEPS, first_crossing, too_much
from headway.numerals import digits
from headway.queueing.bounds.network import least_throughput, most_throughput
from headway.queueing.flows.fixed_points import Guess, balance
from headway.queueing.stations.base import Station
from headway.records import dataclass

MOST_CONSISTENT = 200_000
"""Largest population if numbers depend on the throughput, as each search solves the network many
times."""

_BLOCK = 16384  # operating points solved together: their arrays fit into memory
_PART = 2048  # of these, points whose rates are tried together: their arrays stay in the cache
_FEW = np.r_[0, STEPS // 2 - 1 : GRID.size : STEPS // 2]  # two rates per doubling, and the first
_ROUNDING = 1e-12  # relative: a demand that falls by less has not fallen


def consistent_throughput(circulation: Circulation, shape: tuple[int, ...]) -> FloatArray:
    """Find the smallest throughput that a closed network results in when it is assumed.

    At an assumed throughput of 0 something flows; above the network's capacity, less flows than was
    assumed. As everything is continuous, some throughput in between is consistent, and there is a
    first.

    Parameters
    ----------
    circulation
        The network; the throughput is 0 for a population of 0.
    shape
        Shape of the operating points.

    Returns
    -------
    Throughputs in that shape [1/s]. If a number of the model jumps, none may be consistent: the
    caller must check the result.

    Raises
    ------
    InvalidParameter
        For more than 200,000 jobs.
    """
    _check_population(circulation.inputs["population"])
    flat, size = circulation.flat(shape), int(np.prod(shape))
    rate = np.zeros(size)
    jobs = np.broadcast_to(flat.inputs["population"], (size,))
    busy = np.flatnonzero(jobs > 0)
    for start in range(0, busy.size, _BLOCK):
        points = busy[start : start + _BLOCK]
        rate[points] = _of_block(flat.at(points), points.size)
    return rate.reshape(shape)


def _check_population(population: object) -> None:
    most = float(np.max(np.asarray(population)))
    if most > MOST_CONSISTENT:
        msg = (
            f"population is {digits(most)}; a network whose numbers depend on its throughput "
            f"supports at most {MOST_CONSISTENT} jobs"
        )
        raise InvalidParameter(msg)


@dataclass(frozen=True)
class _Bracket:
    """A bracket with exactly one consistent rate, if certain, and a guess; shape (points,)."""

    low: FloatArray
    high: FloatArray
    guess: FloatArray
    slope: FloatArray  # derivative of the resulting rate with respect to the assumed one
    sure: NDArray[np.bool_]


def _of_block(circulation: Circulation, count: int) -> FloatArray:
    try:
        bracket = _bracket(circulation, count)
    except HeadwayError:  # a bound may ask for a rate at which the model has no numbers
        return _by_trying(circulation, count)
    rate, sure = np.empty(count), np.flatnonzero(bracket.sure)
    if sure.size:
        part = circulation.at(sure)
        first = part.solve(bracket.guess[sure])[0]
        if first.approximation:  # only exact throughputs are known to fall
            sure = sure[:0]
        else:
            rate[sure] = balance(
                lambda rates, points: _given_back(part.at(points), rates),
                bracket.low[sure],
                bracket.high[sure],
                Guess(bracket.guess[sure], np.asarray(first.throughput), bracket.slope[sure]),
            )
    rest = np.delete(np.arange(count), sure)
    if rest.size:
        rate[rest] = _by_trying(circulation.at(rest), rest.size)
    return rate


def _given_back(circulation: Circulation, rate: FloatArray) -> FloatArray:
    return np.asarray(circulation.solve(rate)[0].throughput, float)


def _by_trying(circulation: Circulation, count: int) -> FloatArray:
    """Solve at every trial rate."""

    def share(rate: FloatArray) -> FloatArray:
        given_back = _given_back(circulation, rate)
        return np.asarray(rate / np.where(given_back > 0, given_back, np.inf))

    return first_crossing(share, (count,))


def _bracket(circulation: Circulation, count: int) -> _Bracket:
    """Brackets to search, from bounds at the rates of a grid.

    Points with the same grid are taken together, so that what changes with the rate alone is
    calculated once. Where no demand falls anywhere on the grid, at most one throughput is
    consistent, and bounds at some of the rates bracket it.
    """
    start = too_much(lambda rate: rate / _most(circulation, rate), (count,)) / GRID[-1]
    columns, sure = np.empty((4, count)), np.zeros(count, bool)
    for first in np.unique(start[np.isfinite(start)]):
        alike, grid = np.flatnonzero(start == first), first * GRID[:, None]
        for begin in range(0, alike.size, _PART):
            points = alike[begin : begin + _PART]
            part = circulation.at(points)
            growing = np.broadcast_to(
                _falls(part.assumed(grid), np.ones(grid.shape, bool)), points.shape
            )
            for own, rates in ((growing, grid[_FEW]), (~growing, grid)):
                if own.any():
                    some = points[own]
                    columns[:, some], sure[some] = _of_part(circulation.at(some), rates, some.size)
    low, high, guess, slope = columns
    return _Bracket(low, high, guess, slope, sure)


def _of_part(
    circulation: Circulation, rates: FloatArray, count: int
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Columns of a bracket, and whether it is certain, from rates of shape (rates, 1)."""
    network, points = circulation.assumed(rates), np.arange(count)
    shape = (len(rates), count)
    low_enough = np.broadcast_to(rates < _bound(circulation, network, least_throughput), shape)
    low = low_enough.argmin(axis=0) - 1
    sure = (low >= 0) & ~low_enough[-1]
    low = np.maximum(low, 0)
    most = np.broadcast_to(_bound(circulation, network, most_throughput), shape)
    high = np.maximum((rates >= most).argmax(axis=0), 1)
    left, right = rates[high - 1, 0], rates[high, 0]
    above, below = (most[row, points] for row in (high - 1, high))
    bounded = np.isfinite(above) & np.isfinite(below)  # both are infinite where nothing takes time
    above, below = (np.where(bounded, bound, right) for bound in (above, below))
    slope = (below - above) / (right - left)
    guess = np.clip((above - slope * left) / (1 - slope), rates[low, 0], right)
    row = np.arange(len(rates))[:, None]
    sure &= _falls(network, (row >= low) & (row < high))
    return np.array([rates[low, 0], right, guess, slope]), sure


def _most(circulation: Circulation, rate: FloatArray) -> FloatArray:
    return np.asarray(_bound(circulation, circulation.assumed(rate), most_throughput), float)


def _bound(circulation: Circulation, network: Assumed, bound: Callable[..., Any]) -> Any:
    jobs, think = circulation.inputs["population"], circulation.inputs["think_time"]
    return bound(network.stations, network.visits, jobs, think + network.beyond)


def _falls(network: Assumed, within: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether neither demands nor the time outside stations fall from row to row."""
    columns = np.ones(within.shape[1], bool)
    parts = zip(network.stations, network.visits, strict=True)
    demands = [v * np.asarray(s.service_time) for s, v in parts]
    for demand in (*demands, np.asarray(network.beyond)):
        if demand.ndim > 1:
            grown = np.diff(demand, axis=0) >= -_ROUNDING * demand[1:]
            columns = columns & (grown | ~within[:-1]).all(axis=0)
    return columns & all(s.hastens and not _changes(s) for s in network.stations)


def _changes(station: Station) -> bool:
    """Whether anything except the service time changes along the rows, that is, with the rate."""
    others = [getattr(station, f.name) for f in fields(station) if f.name != "service_time"]  # type: ignore[arg-type]
    each = (v for other in others for v in (other if isinstance(other, tuple | list) else [other]))
    return any(np.ndim(value) > 1 for value in each)
