"""Values of a form that its data leave plausible: a prior, updated by the fit.

A priori each value is near the start of its search (which is read off the curve), and any
utilisation at the highest load is equally likely. The scatter of the measurements is not known; a
prior guess of 2% counts as much as two of them.
"""

import math
from collections.abc import Sequence

import numpy as np

from headway.kinds import FloatArray
from headway.models.inference.certainty.shifts import Shift, student
from headway.models.inference.certainty.tempering import SWEEPS, LogDensity, tempered
from headway.models.inference.certainty.uncertainty import Uncertainty, uncertainty
from headway.models.inference.searching.loss import loss_cost
from headway.models.inference.searching.problem import Problem
from headway.models.inference.searching.search import Optimum
from headway.models.language.formula import Formula
from headway.records import dataclass

COUNT = 512
"""Draws from each form."""

WORTH = 2.0
"""Measurements that the prior guess of 2% error counts as much as."""

_ABOUT = 0.5  # scale of a logistic law of the logarithm: 95% of values lie within a factor of 6
_ANY = 2.0  # the same where the start is only a guess: within a factor of 1,500
_BEFORE = 8  # points drawn from the prior, per point wanted
_TAILS = 5.0  # degrees of freedom of the proposal around the best values
_WIDER = 1.5  # standard errors that this proposal spreads over
_LEAST = 1e-9  # sum of squares below which everything is rounding
_MISSED = 3.0
"""How far the likelihood of all draws may stay below that of the best values, as a logarithm.

Of 512 draws of four values one is within 0.2 of the best, with probability 99.9%. If none is within
this, the first points did not find the best values, which lie in a small place."""

_FARTHEST = 600.0  # largest logarithm whose exponential is finite


