"""Profile likelihood: how far a quantity can go while the best fit with it is no worse.

The others are fitted anew at each step. A step is as long as the data make it: what the
linearised fit says of the quantity, never a share of its value, which may be nothing.

Source: Seber and Wild, *Nonlinear Regression*, 1989, section 5.4.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from headway.kinds import FloatArray
from headway.models.inference.searching.descent import Rows, Valley, descend
from headway.models.inference.searching.problem import Problem
from headway.models.inference.searching.search import Optimum, natural_scale, polish
from headway.models.solving.evaluate import slope_between
from headway.records import dataclass

_REACHES = 44  # doublings of a step before a quantity counts as without limit
_REFINED = 24  # steps between the last value that fits and the first that does not
_CLOSE = 1e-4  # of the way from the best value: how well an end is known
_FAR = 4.0  # ratio of two ends from which the next is looked for by ratios
_HOLDING = 1e3  # weight of a quantity held, in its own half-width: it moves by a millionth of that
_STEEPEST = 2.0  # power by which one value follows another at most
_STEPS, _PRECISION = 100, 1e-10
_DIFFERENCE = 1e-6

Quantity = Callable[[FloatArray], float]
"""A number as a function of the free parameters."""


@dataclass(frozen=True)
class Reached:
    """A fixed value of a quantity, the least cost with it, and the values at that cost."""

    value: float
    cost: float
    free: FloatArray


Hold = Callable[[float, FloatArray], Reached]
"""Fit with a quantity held at a value, from given values of the free parameters on."""


def profile_ends(
    hold: Hold, best: Reached, reach: float, limits: tuple[float, float], most: float
) -> tuple[float, float]:
    """Both ends of an interval by profile likelihood.

    Parameters
    ----------
    hold
        Fits with the quantity held.
    best
        The best fit.
    reach
        First step, in the quantity's unit.
    limits
        What the quantity cannot pass.
    most
        Cost up to which a fit is not significantly worse.

    Returns
    -------
    Lower and upper end; a limit, or infinity, where the data set none.
    """
    low, high = (_end(hold, best, sign * reach, limits, most) for sign in (-1, 1))
    return low, high


def _end(
    hold: Hold, best: Reached, reach: float, limits: tuple[float, float], most: float
) -> float:
    inside, limit = best, limits[1] if reach > 0 else limits[0]
    for _ in range(_REACHES):
        value = float(np.clip(inside.value + reach, *limits))
        tried = hold(value, inside.free)
        if not tried.cost <= most:
            return _between(hold, best, inside, tried, most)
        if value == limit:
            return limit
        inside, reach = tried, 2 * reach
    return limit


def _between(hold: Hold, best: Reached, inside: Reached, outside: Reached, most: float) -> float:
    """The end between a value that fits and one that does not; the root of the excess is even."""
    for _ in range(_REFINED):
        if abs(outside.value - inside.value) <= _CLOSE * abs(outside.value - best.value):
            break
        value = _middle(best.cost, inside, outside, most)
        tried = hold(value, inside.free)
        if tried.cost <= most:
            inside = tried
        else:
            outside = tried
    return inside.value


def _middle(least: float, inside: Reached, outside: Reached, most: float) -> float:
    """Where to look: by ratios while far apart, then on a straight line, kept off its ends."""
    near, far = inside.value, outside.value
    if near * far > 0 and not 1 / _FAR < near / far < _FAR:
        return float(np.sign(near) * np.sqrt(near * far))
    if not np.isfinite(outside.cost):
        return 0.5 * (near + far)
    roots = [np.sqrt(max(cost - least, 0.0)) for cost in (inside.cost, most, outside.cost)]
    share = (roots[1] - roots[0]) / max(roots[2] - roots[0], 1e-300)
    return float(near + np.clip(share, 0.02, 0.98) * (far - near))


def holding_parameter(problem: Problem, k: int, follow: FloatArray, worth: float) -> Hold:
    """Fix one free parameter.

    Parameters
    ----------
    problem
        The fit; what counts something moves freely where fractions of it make sense.
    k
        Which free parameter.
    follow
        How far each other moves with it, by the linearised fit: where the search goes on from.
    worth
        Gain in cost that a step is made for.
    """

    def hold(value: float, free: FloatArray) -> Reached:
        fixed = problem.holding(problem.names[k], value)
        for moved in _moved(problem, free, k, value, follow):
            others = np.delete(moved, k)
            if np.isfinite(fixed.predict(others)).all():
                optimum = polish(fixed, others, worth)
                return Reached(value, optimum.cost, np.insert(optimum.free, k, value))
        return Reached(value, np.inf, free)

    return hold


def _moved(
    problem: Problem, free: FloatArray, k: int, value: float, follow: FloatArray
) -> list[FloatArray]:
    """Where the others may be once one has moved: along by ratios, by differences, or in place."""
    low, high = problem.bounds
    along = np.clip(free + follow * (value - free[k]), low, high)
    if not (free > 0).all() or value <= 0:
        return [along, free]
    power = np.clip(follow * free[k] / free, -_STEEPEST, _STEEPEST)
    return [np.clip(free * (value / free[k]) ** power, low, high), along, free]


def holding_quantity(problem: Problem, quantity: Quantity, width: float, worth: float) -> Hold:
    """Fix a function of the free parameters.

    Parameters
    ----------
    problem
        The fit.
    quantity
        What to hold.
    width
        About half of its interval.
    worth
        Gain in cost that a step is made for.
    """
    low, high = problem.bounds
    weight = _HOLDING / width

    def jacobian(sets: FloatArray, rows: Rows) -> FloatArray:  # noqa: ARG001
        holding = np.array([weight * gradient(problem, quantity, free) for free in sets])
        return np.concatenate([problem.jacobian(sets), holding[:, None]], axis=-2)

    def hold(value: float, free: FloatArray) -> Reached:
        def residuals(sets: FloatArray, rows: Rows) -> FloatArray:  # noqa: ARG001
            holding = np.array([[weight * (quantity(tried) - value)] for tried in sets])
            return np.concatenate([problem.residuals(sets), holding], axis=-1)

        scale = natural_scale(problem, free)[None]
        valley = Valley(residuals, jacobian, low, high, scale, problem.loss, exact=1)
        ended = descend(valley, free[None], _STEPS, _PRECISION, worth)[0][0]
        missed = abs(quantity(ended) - value) > 0.01 * max(width, 1e-3 * abs(value))
        cost = np.inf if missed else float(problem.cost(ended))
        return Reached(value, cost, ended)

    return hold


def gradient(problem: Problem, quantity: Quantity, free: FloatArray) -> FloatArray:
    """Derivatives of a quantity for the free parameters, one-sided where a side has none."""
    here, slopes = quantity(free), np.zeros(len(free))
    steps = _DIFFERENCE * natural_scale(problem, free)
    for k, name in enumerate(problem.names):
        low, high = free[k] - steps[k], free[k] + steps[k]
        if name in problem.whole and not problem.relaxed:
            low, high = problem.around(name, float(free[k]), 0.0)
        below, above = (
            quantity(np.where(np.arange(len(free)) == k, end, free)) for end in (low, high)
        )
        slopes[k] = slope_between(below, here, above, free[k] - low, high - free[k])
    return slopes


def freed(problem: Problem) -> Problem:
    """Free counts where fractions of them make sense; elsewhere, and at a bound, fix them."""
    for name in problem.whole:
        value = float(problem.initial[problem.names.index(name)])
        if not problem.relaxed or value <= problem.scales[problem.names.index(name)].low:
            problem = problem.holding(name, value)
    return replace(problem, whole=())


def values_of(problem: Problem, whole: Problem, optimum: Optimum) -> FloatArray:
    """Fitted values of those parameters of a problem that another, smaller one has."""
    values = dict(zip(whole.names, optimum.free, strict=True))
    return np.array([values[name] for name in problem.names])
