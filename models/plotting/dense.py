"""Points between those of a sweep, solved so that a curve is smooth and not a polygon."""

import numpy as np
from numpy.typing import NDArray

from headway.errors import HeadwayError
from headway.kinds import FloatArray
from headway.models.showing.solutions import swept
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.parts.counts import counts
from headway.records import dataclass

_POINTS, _COSTLY_POINTS = 240, 60  # points of a curve; and where percentiles are asked for
_MOST_JOBS = 2_000
_MOST = 4_000  # most points of all curves in a figure


@dataclass(frozen=True)
class Curves:
    """The solutions from which the curves of a figure are drawn.

    Parameters
    ----------
    given, solution
        The sweep, and its model solved at the points of the curves.
    own
        Which of these are the sweep's own points, which are marked.
    is_fine
        Whether there are points between them.
    """

    given: Solution
    solution: Solution
    own: NDArray[np.bool_]
    is_fine: bool


def curves_of(solution: Solution) -> Curves:
    """Solve a sweep at points in between; if that is costly, only its own points are used.

    Costly are Markov chains, methods for closed classes, limited rooms that block, and percentiles
    of closed networks.
    """
    points = int(np.prod(solution.shape))
    alone = Curves(solution, solution, np.ones(points, bool), is_fine=False)
    if not is_quick(solution):
        return alone
    across, others, own = _between(solution)
    if not points < across.size <= _MOST:
        return alone
    name, *_ = swept(solution)
    try:
        fine = solution.model.at({name: across, **others}).solve(method=solution.marks.again)
        return Curves(
            solution, fine.answering(*(one.name for one in solution.requested)), own, is_fine=True
        )
    except HeadwayError:  # some point in between has no answer: use the sweep's own
        return alone


def is_quick(solution: Solution) -> bool:
    """Whether hundreds of further points take next to no time."""
    if not (solution.stations and solution.marks.is_quick):
        return not solution.stations
    network = solution.model.network
    if solution.is_open or network.graph.classes:
        return True
    jobs = float(np.max(np.asarray(network.inputs["population"], float)))
    return not solution.requested and jobs <= _MOST_JOBS


def _between(solution: Solution) -> tuple[FloatArray, dict[str, FloatArray], NDArray[np.bool_]]:
    """Values of the first swept input, those of the others, and which points are the sweep's."""
    name, *rest = swept(solution)
    model = solution.model
    columns = {n: np.asarray(model.inputs[n], float).ravel() for n in (name, *rest)}
    keys = list(zip(*(columns[n].tolist() for n in rest), strict=True)) or [()] * len(columns[name])
    count, whole = _COSTLY_POINTS if solution.requested else _POINTS, name in counts(model.graph)
    across, marks, others = [], [], []
    for key in dict.fromkeys(keys):
        given = columns[name][np.array([k == key for k in keys])]
        fine = np.linspace(given.min(), given.max(), count if given.size > 1 else 1)
        dense = np.union1d(np.unique(np.round(fine)) if whole else fine, given)
        across.append(dense)
        marks.append(np.isin(dense, given))
        others.append(np.tile(np.array(key, float), (dense.size, 1)))
    table = np.concatenate(others)
    return (
        np.concatenate(across),
        {n: table[:, place] for place, n in enumerate(rest)},
        np.concatenate(marks),
    )
