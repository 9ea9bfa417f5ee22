"""How certain a fit is: standard errors, intervals, correlations, bands.

Intervals are Student's t times the standard error. If any value is near a bound, or poorly known,
all intervals are by profile likelihood: values that an F test finds no worse than the best, with
the other parameters free. For a count, these are all whole numbers that pass.

Source: Seber and Wild, *Nonlinear Regression*, 1989, chapter 5.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.inference.certainty.profile import (
    Profiled,
    Reached,
    freed,
    holding_parameters,
    profile_ends,
    values_of,
)
from headway.models.inference.certainty.shifts import Shift, common_shift, student
from headway.models.inference.certainty.whole_numbers import count_interval
from headway.models.inference.searching.loss import loss_derivatives
from headway.models.inference.searching.problem import Ends, Problem
from headway.models.inference.searching.search import Optimum, natural_scale
from headway.records import dataclass

# gain that makes a step worthwhile, as a share of the cost of a significantly worse fit
_WORTH = 1e-3
_SYMMETRIC = 0.15  # relative standard error up to which an interval is taken as symmetric
_FLAT = 0.02  # least curvature: if most points are outliers, a robust cost curves the wrong way
_RANK = 1e-7  # relative singular value below which a combination of parameters has no effect
_SPARE = 0.02  # least share of a point's error that a fit is taken to leave
_UNKNOWN = 0.5  # share of a value's natural scale: the first step where nothing is known


@dataclass(frozen=True)
class Uncertainty:
    """The uncertainty of the free parameters.

    Parameters
    ----------
    variance
        Variance factor of the cost: that of the residuals, or 1 if the stated errors are right.
    spread
        Covariance of the free parameters, as far as it is known.
    silent
        Directions on which no prediction depends, shape (directions, parameters), in units of
        `scale`.
    scale
        Natural size of a change, by parameter.
    shift
        What residuals of a load have in common.
    """

    variance: float
    spread: FloatArray
    silent: FloatArray
    scale: FloatArray
    shift: Shift

    @property
    def degrees(self) -> int:
        """Degrees of freedom: points (or loads, if repeats share errors) minus parameters."""
        return self.shift.degrees

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the free parameters; infinite where the data say nothing."""
        unknown = (np.abs(self.silent) > np.sqrt(_RANK)).any(axis=0)
        return np.asarray(self.spread + np.diag(np.where(unknown, np.inf, 0.0)))

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors of the free parameters, in SI."""
        variances: FloatArray = np.diag(self.covariance)
        return np.asarray(np.sqrt(variances))

    @property
    def correlations(self) -> FloatArray:
        """Correlations of the free parameters; NaN where the data say nothing."""
        errors = self.standard_errors
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.covariance / np.outer(errors, errors))

    def error_of(self, slopes: FloatArray) -> float:
        """Standard error of a quantity with these derivatives, linearly; infinite if unknown."""
        effect = slopes * self.scale
        size = float(np.linalg.norm(effect))
        if (np.abs(self.silent @ effect) > np.sqrt(_RANK) * size).any():
            return np.inf
        return math.sqrt(max(float(slopes @ self.spread @ slopes), 0.0))


def uncertainty(problem: Problem, optimum: Optimum) -> Uncertainty:
    """Linearised uncertainty at the best values, not less than that of rounding in print."""
    first, second = loss_derivatives(problem.residuals(optimum.free), problem.loss)
    curvature = _curvature(second, len(optimum.free))
    scale = natural_scale(problem, optimum.free)
    counted = np.array([name in problem.whole for name in problem.names], bool)
    # a count at its bound is taken to be exactly that
    moving = ~(counted & np.asarray(optimum.at_bound, bool))
    effects = problem.jacobian(optimum.free) * np.where(moving, scale, 0.0)
    shift = common_shift(problem, first, effects)
    scattered = shift.variance / curvature
    variance = scattered if np.isnan(scattered) else max(scattered, problem.rounding)
    inverse, silent = _inverse(effects)
    inverse, silent = inverse * np.outer(moving, moving), silent * moving
    spread = variance / curvature * inverse * np.outer(scale, scale)
    return Uncertainty(variance, spread, silent, scale, shift)


def _curvature(second: FloatArray, parameters: int) -> float:
    """Mean curvature of the cost, smaller if few points show it (Huber)."""
    mean = max(float(second.mean()), _FLAT)
    return mean / (1 + parameters / len(second) * float(second.var()) / mean**2)


def _inverse(jacobian: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(J'J)^-1 as far as J has effects, and the directions without effect."""
    width = jacobian.shape[1]
    if not jacobian.size:
        return np.zeros((width, width)), np.zeros((0, width))
    _, singular, right = np.linalg.svd(jacobian, full_matrices=True)
    full = np.zeros(width)
    full[: len(singular)] = singular
    known: Any = full > _RANK * max(float(full.max()), 1e-300)
    weights = np.where(known, 1 / np.where(known, full, 1.0) ** 2, 0.0)
    return (right.T * weights) @ right, right[~known]


def unequal_errors(problem: Problem, optimum: Optimum) -> FloatArray:
    """Standard errors that allow for measurement errors of unequal size, from each residual.

    Source: MacKinnon and White, *Some heteroskedasticity-consistent covariance matrix estimators*,
    1985, the jackknife form; residuals are corrected for leverage.
    """
    scale = natural_scale(problem, optimum.free)
    first, second = loss_derivatives(problem.residuals(optimum.free), problem.loss)
    left, singular, right = np.linalg.svd(
        problem.jacobian(optimum.free) * scale, full_matrices=False
    )
    known = singular > _RANK * max(float(singular.max(initial=0.0)), 1e-300)
    pull = (right[known].T / singular[known]) @ left[:, known].T
    errors = set_right(problem, first, left[:, known], 1.0) / _curvature(second, len(optimum.free))
    by_point = (pull * errors).reshape(len(pull), len(problem.outputs), -1).sum(axis=1)
    return np.asarray(scale * np.sqrt((by_point**2).sum(axis=1)))


