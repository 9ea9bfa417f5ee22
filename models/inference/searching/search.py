"""Looking for the best values: from many starts, over decades, and over whole numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from headway.errors import Saturated
from headway.kinds import FloatArray
from headway.models.inference.searching.descent import Valley, descend, reflected
from headway.models.inference.searching.problem import Problem

STARTS = 12
_DECADES = 2.0  # to each side of the initial value that random starts come from
_DRAWS = 48  # random starts looked at; the best of them are followed
_AGREEING = 3  # runs that end alike before the rest is left out
_ALIKE = 1e-6  # relative difference of two costs that count as one
_HALVINGS = 60
_FEW = 5  # free parameters up to which random starts find the best fit
_KICKS = 9  # for each parameter beyond those
_LOST = 4.0  # logarithms below its initial value from which a parameter fell to nothing
_COARSE_STEPS, _COARSE = 100, 1e-6  # of the search by ratios: steps, and least relative gain
_STEPS, _PRECISION = 300, 1e-13  # of the search in own units
_AT_BOUND = 1e-6  # relative distance to a bound within which a value lies at it


@dataclass(frozen=True)
class Found:
    """The end of a search.

    Parameters
    ----------
    free
        Values of the free parameters.
    cost
        Half the sum of squared residuals, by the loss.
    at_bound
        Which values lie at a bound.
    """

    free: FloatArray
    cost: float
    at_bound: Any


def search(problem: Problem, starts: int = STARTS) -> Found:
    """Find the values that fit best.

    Parameters
    ----------
    problem
        What to fit.
    starts
        How many starts are followed at most; 1 follows the initial values only.

    Raises
    ------
    Saturated
        If no values were found at which the model sustains every measured load.
    """
    if problem.whole:
        return _over_whole(problem, starts)
    if not problem.names:
        return Found(np.array([]), problem.cost(np.array([])), np.array([], bool))
    best: Found | None = None
    alike = 0
    for start in starts_of(problem, starts):
        found = follow(problem, start)
        if best is None or found.cost < best.cost * (1 - _ALIKE):
            best, alike = found, 1
        elif np.isfinite(found.cost) and found.cost <= best.cost * (1 + _ALIKE) + 1e-20:
            alike += 1
        if alike >= _AGREEING:
            break
    assert best is not None  # noqa: S101 - there is always one start
    if not np.isfinite(best.cost):
        raise Saturated(_unsustained(problem))
    return _kicked(problem, best) if starts > 1 else best


def _kicked(problem: Problem, best: Found) -> Found:
    """Leave a valley by random kicks, and stay where it is deeper.

    Few parameters have few valleys, which random starts find. With many, deeper ones lie near
    good ones; what fell to nothing on the way starts again from its initial value.
    """
    many = len(problem.names) - _FEW
    random = np.random.default_rng(20_001)
    initial = _inner(problem, feasible(problem, problem.initial))
    for _ in range(_KICKS * max(many, 0)):
        inner = _inner(problem, best.free)
        lost = np.array([s.logarithmic for s in problem.scales]) & (inner < initial - _LOST)
        kicked = np.where(lost, initial, inner) + random.normal(size=len(inner))
        start = _between(problem, best.free, _outer(problem, kicked))
        best = min(best, polish(problem, start), key=lambda found: found.cost)
    return best


def starts_of(problem: Problem, count: int) -> list[FloatArray]:
    """The initial values, and the best of many random ones, all of them sustained."""
    first = feasible(problem, problem.initial)
    if count <= 1:
        return [first]
    random = np.random.default_rng(20_000)
    inner = _inner(problem, first)
    width = np.array([_DECADES * np.log(10) if s.logarithmic else 1.0 for s in problem.scales])
    draws = inner + width * random.uniform(-1, 1, (_DRAWS, len(inner)))
    points = [_between(problem, first, _outer(problem, draw)) for draw in draws]
    ranked = sorted(points, key=partial(_log_cost, problem))
    return [first, *ranked[: count - 1]]


def feasible(problem: Problem, free: FloatArray) -> FloatArray:
    """Shrink or stretch values until the model sustains every measured load.

    Raises
    ------
    Saturated
        If that does not help.
    """
    if np.isfinite(problem.predict(free)).all():
        return free
    chosen = [np.arange(len(free)) == k for k in range(len(free))]
    for halvings in range(1, _HALVINGS):
        for marks in (*chosen, np.ones(len(free), bool)):
            for factor in (0.5**halvings, 2.0**halvings):
                tried = _clipped(problem, np.where(marks, free * factor, free))
                if np.isfinite(problem.predict(tried)).all():
                    return tried
    raise Saturated(_unsustained(problem))


def _unsustained(problem: Problem) -> str:
    return (
        f"{problem.model.name} saturates below the highest measured load whatever "
        f"{', '.join(problem.names)} are; free a service time, or raise the servers"
    )


def natural_scale(problem: Problem, free: FloatArray) -> FloatArray:
    """How large a change of each value is large: of what went to nothing, its initial value."""
    return np.asarray(np.maximum(np.abs(free), np.abs(problem.initial)) + 1e-300)


def _between(problem: Problem, inside: FloatArray, wanted: FloatArray) -> FloatArray:
    """Go from sustained values towards others as far as all loads stay sustained."""
    start, end = _inner(problem, inside), _inner(problem, wanted)
    for share in 0.7 ** np.arange(12):
        tried = _outer(problem, start + share * (end - start))
        if np.isfinite(problem.predict(tried)).all():
            return tried
    return inside


def _inner(problem: Problem, free: FloatArray) -> FloatArray:
    return np.array([s.inner(v) for s, v in zip(problem.scales, free, strict=True)])


def _outer(problem: Problem, inner: FloatArray) -> FloatArray:
    return np.array([s.outer(v) for s, v in zip(problem.scales, inner, strict=True)])


def _clipped(problem: Problem, free: FloatArray) -> FloatArray:
    low, high = bounds_of(problem)
    return np.clip(free, low, high)


def bounds_of(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bounds of the free parameters."""
    return np.array([s.low for s in problem.scales]), np.array([s.high for s in problem.scales])


