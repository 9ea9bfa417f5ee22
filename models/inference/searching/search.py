"""Search for the best values: from many starts, over decades, and over whole numbers.

All starts descend side by side: first a few steps from many of them, then more from those with the
lowest cost, and finally to the end from those that are left and differ.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from headway.errors import Saturated
from headway.kinds import FloatArray
from headway.models.inference.searching.descent import Rows, Valley, descend, reflected
from headway.models.inference.searching.problem import Problem
from headway.models.inference.searching.starts import (
    best_of,
    distinct,
    feasible,
    starts_of,
    sustained,
    unsustained,
)
from headway.records import dataclass

STARTS = 12
_LOOKED_AT = 48  # starts that make a few steps; a dozen or two go on, and the best to the end
_ALIKE = 1e-6  # relative difference up to which two costs count as equal
_AGREEING = 3  # equal ends after which the other starts are dropped, if each takes long
FEW = 5  # most free parameters for which many starts, side by side, find the best fit
_MAY_BE_LEAST = 1.01  # ratio to the lowest cost, near the end, up to which a start goes on
_LEAST_COUNT = 3  # fewest starts that go on
_COUNTED = 8  # ends from which better counts are searched for
_NEAR = 0.2  # logarithm by which a value is moved to look beyond a kink
_KICKS = 9  # kicks for each parameter beyond `FEW`
_LOST = 4.0  # logarithms below its initial value at which a parameter counts as zero
_PRECISE = 1e-13  # relative gain at which the trust region stops
_AT_BOUND = 1e-6  # relative distance within which a value is at its bound
_MOST = 1 << 20  # largest count
_CLOSEST = 1.02  # smallest ratio between counts that are tried


@dataclass(frozen=True)
class SearchLimits:
    """How far a start is followed.

    Parameters
    ----------
    steps
        Most steps.
    precision
        Relative gain in cost below which a step is not worthwhile.
    worth
        Absolute gain below which it is not.
    """

    steps: int
    precision: float
    worth: float = 0.0


_GLANCE = SearchLimits(4, 1e-6)
_HALFWAY = SearchLimits(30, 1e-3)
_COARSE = SearchLimits(100, 1e-6)
_NEARLY = SearchLimits(300, 1e-6)
WHOLE = SearchLimits(300, 1e-10)
"""Limits for following a start to its end."""


@dataclass(frozen=True)
class Optimum:
    """The end of a search.

    Parameters
    ----------
    free
        Values of the free parameters.
    cost
        Half the sum of squared residuals, by the loss.
    at_bound
        Which values are at a bound.
    """

    free: FloatArray
    cost: float
    at_bound: Any


_cost = attrgetter("cost")


def search(problem: Problem, starts: int = STARTS) -> Optimum:
    """Find the values that fit best.

    Parameters
    ----------
    problem
        The problem to fit.
    starts
        Most starts that are followed; 1 follows the initial values only.

    Raises
    ------
    Saturated
        If no values were found at which the model sustains every measured load.
    """
    if not problem.names:
        return Optimum(np.array([]), float(problem.cost(np.array([]))), np.array([], bool))
    moving = replace(problem, still=frozenset(problem.whole))
    ends = _ends(moving, starts)
    best = min(ends, key=_cost)
    if not np.isfinite(best.cost):
        raise Saturated(unsustained(problem))
    if problem.whole:
        best = _over_whole(moving, ends if len(problem.names) <= FEW else [best])
    return _kicked(moving, best) if starts > 1 else best


def _ends(problem: Problem, count: int) -> list[Optimum]:
    """Ends of the starts; with many parameters each takes long, so fewer starts are followed."""
    if count == 1:
        return follow(problem, starts_of(problem, 1))
    begun = _by_ratios(problem, starts_of(problem, _LOOKED_AT), _GLANCE)
    if len(problem.names) > FEW:
        return follow(problem, best_of(problem, begun, count))
    halfway = polish_all(problem, best_of(problem, begun, 3 * count), _HALFWAY)
    lowest = np.array([optimum.free for optimum in sorted(halfway, key=_cost)])
    freed = _unstuck(problem, distinct(problem, lowest, count))
    kept = count if len(problem.whole) > 1 else max(count // 2, 1)
    ends = polish_all(problem, distinct(problem, freed, kept), _NEARLY)
    beyond = _past_kink(problem, min(ends, key=_cost).free)
    return polish_all(problem, _lowest(problem, [*ends, *polish_all(problem, beyond, _NEARLY)]))


def _lowest(problem: Problem, ends: list[Optimum]) -> FloatArray:
    """Values of the lowest end, and of others that differ and cost hardly more."""
    # a count may have no effect here, so that no step of it alone reduces the cost
    if len(problem.whole) > 1:
        return best_of(problem, np.array([optimum.free for optimum in ends]), _COUNTED)
    most = _MAY_BE_LEAST * min(optimum.cost for optimum in ends)
    low = [optimum.free for optimum in sorted(ends, key=_cost) if optimum.cost <= most]
    return distinct(problem, np.array(low), _LEAST_COUNT)


def _unstuck(problem: Problem, starts: FloatArray) -> FloatArray:
    """The best end reached from each by holding one of its values, the lowest first.

    At a kink, such as the load at which a cache becomes too small, a descent stops: neither side is
    downhill, although the other values are not at their best.
    """
    count, width = starts.shape
    free, cost = _holding(problem, np.repeat(starts, width, axis=0), np.tile(range(width), count))
    free, cost = free.reshape(count, width, width), cost.reshape(count, width)
    best = free[np.arange(count), cost.argmin(axis=1)]
    return np.asarray(best[np.argsort(cost.min(axis=1), kind="stable")])


def _past_kink(problem: Problem, free: FloatArray) -> FloatArray:
    """The end reached with one value held, as it is or moved beyond a nearby kink."""
    width = len(free)
    places = np.tile(problem.inner(free), (3 * width, 1))
    parameter = np.tile(range(width), 3)
    places[np.arange(3 * width), parameter] += np.repeat([0.0, -_NEAR, _NEAR], width)
    return _holding(problem, sustained(problem, free, problem.outer(places)), parameter)[0]


def _holding(problem: Problem, starts: FloatArray, fixed: Rows) -> tuple[FloatArray, FloatArray]:
    """Follow starts half of the way with one value held, another in each start."""
    if starts.shape[-1] == 1:
        return starts, np.asarray(problem.cost(starts))
    return _descended(problem, starts, _HALFWAY, fixed)


def _kicked(problem: Problem, best: Optimum) -> Optimum:
    """Leave a minimum by random kicks, and stay where the cost is lower.

    With few parameters there are few minima, and many starts find them. With many parameters, lower
    ones lie near good ones; a parameter that fell to zero starts again from its initial value.
    """
    many = len(problem.names) - FEW
    if many <= 0:
        return best
    random = np.random.default_rng(20_001)
    initial = problem.inner(feasible(problem, problem.initial))
    for _ in range(_KICKS * many):
        inner = problem.inner(best.free)
        lost = problem.logarithmic & (inner < initial - _LOST)
        kicked = np.where(lost, initial, inner) + random.normal(size=len(inner))
        start = sustained(problem, best.free, problem.outer(kicked)[None])
        best = min(best, *polish_all(problem, start), key=_cost)
    return best


def natural_scale(problem: Problem, free: FloatArray) -> FloatArray:
    """Natural scale of each value: its size, or its initial size if it went to zero."""
    return np.asarray(np.maximum(np.abs(free), np.abs(problem.initial)) + 1e-300)


def follow(problem: Problem, starts: FloatArray, worth: float = 0.0) -> list[Optimum]:
    """Follow starts, possibly far away, to their ends.

    Parameters
    ----------
    problem
        The problem to fit.
    starts
        Values to start from, shape (starts, free parameters).
    worth
        Gain in cost that makes a step worthwhile.
    """
    near = _by_ratios(problem, starts, replace(_COARSE, worth=worth))
    return polish_all(problem, near, replace(WHOLE, worth=worth))


def _by_ratios(problem: Problem, starts: FloatArray, effort: SearchLimits) -> FloatArray:
    """Search by logarithms of the ratios, which converges from far away."""
    relative = (np.sqrt(problem.share) * problem.measured / problem.sigma)[problem.used]

    def ratios(predicted: FloatArray) -> FloatArray:
        good = (np.isfinite(predicted) & (predicted > 0)).all(axis=-1, keepdims=True)
        ratio = np.log(np.where(good, predicted, 1.0) / problem.measured)[..., problem.used]
        return np.where(good, ratio * relative, np.inf)

    def slopes_of(free: FloatArray, predicted: FloatArray, slopes: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):  # where a ratio does not exist
            weights = relative / predicted[..., problem.used]
            stretch = np.where(problem.logarithmic, free, 1.0)[..., None, :]
            return np.asarray(slopes[..., problem.used, :] * weights[..., None] * stretch)

    def residuals(inner: FloatArray, rows: Rows) -> FloatArray:  # noqa: ARG001
        return ratios(problem.predict(problem.outer(inner)))

    def jacobian(inner: FloatArray, rows: Rows) -> FloatArray:
        return both(inner, rows)[1]

    def both(inner: FloatArray, rows: Rows) -> tuple[FloatArray, FloatArray]:  # noqa: ARG001
        free = problem.outer(inner)
        predicted, slopes = problem.predict_with_slopes(free)
        return ratios(predicted), slopes_of(free, predicted, slopes)

    inner = problem.inner(starts)
    wide = np.full(inner.shape[-1], np.inf)
    valley = Valley(residuals, jacobian, -wide, wide, np.ones_like(inner))
    valley = replace(valley, both=both) if problem.at_once else valley
    logs, cost = descend(valley, inner, effort.steps, effort.precision, effort.worth)
    return np.where(np.isfinite(cost)[:, None], problem.outer(logs), starts)


def polish(problem: Problem, start: FloatArray, worth: float = 0.0) -> Optimum:
    """Follow one start to its end, as `polish_all` does."""
    return polish_all(problem, start[None], replace(WHOLE, worth=worth))[0]


def polish_all(
    problem: Problem, starts: FloatArray, effort: SearchLimits = WHOLE, still: Rows | None = None
) -> list[Optimum]:
    """Follow starts to their ends in the parameters' own units, within bounds.

    Steps to values at which a measured load is not sustained are never accepted, so saturation
    stays above every measured load.

    Parameters
    ----------
    problem
        The problem to fit; each start may have measured values and errors of its own.
    starts
        Values to start from, shape (starts, free parameters).
    effort
        How far each start is followed.
    still
        Index of a value that is held, by start; by default none.
    """
    low, high = problem.bounds
    free = np.clip(starts, low, high)
    if problem.names:
        free, cost = _descended(problem, free, effort, still)
    else:
        cost = np.broadcast_to(problem.cost(free), len(free))
    width = np.maximum(np.abs(np.where(np.isfinite(low), low, 0)), np.abs(problem.initial))
    with np.errstate(invalid="ignore"):
        near = (free - low < _AT_BOUND * width) | (high - free < _AT_BOUND * width)
    return [Optimum(*end) for end in zip(free, cost.tolist(), near, strict=True)]


def _descended(
    problem: Problem, starts: FloatArray, effort: SearchLimits, still: Rows | None = None
) -> tuple[FloatArray, FloatArray]:
    """Descend side by side; with many parameters, by the reflective trust region."""
    valley = Valley(
        problem.residuals,
        problem.jacobian,
        *problem.bounds,
        np.maximum(np.abs(starts), 0.01 * np.abs(problem.initial) + 1e-12),
        problem.loss,
        still=still,
        both=problem.both if problem.at_once else None,
    )
    if len(problem.names) - (still is not None) <= FEW:
        return descend(valley, starts, effort.steps, effort.precision, effort.worth)
    ends: list[tuple[FloatArray, float]] = []
    moving = np.array([name not in problem.still for name in problem.names], bool)
    for k, start in enumerate(starts):
        own = moving if still is None else moving & (np.arange(moving.size) != still[k])
        ends.append(reflected(valley.of(k), start, effort.steps, _PRECISE, own))
        least = min(cost for _, cost in ends)
        alike = sum(cost <= least * (1 + _ALIKE) for _, cost in ends)
        if alike >= _AGREEING and problem.measured.ndim == 1 and still is None:
            break
    return np.array([free for free, _ in ends]), np.array([cost for _, cost in ends])


def _over_whole(problem: Problem, ends: list[Optimum]) -> Optimum:
    """Search for better whole numbers, by doubling steps, down to steps of one."""
    optimum = min(over_whole(problem, ends, frozenset(problem.whole), effort=_NEARLY), key=_cost)
    optimum = polish(problem, optimum.free)
    return replace(optimum, at_bound=_at_edge(problem, optimum))


def over_whole(
    problem: Problem,
    begun: Sequence[Optimum],
    moving: frozenset[str],
    factor: float = 2.0,
    enough: float = -np.inf,
    effort: SearchLimits = WHOLE,
) -> list[Optimum]:
    """Search for better whole numbers from several ends side by side, by ever smaller steps.

    Parameters
    ----------
    problem
        The problem, whose counts no descent moves.
    begun
        Ends of descents.
    moving
        Indices of the counts that may change.
    factor
        Factor of the first change of a count.
    enough
        Cost at which an end is good enough.
    effort
        How far each start is followed.
    """
    best, factors = list(begun), [factor] * len(begun)
    known = [{_counts(problem, optimum.free)} for optimum in best]
    going = list(range(len(best)))
    while going := [k for k in going if best[k].cost > enough]:
        new = [(k, free) for k in going
               for free in _other_counts(problem, best[k].free, factors[k], moving)
               if _counts(problem, free[0]) not in known[k]]  # fmt: skip
        for k, free in new:
            known[k].add(_counts(problem, free[0]))
        starts = np.array([lowest(problem, free) for _, free in new])
        ends = polish_all(problem, starts, effort) if new else []
        for k in tuple(going):
            own = [end for (row, _), end in zip(new, ends, strict=False) if row == k]
            better = min([best[k], *own], key=_cost)
            gains = better.cost < best[k].cost * (1 - _ALIKE)
            if not gains and factors[k] <= _CLOSEST:
                going.remove(k)
            if _ratio(problem, better, best[k]) < np.sqrt(factors[k]):
                factors[k] = max(float(np.sqrt(factors[k])), _CLOSEST)
            best[k] = better if gains else best[k]
    return best


def _ratio(problem: Problem, one: Optimum, other: Optimum) -> float:
    """Largest ratio between counts that are tried."""
    pairs = zip(_counts(problem, one.free), _counts(problem, other.free), strict=True)
    return max(max(a / b, b / a) for a, b in pairs)


def lowest(problem: Problem, free: FloatArray) -> FloatArray:
    """The set of values with the least cost."""
    return np.asarray(free[np.argmin(problem.cost(free))])


def _counts(problem: Problem, free: FloatArray) -> tuple[float, ...]:
    return tuple(v for n, v in zip(problem.names, free.tolist(), strict=True) if n in problem.whole)


def _other_counts(
    problem: Problem, free: FloatArray, factor: float, moving: frozenset[str]
) -> list[FloatArray]:
    """Values with a count one less, one more, or changed by a factor.

    In each, one other value stays as it is, grows with the count, or shrinks by as much.
    """
    neighbours = []
    for k, name in enumerate(problem.names):
        if name in moving:
            low, high = max(problem.scales[k].low, 1.0), min(problem.scales[k].high, _MOST)
            count = free[k]
            near = {np.round(count / factor), np.round(count * factor), count - 1, count + 1}
            neighbours += [
                with_count(problem, free, k, n) for n in sorted(near) if low <= n <= high
            ]
    return neighbours


def with_count(problem: Problem, free: FloatArray, k: int, count: float) -> FloatArray:
    """Values with another count, shape (ways to change the others, free parameters)."""
    moving = [j for j, name in enumerate(problem.names) if name not in problem.whole]
    tried = np.tile(free, (1 + 2 * len(moving), 1))
    tried[:, k] = count
    for row, j in enumerate(moving):
        tried[1 + 2 * row, j] *= count / free[k]
        tried[2 + 2 * row, j] *= free[k] / count
    return np.clip(tried, *problem.bounds)


def _at_edge(problem: Problem, optimum: Optimum) -> Any:
    """Which values are at a bound; a count only if it has a largest value."""
    edges = np.array(optimum.at_bound)
    for k, name in enumerate(problem.names):
        if name in problem.whole:
            ends = max(problem.scales[k].low, 1.0), min(problem.scales[k].high, _MOST)
            edges[k] = optimum.free[k] in ends and problem.model.parameters[name].maximum < np.inf
    return edges
