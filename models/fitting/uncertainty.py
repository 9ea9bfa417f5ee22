"""How sure a fit is: standard errors, intervals, correlations, bands, left-out errors.

Intervals are Student's t times the standard error; where a value lies near a bound, or is
little known, by profile likelihood: all values that fit no worse than the best one by an F
test, the other parameters free. Of a count, all whole numbers that do.

Source: Seber and Wild, *Nonlinear Regression*, 1989, chapter 5.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headway.errors import Saturated
from headway.kinds import FloatArray
from headway.models.fitting.counts import count_interval
from headway.models.fitting.loss import loss_derivatives
from headway.models.fitting.problem import Problem
from headway.models.fitting.search import Found, polish

CONFIDENCE = 0.95
_SYMMETRIC = 0.15  # relative standard error up to which an interval is taken as symmetric
_WIDEST = 1e6  # factor from the best value at which a profile is given up
_FLAT = 0.02  # least curvature: where most points are outliers, a robust cost bends the wrong way
_BISECTIONS = 18
_RANK = 1e-7  # relative singular value below which a combination has no effect


@dataclass(frozen=True)
class Uncertainty:
    """What is known of the free parameters.

    Parameters
    ----------
    variance
        What the cost varies by: that of the residuals, 1 where the stated errors are right.
    covariance
        Of the free parameters; infinite where nothing is known.
    degrees
        Of freedom: points less parameters.
    """

    variance: float
    covariance: FloatArray
    degrees: int

    @property
    def standard_errors(self) -> FloatArray:
        """Of the free parameters, in SI."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def correlations(self) -> FloatArray:
        """Between the free parameters; NaN where nothing is known."""
        errors = self.standard_errors
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.covariance / np.outer(errors, errors))