def _log_cost(problem: Problem, free: FloatArray) -> float:
    """Rank starts by ratios, which far away tell more than differences."""
    with np.errstate(all="ignore"):
        ratio = np.log(problem.predict(free) / problem.measured)[problem.used]
    return float(np.sum(ratio**2)) if np.isfinite(ratio).all() else np.inf


def follow(problem: Problem, start: FloatArray) -> Found:
    """Follow one start, which may be far away, to its end."""
    return polish(problem, _by_ratios(problem, start))


def _by_ratios(problem: Problem, start: FloatArray) -> FloatArray:
    """Search by logarithms of ratios, which leads from far away."""
    relative = (problem.measured / problem.sigma)[problem.used]

    def residuals(inner: FloatArray) -> FloatArray:
        predicted = problem.predict(_outer(problem, inner))
        if not (np.isfinite(predicted) & (predicted > 0)).all():
            return np.full(relative.shape, np.inf)
        return np.asarray(np.log(predicted / problem.measured)[problem.used] * relative)

    def jacobian(inner: FloatArray) -> FloatArray:
        free = _outer(problem, inner)
        predicted = problem.predict(free)[problem.used]
        slopes = problem.slopes(free)[problem.used] * (relative / predicted)[:, None]
        stretch = [v if s.logarithmic else 1.0 for s, v in zip(problem.scales, free, strict=True)]
        return np.asarray(slopes * np.array(stretch))

    inner = _inner(problem, start)
    if not np.isfinite(residuals(inner)).all():
        return start
    wide = np.full(len(inner), np.inf)
    valley = Valley(residuals, jacobian, -wide, wide, np.ones(len(inner)))
    return _outer(problem, descend(valley, inner, _COARSE_STEPS, _COARSE)[0])


