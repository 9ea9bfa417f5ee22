"""What a fit says of unseen points: errors of left-out points, and refits to resampled errors.

Source: Davison and Hinkley, *Bootstrap Methods and their Application*, 1997, sections 5.2 and 6.2,
for correcting errors by their leverage, and for intervals from studentised refits.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import Saturated
from headway.kinds import FloatArray
from headway.models.inference.certainty.profile import freed, values_of
from headway.models.inference.certainty.shifts import student
from headway.models.inference.certainty.uncertainty import (
    Uncertainty,
    set_right,
    uncertainty,
)
from headway.models.inference.searching.problem import Ends, Problem
from headway.models.inference.searching.search import Optimum, SearchLimits, polish, polish_all
from headway.models.running.crews import Crew
from headway.models.running.spreading import spread
from headway.records import dataclass

Points: TypeAlias = NDArray[np.int64]
_FAR = SearchLimits(300, 1e-10)  # minima may be flat if a point is left out
_LEVERAGE = 0.95  # largest leverage by which the error of a point is corrected
_LEAST = 1e-3  # least drawn measurement, as a share of the prediction


def left_out_errors(problem: Problem, optimum: Optimum, groups: list[Any]) -> FloatArray:
    """Relative errors of points when they are left out, group by group.

    Parameters
    ----------
    problem, optimum
        The fit.
    groups
        A group for each point; points of one group are left out together.

    Returns
    -------
    An error for each point; infinite where the rest of the data has no fit.
    """
    start = freed(problem.starting(optimum.free))
    missing = np.array(groups, bool).reshape(len(groups), -1) & problem.used
    sigma = np.where(missing, np.inf, problem.sigma)
    rest = start.weighing(np.broadcast_to(problem.measured, sigma.shape), sigma)
    starts = np.tile(values_of(start, problem, optimum), (len(groups), 1))
    ends = polish_all(rest, starts, _FAR)
    predicted = start.predict(np.array([end.free for end in ends]))
    enough = (problem.share * (problem.used & ~missing)).sum(axis=1) >= len(start.names)
    errors = np.where(enough[:, None], predicted / problem.measured - 1, np.inf)
    return np.asarray(errors[missing])


@dataclass(frozen=True)
class Refits:
    """Fits to predictions plus errors drawn from those observed.

    Parameters
    ----------
    values
        Free parameters by round, shape (rounds, parameters).
    errors
        Their standard errors by round.
    """

    values: FloatArray
    errors: FloatArray


BATCH = 32
"""Most refits that a worker makes at a time: handing over a task takes as long as half a refit."""


def bootstrap(
    problem: Problem,
    optimum: Optimum,
    rounds: int,
    progress: Callable[[], None],
    crew: Crew | None = None,
) -> Refits:
    """Refit many times to predictions plus errors drawn from those observed.

    Parameters
    ----------
    problem, optimum
        The fit.
    rounds
        Number of refits.
    progress
        Called after each round.
    crew
        Workers for the refits; the results do not depend on them, as errors are drawn here.
    """
    random = np.random.default_rng(20_000)
    best = freed(problem.starting(optimum.free))
    start = values_of(best, problem, optimum)
    predicted = problem.predict(optimum.free)
    refit = partial(_refits, best, start, predicted, _set_right(problem, optimum))
    drawn = (random.choice(problem.loads, problem.loads) for _ in range(rounds))
    rows = []
    for batch in spread(refit, _batches(drawn, _size(rounds, crew)), crew):
        for row in batch:
            rows.append(row)
            progress()
    values, spreads = (np.array([row[k] for row in rows]) for k in (0, 1))
    return _widened(problem, best, optimum, Refits(values, spreads))


def _size(rounds: int, crew: Crew | None) -> int:
    """Refits per task: one if alone, for progress; otherwise so that all workers end together."""
    return 1 if crew is None else min(BATCH, max(1, rounds // (4 * crew.size)))


def _batches(drawn: Iterator[Points], size: int) -> Iterator[list[Points]]:
    while batch := list(islice(drawn, size)):
        yield batch


def _refits(
    best: Problem,
    start: FloatArray,
    predicted: FloatArray,
    errors: FloatArray,
    batch: Sequence[Points],
) -> list[tuple[FloatArray, FloatArray]]:
    """Refit with errors of points drawn at random, a row of points for each refit."""
    each = []
    for points in batch:
        drawn = predicted + predicted * errors[:, points].ravel()
        again = _measuring(best, np.maximum(drawn, _LEAST * predicted))
        each.append(_refitted(again, start))
    return each


def _measuring(problem: Problem, measured: FloatArray) -> Problem:
    """The problem with other measured values and the same weights."""
    relative = problem.sigma / problem.measured
    return replace(problem, measured=measured, sigma=measured * relative)


def _set_right(problem: Problem, optimum: Optimum) -> FloatArray:
    """Relative errors corrected to the size of measurement errors, shape (outputs, points)."""
    predicted = problem.predict(optimum.free)
    errors = problem.measured / predicted - 1
    weight = np.sqrt(problem.share) / problem.sigma
    jacobian = problem.slopes(optimum.free) * weight[:, None]
    left, singular, _ = np.linalg.svd(jacobian, full_matrices=False)
    known = left[:, singular > 1e-9 * max(float(singular.max(initial=0.0)), 1e-300)]
    right = set_right(problem, errors, known, 0.5, 1 - _LEVERAGE).reshape(len(problem.outputs), -1)
    return np.asarray(right - right.mean(axis=1, keepdims=True))


def _refitted(problem: Problem, start: FloatArray) -> tuple[FloatArray, FloatArray]:
    try:
        ended = polish(problem, start)
    except Saturated:
        return start, np.full(len(start), np.nan)
    return ended.free, uncertainty(problem, ended).standard_errors


def _widened(problem: Problem, best: Problem, optimum: Optimum, refits: Refits) -> Refits:
    """Insert counts that were held back among the parameters that moved."""
    rounds = len(refits.values)
    values, errors = np.tile(optimum.free, (rounds, 1)), np.zeros((rounds, len(optimum.free)))
    for k, name in enumerate(best.names):
        place = problem.names.index(name)
        values[:, place], errors[:, place] = refits.values[:, k], refits.errors[:, k]
    return Refits(values, errors)


def studentised(
    problem: Problem, optimum: Optimum, known: Uncertainty, refits: Refits
) -> list[Ends]:
    """95% intervals from refits, each scaled by its own standard error.

    No end is nearer than by Student's t: a few residuals, resampled, have no tails.

    Parameters
    ----------
    problem, optimum, known
        The fit.
    refits
        Refits to resampled errors.
    """
    ends, least = [], student(known.degrees)
    for k, (scale, value) in enumerate(zip(problem.scales, optimum.free.tolist(), strict=True)):
        ratios = (refits.values[:, k] - value) / refits.errors[:, k]
        ratios = ratios[np.isfinite(ratios)]
        own = float(known.standard_errors[k])
        if not ratios.size or not np.isfinite(own):
            ends.append((scale.low, scale.high) if not np.isfinite(own) else (value, value))
            continue
        low, high = np.percentile(ratios, [2.5, 97.5]).tolist()
        low, high = min(low, -least), max(high, least)
        ends.append((max(value - high * own, scale.low), min(value - low * own, scale.high)))
    return ends