def student(degrees: int) -> float:
    """Student's t that 95 % of the distribution lie within.

    Examples
    --------
    >>> round(student(6), 3)
    2.447
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + CONFIDENCE) / 2)) if degrees > 0 else np.inf


def uncertainty(problem: Problem, found: Found) -> Uncertainty:
    """Linearised uncertainty at the best values; what lies at a bound counts as fixed."""
    inside = ~found.at_bound
    jacobian = problem.jacobian(found.free)[:, inside]
    degrees = int(problem.used.sum()) - len(found.free)
    first, second = loss_derivatives(problem.residuals(found.free), problem.loss)
    curvature = _curvature(second, len(found.free))
    variance = float(np.sum(first**2)) / degrees / curvature if degrees > 0 else np.nan
    covariance = np.zeros((len(found.free), len(found.free)))
    inverse = _inverse(jacobian, found.free[inside])
    covariance[np.ix_(inside, inside)] = variance / curvature * inverse
    return Uncertainty(variance, covariance, degrees)


def _curvature(second: FloatArray, parameters: int) -> float:
    """Mean curvature of the cost, smaller where few points show it (Huber)."""
    mean = max(float(second.mean()), _FLAT)
    return mean / (1 + parameters / len(second) * float(second.var()) / mean**2)


def _inverse(jacobian: FloatArray, free: FloatArray) -> FloatArray:
    """(J'J)^-1, infinite along what has no effect; J is scaled to relative changes."""
    if not jacobian.size:
        return np.zeros((len(free), len(free)))
    size = np.where(free == 0, 1.0, np.abs(free))
    _, singular, right = np.linalg.svd(jacobian * size, full_matrices=True)
    full = np.zeros(len(free))
    full[: len(singular)] = singular
    known = full > _RANK * max(float(full.max()), 1e-300)
    spread = np.where(known, 1 / np.where(known, full, 1.0) ** 2, 0.0)
    inverse = (right.T * spread) @ right
    lost = (np.abs(right[~known]) > np.sqrt(_RANK)).any(axis=0) if (~known).any() else []
    inverse[np.diag_indices(len(free))] += np.where(lost, np.inf, 0.0) if len(lost) else 0.0
    return np.asarray(inverse * np.outer(size, size))


def intervals(problem: Problem, found: Found, known: Uncertainty) -> list[tuple[float, float]]:
    """95 % interval of each free parameter."""
    problem = problem.starting(found.free)
    return [_interval(problem, found, known, k) for k in range(len(found.free))]


def _interval(problem: Problem, found: Found, known: Uncertainty, k: int) -> tuple[float, float]:
    scale, value = problem.scales[k], float(found.free[k])
    half = student(known.degrees) * float(known.standard_errors[k])
    low, high = value - half, value + half
    near = found.at_bound[k] or low <= scale.low or high >= scale.high
    doubtful = scale.logarithmic and float(known.standard_errors[k]) > _SYMMETRIC * abs(value)
    if known.degrees <= 0:
        return scale.low, scale.high
    if problem.names[k] in problem.whole:
        return count_interval(problem, k, round(value), _worst_cost(found, known))
    if near or doubtful or not np.isfinite(half):
        return profile_interval(problem, found, known, k)
    return max(low, scale.low), min(high, scale.high)


def profile_interval(
    problem: Problem, found: Found, known: Uncertainty, k: int
) -> tuple[float, float]:
    """Interval of one parameter by profile likelihood.

    Returns
    -------
    Both ends; a bound, zero or infinity where the data set no limit.
    """
    most = _worst_cost(found, known)
    ends = [_profile_end(problem, found, k, most, direction) for direction in (-1, 1)]
    return ends[0], ends[1]


def _worst_cost(found: Found, known: Uncertainty) -> float:
    """Cost above which a fit is significantly worse than the best."""
    return found.cost + 0.5 * known.variance * student(known.degrees) ** 2


def _profile_end(problem: Problem, found: Found, k: int, most: float, direction: int) -> float:
    """Go out by growing factors until the fit is too bad, then halve the step in between."""
    name, scale = problem.names[k], problem.scales[k]
    start = max(float(found.free[k]), scale.low)
    others = np.delete(found.free, k)
    limit = scale.high if direction > 0 else scale.low
    inside, factor = start, 1.02
    outside = None
    while outside is None:
        tried = start * factor**direction
        tried = min(tried, limit) if direction > 0 else max(tried, limit)
        cost, moved = _held_cost(problem, name, tried, others)
        if cost > most:
            outside = tried
        elif tried == limit or factor > _WIDEST:
            return limit if tried == limit else (np.inf if direction > 0 else 0.0)
        else:
            inside, others, factor = tried, moved, 1 + (factor - 1) * 2
    for _ in range(_BISECTIONS):
        middle = float(np.sqrt(inside * outside))
        cost, moved = _held_cost(problem, name, middle, others)
        if cost > most:
            outside = middle
        else:
            inside, others = middle, moved
    return inside


def _held_cost(
    problem: Problem, name: str, value: float, others: FloatArray
) -> tuple[float, FloatArray]:
    """Least cost with one parameter held; the others start from where they were."""
    held = problem.holding(name, value)
    if not np.isfinite(held.predict(others)).all():
        return np.inf, others
    held = _smooth(held)
    found = polish(held, np.array([v for n, v in _named(problem, name, others) if n in held.names]))
    merged = dict(zip(held.names, found.free, strict=True))
    return found.cost, np.array([merged.get(n, v) for n, v in _named(problem, name, others)])


def _smooth(problem: Problem) -> Problem:
    """Move what is continuous: counts too where fractions of them make sense, else they stay."""
    if problem.relaxed:
        return replace(problem, whole=())
    for name in problem.whole:
        value = float(problem.model.parameters[name].value)  # type: ignore[arg-type]
        problem = problem.holding(name, value)
    return problem


def _named(problem: Problem, held: str, others: FloatArray) -> list[tuple[str, float]]:
    names = [name for name in problem.names if name != held]
    return list(zip(names, others.tolist(), strict=True))


def left_out_errors(problem: Problem, found: Found, groups: list[Any]) -> FloatArray:
    """Relative errors at points when they are left out, group by group.

    Parameters
    ----------
    problem, found
        The fit.
    groups
        Marks of the points to leave out together.

    Returns
    -------
    One error a left-out point; infinite where the rest of the data has no fit.
    """
    errors = []
    for group in groups:
        missing = np.asarray(group)
        rest = _smooth(problem.starting(found.free).without(missing))
        free = np.array([dict(zip(problem.names, found.free, strict=True))[n] for n in rest.names])
        if int(rest.used.sum()) < len(rest.names):
            errors.append(np.full(int(missing.sum()), np.inf))
            continue
        moved = polish(rest, free).free
        predicted = rest.predict(moved)
        errors.append((predicted / problem.measured - 1)[missing])
    return np.concatenate(errors)


def bootstrap(problem: Problem, found: Found, rounds: int, seen: Callable[[], None]) -> FloatArray:
    """Refit to predictions plus errors drawn from those observed, again and again.

    Parameters
    ----------
    problem, found
        The fit.
    rounds
        How often.
    seen
        Called after each round.

    Returns
    -------
    Free parameters by round, shape (rounds, parameters).
    """
    random = np.random.default_rng(20_000)
    best = _smooth(problem.starting(found.free))
    free = np.array([dict(zip(problem.names, found.free, strict=True))[n] for n in best.names])
    predicted = problem.predict(found.free)
    errors = (problem.measured - predicted) / problem.sigma
    degrees = max(len(errors) - len(found.free), 1)
    errors = (errors - errors.mean()) * np.sqrt(len(errors) / degrees)
    rows = []
    for _ in range(rounds):
        drawn = predicted + problem.sigma * random.choice(errors, len(errors))
        again = replace(best, measured=np.maximum(drawn, 1e-3 * predicted))
        try:
            ended = polish(again, free).free
        except Saturated:
            ended = free
        values = dict(zip(problem.names, found.free, strict=True))
        values |= dict(zip(best.names, ended, strict=True))
        rows.append([values[name] for name in problem.names])
        seen()
    return np.array(rows)


def band(
    problem: Problem, known: Uncertainty, slopes: FloatArray, predicted: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """95 % prediction band: where a further measurement is expected, by relative error.

    Parameters
    ----------
    problem, known
        The fit.
    slopes
        Derivatives of the predictions for the free parameters, shape (loads, parameters).
    predicted
        The predictions [SI].
    """
    relative = slopes / np.where(predicted > 0, predicted, 1.0)[:, None]
    spread = np.nan_to_num(known.covariance, posinf=0.0)
    own = known.variance * float(np.median(problem.sigma / problem.measured)) ** 2
    error = np.sqrt(np.einsum("ij,jk,ik->i", relative, spread, relative) + own)
    factor = np.exp(student(known.degrees) * error)
    return predicted / factor, predicted * factor
