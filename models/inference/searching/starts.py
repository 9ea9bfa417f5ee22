"""Where a search starts: the best of many values, over all decades that the data cover.

Parameters on which predictions depend linearly are not drawn but solved for: by weighted least
squares within their bounds, exactly for whatever values the others have.

Source: Golub and Pereyra, *The differentiation of pseudo-inverses and nonlinear least squares
problems whose variables separate*, SIAM J. Numer. Anal. 10(2), 1973, for the linear ones;
Niederreiter, *Random Number Generation and Quasi-Monte Carlo Methods*, 1992, chapter 3, for
multiples of numbers that no ratio connects, which fill a box evenly.
"""

from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from headway.errors import HeadwayError, Saturated
from headway.kinds import FloatArray
from headway.models.inference.searching.problem import Problem

_DRAWS, _MOST_DRAWS = 24, 2048  # values tried, along each axis and in all
_MOST_SOLVED = 256  # most values, if each takes a solution as there is no closed form
_DECADES = 2.0  # decades on either side of the initial value
# logarithm beyond the measured times and rates: service times are parts of these
_WIDE = np.log(10)
# logarithms of what has no unit: shares, powers, numbers of servers
_NUMBERS = np.log(0.03), np.log(3000.0)
_APART = 0.1  # logarithm by which some value must differ between two starts
_SAME = 1e-3  # logarithm by which some prediction must differ between two starts
_LOST = 1e3  # logarithm that stands for a prediction that does not exist
_HALVINGS = 60
_PULLS = 0.7 ** np.arange(12)  # shares of the way towards the drawn values that are tried
_LINEAR = 1e-9  # relative change of a derivative that counts as rounding
_MOST_LINEAR = 4
_RIDGE = 1e-12  # relative: keeps two parameters of the same effect apart


def starts_of(problem: Problem, count: int) -> FloatArray:
    """The initial values and the best of many others, all of which sustain the loads.

    Parameters
    ----------
    problem
        The problem to fit.
    count
        Most starts.

    Returns
    -------
    Values by start, shape (starts, free parameters).

    Raises
    ------
    Saturated
        If no values were found at which the model sustains every measured load.
    """
    first = feasible(problem, problem.initial)
    if count <= 1:
        return first[None]
    ways = linear_ways(problem, first)
    drawn = _drawn(problem, first, len(first) - len(ways))
    good = _holds(problem, drawn)
    drawn = drawn[good] if good.sum() >= count else sustained(problem, first, drawn)
    return np.vstack([first, best_of(problem, _solved_for(problem, drawn, ways), count - 1)])


def best_of(problem: Problem, free: FloatArray, count: int) -> FloatArray:
    """The best few, no two of which nearly agree in values or predictions.

    Parameters
    ----------
    problem
        The problem to fit.
    free
        Values, shape (sets, free parameters).
    count
        Most values returned.
    """
    ratios = _log_ratios(problem, free)
    order = np.argsort((ratios**2).sum(axis=-1), kind="stable")
    return _distinct(problem, free[order], count, ratios[order])


def _drawn(problem: Problem, first: FloatArray, nonlinear: int) -> FloatArray:
    """Values drawn around the initial ones, and around the times in the data.

    There are as many as it takes to come near any point of a box with this number of axes.
    """
    most = _MOST_DRAWS if problem.evaluate.smooth else _MOST_SOLVED
    half = min(_DRAWS ** max(nonlinear, 1), most) // 2
    share = _even(2 * half, len(first))
    initial = problem.inner(first)
    far = np.where(problem.logarithmic, _DECADES * np.log(10), 1.0)
    near_first = initial + far * (2 * share[:half] - 1)
    low, high = initial - far, initial + far
    for k, name in enumerate(problem.names):
        own = _log_range(problem, name) if problem.logarithmic[k] else None
        low[k], high[k] = own or (low[k], high[k])
    return problem.outer(np.vstack([near_first, low + (high - low) * share[half:]]))


def _log_range(problem: Problem, name: str) -> tuple[float, float] | None:
    """Range of the logarithm of a time, a rate, or a time for each unit of a rate."""
    power, data = problem.model.parameters[name].unit.dimension[:2]
    if data:
        return None
    if power == 0:
        return _NUMBERS
    (short, long), (slow, fast) = (np.log(ends) for ends in (problem.times, problem.rates))
    if power < 0:
        return slow - _WIDE, fast + _WIDE
    return short - 2 * _WIDE - (power - 1) * fast, long + _WIDE - (power - 1) * slow


