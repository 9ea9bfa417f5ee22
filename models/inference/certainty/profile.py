"""Profile likelihood: how far a quantity can move without making the best fit significantly worse.

The other parameters are fitted again at each step. The length of a step comes from the data, by
what the linearised fit says of the quantity, and not from its value, which may be zero.

Source: Seber and Wild, *Nonlinear Regression*, 1989, section 5.4.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

import numpy as np

from headway.kinds import FloatArray
from headway.models.inference.searching.descent import Rows, Valley, descend
from headway.models.inference.searching.problem import Problem
from headway.models.inference.searching.search import WHOLE, Optimum, natural_scale, polish_all
from headway.models.solving.evaluate import slope_between
from headway.records import dataclass

_REACHES = 44  # doublings of a step after which a quantity counts as unlimited
_REFINED = 24  # most steps between the last value that fits and the first that does not
_CLOSE = 1e-4  # precision of an end, relative to its distance from the best value
_FAR = 4.0  # ratio of two ends above which the next value is interpolated in logarithms
_HOLDING = 1e3  # weight of a held quantity, per half-width: it moves by a millionth of that
_STEEPEST = 2.0  # largest power by which one value may follow another
_STEPS, _PRECISION = 100, 1e-10
_DIFFERENCE = 1e-6

Quantity = Callable[[FloatArray], FloatArray]
"""A function of the free parameters, along the last axis; any leading axes."""


@dataclass(frozen=True)
class Reached:
    """A value at which a quantity was held, the least cost there, and the free values."""

    value: float
    cost: float
    free: FloatArray


@dataclass(frozen=True)
class Held:
    """A quantity, the value to hold it at, and the free values from which the others are fitted.

    Parameters
    ----------
    which
        Index of the quantity among those that are profiled.
    value
        The value.
    free
        Values of all free parameters.
    """

    which: int
    value: float
    free: FloatArray


Hold = Callable[[Sequence[Held]], Sequence[Reached]]
"""Fits with quantities held, side by side."""


@dataclass(frozen=True)
class Profiled:
    """A quantity whose interval is wanted.

    Parameters
    ----------
    best
        The best fit.
    reach
        The first step, in the quantity's unit.
    limits
        Values that the quantity cannot pass.
    """

    best: Reached
    reach: float
    limits: tuple[float, float]


Steps = Generator[tuple[float, FloatArray], Reached, float]
"""Asks for fits with a held value, each from given free values; returns an end."""


def profile_ends(
    hold: Hold, profiled: Sequence[Profiled], most: float
) -> list[tuple[float, float]]:
    """Both ends of each interval by profile likelihood; all ends are searched for side by side.

    Parameters
    ----------
    hold
        A function that fits with quantities held.
    profiled
        The quantities.
    most
        Largest cost of a fit that is not significantly worse.

    Returns
    -------
    Lower and upper end for each quantity; a limit or infinity where the data set none.
    """
    sides = [(which, sign) for which in range(len(profiled)) for sign in (-1, 1)]
    searches = {(which, sign): _end(profiled[which], sign, most) for which, sign in sides}
    asked = {side: next(search) for side, search in searches.items()}
    ends: dict[tuple[int, int], float] = {}
    while asked:
        reached = hold([Held(which, *where) for (which, _), where in asked.items()])
        for side, found in zip(list(asked), reached, strict=True):
            try:
                asked[side] = searches[side].send(found)
            except StopIteration as ended:
                ends[side] = ended.value
                del asked[side]
    return [(ends[which, -1], ends[which, 1]) for which in range(len(profiled))]


def _end(profiled: Profiled, sign: int, most: float) -> Steps:
    inside, reach, limits = profiled.best, sign * profiled.reach, profiled.limits
    limit = limits[1] if reach > 0 else limits[0]
    for _ in range(_REACHES):
        value = float(np.clip(inside.value + reach, *limits))
        tried = yield value, inside.free
        if not tried.cost <= most:
            return (yield from _end_between(profiled.best, inside, tried, most))
        if value == limit:
            return limit
        inside, reach = tried, 2 * reach
    return limit


def _end_between(best: Reached, inside: Reached, outside: Reached, most: float) -> Steps:
    """The end, between a value that fits and one that does not, by the root of the cost."""
    for _ in range(_REFINED):
        if abs(outside.value - inside.value) <= _CLOSE * abs(outside.value - best.value):
            break
        value = _next_value(best.cost, inside, outside, most)
        tried = yield value, inside.free
        if tried.cost <= most:
            inside = tried
        else:
            outside = tried
    return inside.value


def _next_value(least: float, inside: Reached, outside: Reached, most: float) -> float:
    """The next value to try: by ratios while the ends are far apart, then by a straight line."""
    near, far = inside.value, outside.value
    if near * far > 0 and not 1 / _FAR < near / far < _FAR:
        return float(np.sign(near) * np.sqrt(near * far))
    if not np.isfinite(outside.cost):
        return 0.5 * (near + far)
    roots = [np.sqrt(max(cost - least, 0.0)) for cost in (inside.cost, most, outside.cost)]
    share = (roots[1] - roots[0]) / max(roots[2] - roots[0], 1e-300)
    return float(near + np.clip(share, 0.02, 0.98) * (far - near))


def holding_parameters(
    problem: Problem, places: Sequence[int], follow: Sequence[FloatArray], worth: float
) -> Hold:
    """Make fits in which one free parameter is held.

    Parameters
    ----------
    problem
        The fit; parameters that count something vary continuously where fractions make sense.
    places
        Indices of the free parameters that are profiled.
    follow
        How far all parameters move with each of them, by the linearised fit; the search starts
        there.
    worth
        Gain in cost that makes a step worthwhile.
    """

    def hold(asked: Sequence[Held]) -> list[Reached]:
        tried = [
            _moved(problem, each.free, places[each.which], each.value, follow[each.which])
            for each in asked
        ]
        solved = np.isfinite(problem.predict(np.concatenate(tried))).all(axis=-1)
        good = np.split(solved, np.cumsum([len(starts) for starts in tried])[:-1])
        begun = {k: starts[good[k]][0] for k, starts in enumerate(tried) if good[k].any()}
        reached = [Reached(each.value, np.inf, each.free) for each in asked]
        if begun:
            still = np.array([places[asked[k].which] for k in begun])
            effort = replace(WHOLE, worth=worth)
            ends = polish_all(problem, np.array([*begun.values()]), effort, still)
            for k, end in zip(begun, ends, strict=True):
                reached[k] = Reached(asked[k].value, end.cost, end.free)
        return reached

    return hold


def _moved(
    problem: Problem, free: FloatArray, k: int, value: float, follow: FloatArray
) -> FloatArray:
    """Starting values of the others once one has moved: by ratios, by differences, or unchanged."""
    low, high = problem.bounds
    along = free + follow * (value - free[k])
    starts = [along, free]
    if (free > 0).all() and value > 0:
        power = np.clip(follow * free[k] / free, -_STEEPEST, _STEEPEST)
        starts = [free * (value / free[k]) ** power, *starts]
    moved: FloatArray = np.clip(starts, low, high)
    moved[:, k] = value
    return moved


def holding_quantity(problem: Problem, quantity: Quantity, width: float, worth: float) -> Hold:
    """Make fits in which a function of the free parameters is held.

    Parameters
    ----------
    problem
        The fit.
    quantity
        The quantity to hold.
    width
        About half of its interval's width.
    worth
        Gain in cost that makes a step worthwhile.
    """
    low, high = problem.bounds
    weight = _HOLDING / width

    def sloped(jacobian: FloatArray, sets: FloatArray) -> FloatArray:
        holding = weight * gradient(problem, quantity, sets)
        return np.concatenate([jacobian, holding[:, None]], axis=-2)

    def jacobian(sets: FloatArray, rows: Rows) -> FloatArray:  # noqa: ARG001
        return sloped(problem.jacobian(sets), sets)

    def hold(asked: Sequence[Held]) -> list[Reached]:
        values, starts = np.array([e.value for e in asked]), np.array([e.free for e in asked])

        def missed(errors: FloatArray, sets: FloatArray, rows: Rows) -> FloatArray:
            held = weight * (quantity(sets) - values[rows])
            return np.concatenate([errors, held[:, None]], axis=-1)

        def residuals(sets: FloatArray, rows: Rows) -> FloatArray:
            return missed(problem.residuals(sets), sets, rows)

        def both(sets: FloatArray, rows: Rows) -> tuple[FloatArray, FloatArray]:
            errors, jacobian = problem.both(sets)
            return missed(errors, sets, rows), sloped(jacobian, sets)

        scale = natural_scale(problem, starts)
        valley = Valley(residuals, jacobian, low, high, scale, problem.loss, exact=1)
        valley = replace(valley, both=both) if problem.at_once else valley
        ended = descend(valley, starts, _STEPS, _PRECISION, worth)[0]
        return [
            Reached(value, cost(value, free), free)
            for value, free in zip(values.tolist(), ended, strict=True)
        ]

    def cost(value: float, free: FloatArray) -> float:
        is_off = abs(quantity(free) - value) > 0.01 * max(width, 1e-3 * abs(value))
        return np.inf if is_off else float(problem.cost(free))

    return hold


def gradient(problem: Problem, quantity: Quantity, free: FloatArray) -> FloatArray:
    """Derivatives of a quantity by free parameter; one-sided where only one side has a value."""
    steps = _DIFFERENCE * natural_scale(problem, free)
    low, high = free - steps, free + steps
    for k, name in enumerate(problem.names):
        if name in problem.whole and not problem.relaxed:
            low[..., k], high[..., k] = problem.around(name, free[..., k], 0.0)
    each = np.arange(free.shape[-1])
    below, above = (np.repeat(free[..., None, :], each.size, axis=-2) for _ in range(2))
    below[..., each, each], above[..., each, each] = low, high
    values = quantity(np.concatenate([free[..., None, :], below, above], axis=-2))
    here, lower, upper = np.split(values, [1, 1 + each.size], axis=-1)
    return slope_between(lower, here, upper, free - low, high - free)


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