@dataclass(frozen=True)
class Draws:
    """Plausible values of a model's free parameters, all equally likely.

    Parameters
    ----------
    problem
        The fit to which they belong.
    free
        Values of the free parameters, shape (draws, parameters).
    scatter
        Relative standard error of one further measurement, for each draw.
    limit
        Formula of the throughput at which the model saturates; None if the form has none.
    """

    problem: Problem
    free: FloatArray
    scatter: FloatArray
    limit: Formula | None = None

    def limits(self) -> FloatArray:
        """Saturation throughput of each draw [1/s]."""
        return saturations(self.problem, self.limit, self.free)

    def sets(self, count: int) -> dict[str, FloatArray]:
        """At most this many of the draws, evenly from all: values by parameter [SI]."""
        if not self.free.size:
            return {}
        free = self.free[:: -(-len(self.free) // count)]
        return dict(zip(self.problem.names, free.T, strict=True))


def saturations(problem: Problem, limit: Formula | None, free: FloatArray) -> FloatArray:
    """Saturation throughput [1/s] for several sets of free values; NaN where it is unknown.

    Parameters
    ----------
    problem
        The fit.
    limit
        Its formula; without one the model is solved.
    free
        Sets of free values, shape (sets, parameters).
    """
    columns = dict(zip(problem.names, free.T, strict=True))
    if limit is not None:
        values = {n: columns.get(n, np.ravel(problem.model.inputs[n])[:1]) for n in limit.names}
        throughput = limit.evaluate(values)
    else:
        inputs = problem.model.inputs
        single = {n: float(np.ravel(v)[0]) for n, v in inputs.items() if np.ndim(v)}
        throughput = problem.model.at({**single, **columns}).solve().saturation_throughput
    return np.array(np.broadcast_to(np.asarray(throughput, float), len(free)))


def drawn(problem: Problem, optimum: Optimum, known: Uncertainty, limit: Formula | None) -> Draws:
    """Draw plausible values of a form whose start is read off a curve.

    Parameters
    ----------
    problem, optimum, known
        The fit.
    limit
        Formula of the throughput at which the form saturates.
    """
    start = problem.inner(problem.initial)
    spread = np.where(problem.logarithmic, _ABOUT, _ABOUT * np.maximum(np.abs(start), 1e-300))
    chances = np.random.default_rng(1).random((_BEFORE * COUNT, len(start)))
    first = start + spread * np.log(chances / (1 - chances))
    top = _top_rate(problem)

    def guess(points: FloatArray) -> FloatArray:
        likely = _logistic((points - start) / spread)
        if top is None or limit is None:
            return likely
        busy = top / saturations(problem, limit, _outer(problem, points))
        return likely + np.log(np.clip(busy, 1e-300, 1.0))

    evidence = _Evidence(problem, optimum, known.shift)
    data = _likelihood(evidence)
    has_modes = bool(problem.whole)
    points = tempered(guess, data, first, COUNT, has_modes=has_modes)
    best = problem.inner(optimum.free)
    if not len(points) or data(points).max() >= data(best[None])[0] - _MISSED:
        return _of(evidence, points, limit)
    # The best values lie where too few of the first points do: begin with half of them there.
    near = _Near.of(problem, optimum, known)
    half = len(first) // 2
    both = np.stack([first[:half], near.drawn(half)], axis=1).reshape(2 * half, -1)

    def first_guess(points: FloatArray) -> FloatArray:
        apart = _logistic((points - start) / spread) - np.log(spread).sum()
        return np.asarray(np.logaddexp(apart, near.density(points)))

    def rest(points: FloatArray) -> FloatArray:
        return guess(points) + data(points) - first_guess(points)

    return _of(evidence, tempered(first_guess, rest, both, COUNT, has_modes=has_modes), limit)


def drawn_about(problem: Problem, optimum: Optimum, known: Uncertainty) -> Draws:
    """Draw plausible values of any model around its best values.

    Parameters
    ----------
    problem, optimum, known
        The fit.
    """
    start = problem.inner(problem.initial)
    unit = np.where(problem.logarithmic, 1.0, np.maximum(np.abs(optimum.free), 1e-300))
    near = _Near.of(problem, optimum, known)
    first, guess = near.drawn(_BEFORE * COUNT), near.density
    evidence = _Evidence(problem, optimum, known.shift)
    likelihood = _likelihood(evidence)

    def data(points: FloatArray) -> FloatArray:
        likely = _logistic((points - start) / (_ANY * unit))
        return likelihood(points) + likely - guess(points)

    # without derivatives each evaluation solves the model, which takes its time
    sweeps = SWEEPS if problem.evaluate.smooth else 1
    return _of(evidence, tempered(guess, data, first, COUNT, sweeps), None)


@dataclass(frozen=True)
class _Near:
    """Student's law about the best values, in the search's own scales."""

    best: FloatArray
    root: FloatArray
    inverse: FloatArray

    @classmethod
    def of(cls, problem: Problem, optimum: Optimum, known: Uncertainty) -> "_Near":
        unit = np.where(problem.logarithmic, 1.0, np.maximum(np.abs(optimum.free), 1e-300))
        spread = np.minimum(_WIDER * _errors(problem, optimum, known), _ANY * unit)
        root = _root(spread, known)
        inverse = np.asarray(np.linalg.pinv(root), float)
        return cls(problem.inner(optimum.free), root, inverse)

    def drawn(self, count: int) -> FloatArray:
        """Points of this law, one per row."""
        random = np.random.default_rng(1)
        width = np.sqrt(random.chisquare(_TAILS, (count, 1)) / _TAILS)
        return self.best + random.standard_normal((count, len(self.best))) @ self.root / width

    def density(self, points: FloatArray) -> FloatArray:
        """Logarithm of the density."""
        square = np.sum(((points - self.best) @ self.inverse) ** 2, axis=1)
        height = _height(_TAILS, len(self.best)) - np.linalg.slogdet(self.root)[1]
        return np.asarray(height - 0.5 * (_TAILS + len(self.best)) * np.log1p(square / _TAILS))


def _height(degrees: float, width: int) -> float:
    """Logarithm of Student's density of several numbers, at its top, with unit scale."""
    gammas = math.lgamma((degrees + width) / 2) - math.lgamma(degrees / 2)
    return gammas - 0.5 * width * math.log(degrees * math.pi)


def _errors(problem: Problem, optimum: Optimum, known: Uncertainty) -> FloatArray:
    """Standard errors in the search's own scales of the parameters."""
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = known.standard_errors / np.where(problem.logarithmic, optimum.free, 1.0)
    return np.asarray(np.where(np.isfinite(errors) & (errors > 0), errors, 1e300), float)


def _root(spread: FloatArray, known: Uncertainty) -> FloatArray:
    """A matrix that turns independent standard normal numbers into correlated errors."""
    together = np.nan_to_num(known.correlations, nan=0.0)
    np.fill_diagonal(together, 1.0)
    values, ways = np.linalg.eigh(together)
    root = ways * np.sqrt(np.maximum(values, 1e-8))
    return np.asarray((spread[:, None] * root).T)


def _logistic(places: FloatArray) -> FloatArray:
    """Logarithm of the logistic density, summed over the values of each point."""
    return np.asarray((places - 2 * np.logaddexp(0, places)).sum(axis=1))


def _outer(problem: Problem, points: FloatArray) -> FloatArray:
    return problem.outer(np.minimum(points, _FARTHEST))


@dataclass(frozen=True)
class _Evidence:
    """The measurements, and what residuals of one load have in common near the best values."""

    problem: Problem
    optimum: Optimum
    shift: Shift

    @property
    def worth(self) -> float:
        """Measurements that the prior guess of their error is worth; 0 for shared errors."""
        return 0.0 if self.shift.by_load else WORTH

    def squares(self, free: FloatArray) -> FloatArray:
        """Sum of squares under the loss; of the part that loads share, where they share errors."""
        squares = np.asarray(2 * loss_cost(self.problem.residuals(free), self.problem.loss))
        if not self.shift.by_load:
            return squares
        more = (squares - 2 * self.optimum.cost) / self.shift.weight
        return np.asarray(self.least + np.maximum(more, 0.0))

    @property
    def least(self) -> float:
        """The least sum of squares."""
        if not self.shift.by_load:
            return 2 * self.optimum.cost
        rounding = self.shift.loads * self.problem.rounding
        return max(2 * self.optimum.cost * self.shift.common_share, rounding, _LEAST)


def _likelihood(evidence: _Evidence) -> LogDensity:
    """Log likelihood with the scatter unknown: Student's density of all residuals together."""
    problem, count, worth = evidence.problem, evidence.shift.counted, evidence.worth
    low, high = problem.bounds
    inner = problem.inner(np.maximum(low, 1e-300)), problem.inner(high)

    def likelihood(points: FloatArray) -> FloatArray:
        inside = ((points >= inner[0]) & (points <= inner[1])).all(axis=1)
        squares = evidence.squares(_outer(problem, points))
        likely = -0.5 * (count + worth) * np.log(worth + squares)
        return np.where(inside, likely, -np.inf)

    return likelihood


def _top_rate(problem: Problem) -> float | None:
    """The largest throughput that was measured or offered [1/s]; None if there was none."""
    if "arrival_rate" in problem.fixed:
        return float(np.max(np.asarray(problem.fixed["arrival_rate"])))
    if "throughput" in problem.outputs:
        place = problem.outputs.index("throughput")
        return float(problem.measured.reshape(len(problem.outputs), -1)[place].max())
    return None


def _of(evidence: _Evidence, points: FloatArray, limit: Formula | None) -> Draws:
    problem, free = evidence.problem, _outer(evidence.problem, points)
    degrees = evidence.shift.counted + evidence.worth
    drawn = np.random.default_rng(2).chisquare(degrees, len(free))
    variance = evidence.shift.single((evidence.worth + evidence.squares(free)) / drawn)
    one = float(np.median(problem.sigma / problem.measured))
    return Draws(problem, free, one * np.sqrt(variance), limit)


def plausible(fits: Sequence[tuple[Problem, Optimum]]) -> list[bool]:
    """Those of several models that fit the same data about as well as the best.

    Parameters
    ----------
    fits
        The fit of each model.
    """
    squares = np.array([2 * optimum.cost for _, optimum in fits])
    degrees = np.array([problem.counted - len(optimum.free) for problem, optimum in fits])
    best = int(np.argmin(squares / np.maximum(degrees, 1e-9)))
    problem, optimum = fits[best]
    shift = uncertainty(problem, optimum).shift
    left = max(shift.degrees, 1)
    evidence = _Evidence(problem, optimum, shift)
    variance = shift.weight * (evidence.worth + evidence.least) / (evidence.worth + left)
    return list(squares <= squares[best] + variance * student(left) ** 2)