def _even(count: int, width: int) -> FloatArray:
    """Points that fill a unit box evenly, shape (count, width)."""
    root = 2.0
    for _ in range(50):  # solve x**(width + 1) = x + 1
        root = (1 + root) ** (1 / (width + 1))
    return np.asarray(
        (0.5 + np.arange(1, count + 1)[:, None] / root ** np.arange(1, width + 1)) % 1
    )


def sustained(problem: Problem, first: FloatArray, wanted: FloatArray) -> FloatArray:
    """Move from sustained values towards others, as far as all loads stay sustained."""
    start, end = problem.inner(first), problem.inner(wanted)
    reached = np.tile(first, (len(wanted), 1))
    left = np.arange(len(wanted))
    for share in _PULLS:
        tried = problem.outer(start + share * (end[left] - start))
        good = _holds(problem, tried)
        reached[left[good]] = tried[good]
        left = left[~good]
        if not left.size:
            break
    return reached


def _holds(problem: Problem, free: FloatArray) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(problem.predict(free)).all(axis=-1))


def linear_ways(problem: Problem, first: FloatArray) -> tuple[tuple[int, ...], ...]:
    """Directions along which predictions are linear: single parameters, or two together.

    A delay is one direction. Service time and number of servers together are another, if their
    ratio alone bends the curve.

    Parameters
    ----------
    problem
        The problem to fit; only exact derivatives can tell.
    first
        Values that sustain every load.

    Returns
    -------
    Indices of the parameters of each direction; predictions are linear along all of them together.
    """
    known = problem.evaluate.smooth - problem.still
    smooth = [k for k, n in enumerate(problem.names) if n in known and problem.logarithmic[k]]
    ways: tuple[tuple[int, ...], ...] = ()
    for way in (*((k,) for k in smooth), *combinations(smooth, 2)):
        free = not set(way) & set(chain.from_iterable(ways))
        if free and len(ways) < _MOST_LINEAR and _are_straight(problem, first, (*ways, way)):
            ways = (*ways, way)
    return ways


def _are_straight(problem: Problem, first: FloatArray, ways: tuple[tuple[int, ...], ...]) -> bool:
    """Whether predictions change along the directions as they do here, from any point on them."""
    changed = np.tile(first, (3, 1))
    for row, factor in enumerate((0.37, 0.71), start=1):
        for k, way in enumerate(ways, start=1):
            changed[row, list(way)] *= factor**k
    if not _holds(problem, changed).all():
        return False
    along = _slopes_along(problem.slopes(changed), first, ways)
    size = np.abs(along).max(axis=(0, 1))
    return bool((np.abs(along[1:] - along[0]) <= _LINEAR * size).all() and (size > 0).all())


def _slopes_along(
    slopes: FloatArray, free: FloatArray, ways: tuple[tuple[int, ...], ...]
) -> FloatArray:
    """Derivatives by the factors on the values of a direction, shape (..., points, directions)."""
    grown = slopes * free[..., None, :]
    return np.stack([grown[..., list(way)].sum(axis=-1) for way in ways], axis=-1)


def _solved_for(
    problem: Problem, free: FloatArray, ways: tuple[tuple[int, ...], ...]
) -> FloatArray:
    """The values with factors along linear directions solved for, trying all sets of bounds."""
    if not ways:
        return free
    along = _slopes_along(problem.jacobian(free), free, ways)
    rest = problem.residuals(free) - along.sum(axis=-1)
    low, high = _factors(problem, free, ways)
    best, least = np.ones_like(low), np.full(len(free), np.inf)
    every = chain.from_iterable(combinations(range(len(ways)), n) for n in range(len(ways) + 1))
    for moving in map(list, every):
        tried = low.copy()
        tried[:, moving] = _least_squares(along, rest, low, moving)
        tried = np.clip(tried, low, high)
        cost = ((rest + (along @ tried[..., None])[..., 0]) ** 2).sum(axis=-1)
        better = cost < least
        best, least = np.where(better[:, None], tried, best), np.where(better, cost, least)
    solved = free.copy()
    for k, way in enumerate(ways):
        solved[:, list(way)] *= best[:, k, None]
    return np.where(_holds(problem, solved)[:, None], solved, free)