def polish(problem: Problem, start: FloatArray, worth: float = 0.0) -> Found:
    """Follow one start to its end in the parameters' own units, within their bounds.

    Steps to values at which a measured load is not sustained are never taken, so the
    saturation point stays above every measured load. A step is made if it gains what it is worth.
    """
    if not problem.names:
        return Found(start, problem.cost(start), np.array([], bool))
    low, high = bounds_of(problem)
    start = np.clip(start, low, high)
    if not np.isfinite(problem.residuals(start)).all():
        return Found(start, np.inf, np.zeros(len(start), bool))
    scale = np.maximum(np.abs(start), 0.01 * np.abs(problem.initial) + 1e-12)
    valley = Valley(problem.residuals, problem.jacobian, low, high, scale, problem.loss)
    if len(problem.names) > _FEW:
        free, cost = reflected(valley, start, _STEPS, _PRECISION)
    else:
        free, cost = descend(valley, start, _STEPS, _PRECISION, worth)
    width = np.maximum(np.abs(np.where(np.isfinite(low), low, 0)), np.abs(problem.initial))
    with np.errstate(invalid="ignore"):
        near = (free - low < _AT_BOUND * width) | (high - free < _AT_BOUND * width)
    return Found(free, cost, near)


def _over_whole(problem: Problem, starts: int) -> Found:
    """Look for the best whole number: from the best fraction on, or by steps of doubling."""
    name = problem.whole[0]
    index = problem.names.index(name)
    scale = problem.scales[index]
    low, high = max(1, round(scale.low)), min(scale.high, _MOST)
    ends: dict[int, Found] = {}
    first, factor = problem.initial[index], 2.0
    if problem.relaxed:
        relaxed = search(replace(problem, whole=()), starts).free
        first, factor, problem, starts = relaxed[index], 1.0, problem.starting(relaxed), 1

    def at(count: int) -> float:
        if count not in ends:
            ends[count] = _held(_beside(problem, ends, count), name, count, 1 if ends else starts)
        return ends[count].cost

    best = _climb(at, round(min(max(first, low), high)), (low, high), factor)
    found = ends[best]
    edge = best in (low, high) and problem.model.parameters[name].maximum < np.inf
    return Found(
        np.insert(found.free, index, float(best)),
        found.cost,
        np.insert(found.at_bound, index, edge),
    )


def _beside(problem: Problem, ends: Mapping[int, Found], count: int) -> Problem:
    """Start from where the nearest count that was tried ended."""
    known = [other for other in ends if np.isfinite(ends[other].cost)]
    if not known:
        return problem
    nearest = min(known, key=lambda other: abs(other - count))
    names = [name for name in problem.names if name != problem.whole[0]]
    values = dict(zip(names, map(float, ends[nearest].free), strict=True))
    return replace(problem, model=problem.model.at(values))


def _held(problem: Problem, name: str, count: int, starts: int) -> Found:
    try:
        return search(problem.holding(name, float(count)), starts)
    except Saturated:
        width = len(problem.names) - 1
        return Found(np.full(width, np.nan), np.inf, np.zeros(width, bool))


_MOST = 1 << 20


def _climb(
    at: Callable[[int], float], best: int, limits: tuple[float, float], factor: float
) -> int:
    """Minimise over whole numbers, from steps by a half or double down to steps of one."""
    while True:
        near = {max(round(best / factor), 1), round(best * factor), best - 1, best + 1}
        tried = [n for n in sorted(near) if limits[0] <= n <= min(limits[1], _MOST)]
        better = min([best, *tried], key=at)
        if at(better) < at(best) * (1 - _ALIKE):
            best = better
        elif factor > 1 + 1 / best and factor > 1.02:
            factor = factor**0.5
        else:
            return best
