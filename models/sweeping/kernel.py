"""Solve a chunk of a sweep on a worker, block by block, then reduce and merge."""

from collections.abc import Iterator, Mapping
from time import perf_counter

import numpy as np

from headway.errors import HeadwayError, InvalidParameter
from headway.kinds import FloatArray
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.inputs import POPULATION
from headway.models.structure.model import Model
from headway.models.sweeping.chunks import Chunk, Subtree, joined
from headway.models.sweeping.reductions.reduction import Reduction, State
from headway.models.sweeping.spaces import PointRange
from headway.records import dataclass

OPEN, CLOSED, CLASSES, ONE_BY_ONE = 2**15, 2**13, 2**9, 2**5
"""Points of a block: small enough for the cache, for solving quickly, and for slow models."""

JOBS = 2**19
"""Most points times jobs of a closed network in a block: a few arrays of 4 MB."""


@dataclass(frozen=True)
class Job:
    """The work at every point of a sweep.

    Parameters
    ----------
    model
        The model, with single values for parameters that are not swept.
    outputs
        Outputs to compute; anything else that reductions need is a parameter.
    reductions
        The reductions.
    block
        Number of points solved as one array.
    size
        Number of points of the whole sweep.
    method
        Method for a closed network.
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
        """Index of the first point of a chunk, and of the one after its last."""
        return chunk.first * self.block, min(chunk.end * self.block, self.size)


@dataclass(frozen=True)
class Done:
    """A finished chunk: its states, its time, and the time of the solver alone [s]."""

    subtree: Subtree
    seconds: float
    solving: float


@dataclass(frozen=True)
class Task:
    """A chunk with its points, complete for a worker."""

    job: Job
    chunk: Chunk
    piece: PointRange


def work(task: Task) -> Done:
    """Solve and reduce the points of a chunk.

    Raises
    ------
    InvalidParameter
        If a point cannot be solved; names the block.
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
    """Index and points of each block; small blocks are generated together."""
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
    """Parameters and outputs of a block of points, as arrays."""
    count = len(next(iter(points.values())))
    try:
        solution = job.model.at(points).solve(method=job.method).answering(*job.outputs)
        outputs = {name: np.asarray(solution[name], float) for name in job.outputs}
    except HeadwayError as error:
        msg = f"one of points {first} to {first + count - 1} of the sweep cannot be solved: {error}"
        raise InvalidParameter(msg) from None
    full = {name: np.broadcast_to(values, (count,)) for name, values in outputs.items()}
    return {**points, **full}


def block_of(solution: Solution, outputs: tuple[str, ...], ends: Mapping[str, FloatArray]) -> int:
    """Number of points of a model to solve as one array, by its kind of solution.

    Parameters
    ----------
    solution
        A solution of some points.
    outputs
        Requested outputs.
    ends
        Values of swept parameters, including the largest.
    """
    if not solution.together(outputs):
        return ONE_BY_ONE
    if solution.shared:
        return CLASSES
    if not solution.model.network.is_closed:
        return OPEN
    name = POPULATION.name
    jobs = ends[name] if name in ends else solution.model.network.inputs[name]
    return min(CLOSED, max(ONE_BY_ONE, largest_power(JOBS / max(float(np.max(jobs)), 1.0))))


def largest_power(number: float) -> int:
    """The largest power of two up to a number, and at least 1.

    Examples
    --------
    >>> largest_power(11650.8), largest_power(8.0), largest_power(0.3)
    (8192, 8, 1)
    """
    return 1 << max(int(number).bit_length() - 1, 0)