def set_right(
    problem: Problem, errors: FloatArray, known: FloatArray, power: float, spare: float = _SPARE
) -> FloatArray:
    """Residuals corrected for leverage: a fit makes them smaller than the measurement errors.

    The outputs of a point are corrected together: their residuals times (1 - H)^-power, where H is
    the point's block of the hat matrix (Bell and McCaffrey, 2002).

    Parameters
    ----------
    problem
        The fit.
    errors
        Residuals of the used rows.
    known
        Orthonormal columns that span what the fit can follow, shape (rows, columns).
    power
        1 for the jackknife, 1/2 for errors to draw from.
    spare
        Least share of an error that the fit is taken to leave.
    """
    blocks = known.reshape(len(problem.outputs), -1, known.shape[1])
    own = np.einsum("api,bpi->pab", blocks, blocks)
    levers, ways = np.linalg.eigh(own)
    along = np.einsum("pab,ap->pb", ways, errors.reshape(len(problem.outputs), -1))
    stretched = along / np.maximum(1 - levers, spare) ** power
    return np.asarray(np.einsum("pab,pb->ap", ways, stretched).reshape(-1))


def worst_cost(optimum: Optimum, known: Uncertainty) -> float:
    """Cost above which a fit is significantly worse than the best."""
    return optimum.cost + 0.5 * known.variance * student(known.degrees) ** 2


def least_gain(optimum: Optimum, known: Uncertainty) -> float:
    """Gain in cost that makes a step worthwhile if fits are only compared with the best."""
    return _WORTH * (worst_cost(optimum, known) - optimum.cost)


def intervals(
    problem: Problem, optimum: Optimum, known: Uncertainty, most: float | None = None
) -> tuple[Ends, ...]:
    """95% interval of each free parameter.

    Parameters
    ----------
    problem, optimum, known
        The fit.
    most
        Largest cost of a fit that is not significantly worse, if the best was not found here.
    """
    if known.degrees <= 0:
        return tuple((scale.low, scale.high) for scale in problem.scales)
    limit = worst_cost(optimum, known) if most is None else most
    counted = {
        name: _counted(problem, optimum, name, limit, least_gain(optimum, known))
        for name in problem.names
        if name in problem.whole
    }
    half = student(known.degrees) * known.standard_errors
    if most is None and not _doubtful(problem, optimum, known):
        plain = [(v - h, v + h) for v, h in zip(optimum.free.tolist(), half.tolist(), strict=True)]
        ends = dict(zip(problem.names, plain, strict=True))
    else:
        smooth = [name for name in problem.names if name not in problem.whole]
        ends = profile_intervals(problem, optimum, known, smooth, limit)
    ends |= counted
    pairs = zip(problem.names, problem.scales, strict=True)
    return tuple(scale.within(*ends[name]) for name, scale in pairs)


def _doubtful(problem: Problem, optimum: Optimum, known: Uncertainty) -> bool:
    """Whether any value is poorly known or near a bound: then no interval is symmetric."""
    half = student(known.degrees) * known.standard_errors
    for k, (scale, value) in enumerate(zip(problem.scales, optimum.free, strict=True)):
        if problem.names[k] in problem.whole:
            continue
        near = optimum.at_bound[k] or value - half[k] <= scale.low or value + half[k] >= scale.high
        vague = scale.logarithmic and not known.standard_errors[k] <= _SYMMETRIC * abs(value)
        if near or vague:
            return True
    return False


def _counted(problem: Problem, optimum: Optimum, name: str, most: float, worth: float) -> Ends:
    k = problem.names.index(name)
    return count_interval(problem.starting(optimum.free), k, round(optimum.free[k]), most, worth)


def profile_intervals(
    problem: Problem,
    optimum: Optimum,
    known: Uncertainty,
    names: Sequence[str],
    most: float | None = None,
) -> dict[str, Ends]:
    """Intervals of some parameters by profile likelihood, with all ends side by side.

    Parameters
    ----------
    problem, optimum, known
        The fit.
    names
        The parameters, none of which counts something.
    most
        Largest cost of a fit that is not significantly worse, if the best was not found here.

    Returns
    -------
    Both ends for each; a bound, zero or infinity where the data set no limit.
    """
    rest = freed(problem.starting(optimum.free)) if problem.whole else problem
    own = values_of(rest, problem, optimum)
    places = [rest.names.index(name) for name in names]
    profiled = []
    for name, place in zip(names, places, strict=True):
        half = student(known.degrees) * float(known.standard_errors[problem.names.index(name)])
        sure = np.isfinite(half) and half > 0
        reach = half if sure else _UNKNOWN * natural_scale(rest, own)[place]
        limits = rest.scales[place].low, rest.scales[place].high
        best = Reached(float(own[place]), optimum.cost, own)
        profiled.append(Profiled(best, float(reach), limits))
    follow = [_followed(rest, problem, known, problem.names.index(name)) for name in names]
    hold = holding_parameters(rest, places, follow, least_gain(optimum, known))
    ends = profile_ends(hold, profiled, worst_cost(optimum, known) if most is None else most)
    return dict(zip(names, ends, strict=True))


def _followed(rest: Problem, problem: Problem, known: Uncertainty, place: int) -> FloatArray:
    """How far each parameter moves with one of them, by the linearised fit."""
    column = dict(zip(problem.names, known.spread[:, place].tolist(), strict=True))
    own = float(known.spread[place, place])
    return np.array([column[name] / own if own > 0 else 0.0 for name in rest.names])
