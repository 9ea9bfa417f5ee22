"""A chunk of a sweep on a worker: its blocks solved one by one, reduced and merged."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from headway.errors import HeadwayError, InvalidParameter
from headway.kinds import FloatArray
from headway.models.solving.percentile import all_at_once
from headway.models.solving.solutions.asked import percentile_asked
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.inputs import POPULATION
from headway.models.structure.model import Model
from headway.models.sweeping.chunks import Chunk, Subtree, joined
from headway.models.sweeping.reductions.reduction import Reduction, State
from headway.models.sweeping.spaces import Piece

OPEN, CLOSED, CLASSES, ONE_BY_ONE = 2**15, 2**13, 2**9, 2**5
"""Points of a block: arrays that fit the cache, that are quick to solve, and a few points."""

JOBS = 2**19
"""Points times jobs of a closed network in a block, at most: some arrays of 4 MB."""


@dataclass(frozen=True)
class Job:
    """What is done at every point of a sweep.

    Parameters
    ----------
    model
        With single values where the space gives none.
    outputs
        That are computed; what reductions need and is none of these is a parameter.
    reductions
        What is kept.
    block
        Points that are solved as one array.
    size
        Points of the whole sweep.
    method
        Of a closed network.
    """

    model: Model
    outputs: tuple[str, ...]
    reductions: tuple[Reduction, ...]
    block: int
    size: int
    method: str = "auto"

    @property
    def blocks(self) -> int:
        """How many there are."""
        return -(-self.size // self.block)

    def points(self, chunk: Chunk) -> tuple[int, int]:
        """Numbers of the first point of a chunk, and of the one after its last."""
        return chunk.first * self.block, min(chunk.end * self.block, self.size)


@dataclass(frozen=True)
class Done:
    """A chunk that is done: what is kept of it, and how long it and the solver alone took [s]."""

    subtree: Subtree
    seconds: float
    solving: float


@dataclass(frozen=True)
class Task:
    """A chunk with its points, for a worker that knows nothing."""

    job: Job
    chunk: Chunk
    piece: Piece


def work(task: Task) -> Done:
    """Solve and reduce the points of a chunk.

    Raises
    ------
    InvalidParameter
        Naming the points among which one cannot be solved.
    """
    start, solving = perf_counter(), 0.0
    subtrees: tuple[Subtree, ...] = ()
    merges = [reduction.merge for reduction in task.job.reductions]
    for number, points in _blocks(task):
        before = perf_counter()
        columns = answers(task.job, points, number * task.job.block)
        solving += perf_counter() - before
        subtree = Subtree(Chunk(0, number), _states(task.job, columns, number * task.job.block))
        subtrees = joined(subtrees, subtree, merges)
    (subtree,) = subtrees or (Subtree(task.chunk, ()),)
    return Done(subtree, perf_counter() - start, solving)


def _blocks(task: Task) -> Iterator[tuple[int, Mapping[str, FloatArray]]]:
    """Number and points of each block, points of several made at once where they are small."""
    job = task.job
    start, end = job.points(task.chunk)
    for first in range(start, end, OPEN):
        made = task.piece.points(first, min(first + OPEN, end))
        for at in range(first, min(first + OPEN, end), job.block):
            own = slice(at - first, at - first + job.block)
            yield at // job.block, {name: values[own] for name, values in made.items()}


def _states(job: Job, columns: Mapping[str, FloatArray], first: int) -> tuple[State, ...]:
    return tuple(reduction.of(columns, first) for reduction in job.reductions)


def answers(job: Job, points: Mapping[str, FloatArray], first: int) -> dict[str, FloatArray]:
    """Parameters and outputs of a block of points, an array each."""
    count = len(next(iter(points.values())))
    try:
        solution = job.model.at(points).solve(method=job.method).answering(*job.outputs)
        outputs = {name: np.asarray(solution[name], float) for name in job.outputs}
    except HeadwayError as error:
        msg = f"points {first} to {first + count - 1} of the sweep cannot be solved: {error}"
        raise InvalidParameter(msg) from None
    full = {name: np.broadcast_to(values, (count,)) for name, values in outputs.items()}
    return {**points, **full}


def block_of(solution: Solution, outputs: tuple[str, ...], ends: Mapping[str, FloatArray]) -> int:
    """How many points of a model are solved as one array, by what kind of solution it needs.

    Parameters
    ----------
    solution
        Of some of its points.
    outputs
        That are asked for.
    ends
        Values of swept parameters, the largest among them.
    """
    asked = any(percentile_asked(name, solution.classes) for name in outputs)
    if asked and not all_at_once(solution):
        return ONE_BY_ONE
    if solution.shared:
        return CLASSES
    if not solution.model.network.is_closed:
        return OPEN
    name = POPULATION.name
    jobs = ends[name] if name in ends else solution.model.network.inputs[name]
    return min(CLOSED, max(ONE_BY_ONE, largest_power(JOBS / max(float(np.max(jobs)), 1.0))))


def largest_power(number: float) -> int:
    """The largest power of two that is no larger, and at least 1.

    Examples
    --------
    >>> largest_power(11650.8), largest_power(8.0), largest_power(0.3)
    (8192, 8, 1)
    """
    return 1 << max(int(number).bit_length() - 1, 0)