def _factors(
    problem: Problem, free: FloatArray, ways: tuple[tuple[int, ...], ...]
) -> tuple[FloatArray, FloatArray]:
    """Least and largest factor along each direction that keeps its values within bounds."""
    low, high = (bound / free for bound in problem.bounds)
    least = np.stack([low[:, list(way)].max(axis=-1) for way in ways], axis=-1)
    return least, np.stack([high[:, list(way)].min(axis=-1) for way in ways], axis=-1)


def _least_squares(
    along: FloatArray, rest: FloatArray, low: FloatArray, moving: list[int]
) -> FloatArray:
    """Factors along some directions, with the others at their least."""
    bound = [k for k in range(along.shape[-1]) if k not in moving]
    wanted = -(rest + (along[..., bound] @ low[:, bound, None])[..., 0])
    some = along[..., moving]
    turned = np.swapaxes(some, -1, -2)
    own = turned @ some
    ridge = _RIDGE * np.trace(own, axis1=-2, axis2=-1)[:, None, None] + 1e-300
    factors = np.linalg.solve(own + ridge * np.eye(len(moving)), turned @ wanted[..., None])
    return np.asarray(factors[..., 0])


def distinct(problem: Problem, free: FloatArray, count: int) -> FloatArray:
    """The first few that differ in some value.

    Parameters
    ----------
    problem
        The problem to fit.
    free
        Values, shape (sets, free parameters).
    count
        Most values returned.
    """
    return _distinct(problem, free, count, None)


def _distinct(
    problem: Problem, free: FloatArray, count: int, ratios: FloatArray | None
) -> FloatArray:
    """The first few that differ in values and, if given, in logarithms of predictions.

    Values without effect, such as the load at which a wake-up time of zero is halved, may differ
    without meaning anything: many starts would be one.
    """
    places = problem.inner(free)
    kept: list[int] = []
    left = np.ones(len(free), bool)
    while left.any() and len(kept) < count:
        kept.append(int(left.argmax()))
        left &= np.abs(places - places[kept[-1]]).max(axis=-1) > _APART
        if ratios is not None:
            left &= np.abs(ratios - ratios[kept[-1]]).max(axis=-1) > _SAME
    return free[kept]


def _log_ratios(problem: Problem, free: FloatArray) -> FloatArray:
    """Logarithm of predicted over measured: far from the data, a better guide than differences."""
    with np.errstate(all="ignore"):
        ratio = np.log(problem.predict(free) / problem.measured)[..., problem.used]
        return np.asarray(np.nan_to_num(ratio, nan=_LOST, posinf=_LOST, neginf=-_LOST))


def feasible(problem: Problem, free: FloatArray) -> FloatArray:
    """Shrink or stretch values until the model sustains every measured load.

    Raises
    ------
    Saturated
        If that does not help.
    """
    free = problem.rounded(free)
    if _holds(problem, free):
        return free
    marks = [np.arange(len(free)) == k for k in range(len(free))] + [np.ones(len(free), bool)]
    low, high = problem.bounds
    for halvings in range(1, _HALVINGS):
        factors = [(mark, factor) for mark in marks for factor in (0.5**halvings, 2.0**halvings)]
        tried = np.array([np.clip(np.where(m, free * f, free), low, high) for m, f in factors])
        tried = problem.rounded(tried)
        good = _holds(problem, tried)
        if good.any():
            return np.asarray(tried[good.argmax()])
    raise Saturated(unsustained(problem))


def unsustained(problem: Problem) -> str:
    """The error for a model that sustains no measured load, with the reason at the given values."""
    return (
        f"{problem.model.name} saturates below the highest measured load for all values of "
        f"{', '.join(problem.names)}{_reason(problem)}; free a service time, or raise the servers"
    )


def _reason(problem: Problem) -> str:
    """What goes wrong at the given values, if it is more than a full station."""
    try:
        solution = problem.model.solve()
    except HeadwayError as error:
        return f" ({error})"
    return f" ({solution.saturation_message})" if solution.marks.overload else ""
