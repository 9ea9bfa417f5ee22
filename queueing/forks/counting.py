"""How many of several independent parts are done by a time."""

from collections.abc import Sequence

import numpy as np

from headway.kinds import FloatArray

_NOTHING = 32.0  # exp(-32) counts as none


def fewer_done(chances: Sequence[FloatArray], needed: int) -> FloatArray:
    """Chance that fewer than k are done, from that of each, in the shape of one of them.

    Counted are those that are done, or those that are not, whichever are the fewer to tell apart.

    Examples
    --------
    >>> fewer_done([np.array([0.5]), np.array([0.25])], 2).tolist()
    [0.875]
    """
    few = needed <= len(chances) - needed + 1
    width = needed if few else len(chances) - needed + 1
    shape = np.broadcast_shapes(*map(np.shape, chances))
    found = np.zeros((width, *shape))
    found[0] = 1.0
    for each in chances:
        counted = each if few else 1 - each
        for number in range(width - 1, 0, -1):
            found[number] += (found[number - 1] - found[number]) * counted
        found[0] *= 1 - counted
    total: FloatArray = found.sum(axis=0)
    return total if few else 1 - total


def lowest(scvs: FloatArray, needed: int) -> float:
    """How far below the shortest mean k gamma times are not done, as a logarithm.

    Examples
    --------
    >>> lowest(np.array([0.5, 1.0]), 12) < 6
    True
    """
    widest = max(float(np.max(scvs, initial=0.0)), 1.0)
    return _NOTHING * widest / needed + 3.0
