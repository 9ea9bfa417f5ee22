"""Several outputs of one test: which of them carry the same information, and how much each errs.

A closed test measures both throughput X and response time R at a population N. With a think time Z
Little's law N = X (R + Z) holds for every run, whatever the server did, so either of them gives the
other: together they count as one measurement, with half a weight each.

Independently measured outputs may have different relative errors. Then each output is weighted by
the scatter of its own residuals, which is estimated again with each fit until it converges
(iterated least squares).

Source: Seber and Wild, *Nonlinear Regression*, 1989, sections 2.8.6 and 11.2.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.models.inference.searching.loss import loss_derivatives
from headway.models.inference.searching.problem import Problem
from headway.models.inference.searching.search import Optimum, polish, search
from headway.models.measured.matching import Match
from headway.models.structure.layered import system_of
from headway.models.structure.model import Model

AGREE = 0.02
"""RMS relative error of Little's law up to which throughput and response time count as one."""

_HALVES = ("throughput", "response_time")
_ENOUGH = 5.0  # degrees of freedom from which an output's residuals show its scatter
_CLEARLY = 0.01  # probability that two equal scatters appear as far apart
# largest ratio of two outputs' scatters; columns derived from the load have no error
_FARTHEST = 100.0
_SETTLED = 1e-3
_ROUNDS = 30


def shares(match: Match, model: Model, free: Sequence[str]) -> FloatArray | float:
    """Weight of each row of a fit, all points of the first output first.

    Parameters
    ----------
    match
        The measurements.
    model
        The model at the measured points.
    free
        Parameters to determine; a think time among them is taken from the measurements.
    """
    if len(match.each) == 1:
        return 1.0
    outputs = [one.output for one in match.each]
    same = outputs if says_the_same(match, model, free) else []
    halved = [0.5 if output in _HALVES and output in same else 1.0 for output in outputs]
    return np.repeat(halved, match.load.values.size)


def says_the_same(match: Match, model: Model, free: Sequence[str]) -> bool:
    """Whether throughput and response time follow from each other by Little's law.

    Parameters
    ----------
    match, model, free
        As for `shares`.
    """
    measured = {one.output: one.measured.values for one in match.each}
    jobs = _jobs(model)
    if jobs is None or not set(_HALVES) <= set(measured):
        return False
    rate, response = (measured[name] for name in _HALVES)
    if not (rate > 0).all():
        return False
    circle, think = np.asarray(jobs[0]) / rate, np.asarray(jobs[1])
    if "think_time" in free:
        think = np.maximum(np.median(circle - response), 0.0)
    return float(np.sqrt(np.mean(((response + think) / circle - 1) ** 2))) <= AGREE


def _jobs(model: Model) -> tuple[Amount, Amount] | None:
    """Population and think time of a closed model, or of layers with no load but clients."""
    if model.is_closed:
        return model.inputs["population"], model.inputs["think_time"]
    if not model.graph.layers:
        return None
    system, _ = system_of(model)
    clients = [task for task in system.tasks.values() if task.clients]
    if system.is_open or len(clients) != 1:
        return None
    return clients[0].threads, clients[0].think_time


def weighed_search(problem: Problem, starts: int) -> tuple[Problem, Optimum]:
    """Find the values that fit best, with outputs weighted by their own scatter if these differ.

    Parameters
    ----------
    problem, starts
        As for `headway.models.inference.searching.search.search`.

    Returns
    -------
    The problem with its final weights, and the end of the search.
    """
    optimum = search(problem, starts)
    for _ in range(_ROUNDS):
        weighed = by_own_scatter(problem, optimum.free)
        if weighed is problem:
            break
        problem = weighed
        end = polish(problem, optimum.free)
        optimum = search(problem.starting(end.free), 1) if problem.whole else end
    return problem, optimum


def by_own_scatter(problem: Problem, free: FloatArray) -> Problem:
    """The problem with each output weighted by its own scatter, if these clearly differ.

    They do if an F test says so at 1%, provided that each output has at least five degrees of
    freedom.

    Parameters
    ----------
    problem
        A fit of one output or several.
    free
        Its best values.

    Returns
    -------
    The problem itself if no weight changes.
    """
    sources = _sources(problem)
    if len(sources) < 2:
        return problem
    first = loss_derivatives(problem.residuals(free), problem.loss)[0] ** 2
    squares = np.zeros(problem.used.shape)
    squares[problem.used] = first
    counted = problem.share * problem.used
    points = np.array([float(counted[rows].sum()) for rows in sources])
    degrees = points * (1 - len(free) / max(problem.counted, 1))
    if degrees.min() < _ENOUGH:
        return problem
    variance = np.array([float(squares[rows].sum()) for rows in sources]) / degrees
    variance = np.maximum(variance, variance.max() / _FARTHEST**2)
    known = problem.estimated > 1  # what was weighted before stays weighted
    if variance.max() == 0 or not (known or _differ(variance, degrees)):
        return problem
    factors = np.sqrt(variance / np.exp(np.average(np.log(variance), weights=points)))
    if np.abs(np.log(factors)).max() < _SETTLED:
        return problem
    by_row = np.ones(problem.used.shape)
    for rows, factor in zip(sources, factors, strict=True):
        by_row[rows] = factor
    scatter = tuple((np.array(problem.scatter) * by_row[:: problem.loads]).tolist())
    return replace(problem, sigma=problem.sigma * by_row, scatter=scatter)


def _sources(problem: Problem) -> list[NDArray[np.bool_]]:
    """Rows of each output; two outputs that carry the same information count as one."""
    share = np.broadcast_to(problem.share, problem.used.shape)
    halves = [share < 1] if (share < 1).any() else []
    place = np.arange(problem.used.size) // problem.loads
    each = [(place == k) & (share == 1) for k in range(len(problem.outputs))]
    return [*halves, *(rows for rows in each if rows.any())]


def _differ(variance: FloatArray, degrees: FloatArray) -> bool:
    from scipy.special import fdtrc

    low, high = int(variance.argmin()), int(variance.argmax())
    ratio = float(variance[high] / variance[low]) if variance[low] > 0 else np.inf
    return bool(2 * fdtrc(degrees[high], degrees[low], ratio) < _CLEARLY)
