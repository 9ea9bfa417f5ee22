"""The number of independent branches done by a time: the Poisson-binomial law."""

from collections.abc import Sequence

import numpy as np

from headway.kinds import FloatArray

_NOTHING = 32.0  # exp(-32) = 1e-14 is neglected: digits only


def fewer_done(chances: Sequence[FloatArray], needed: int) -> FloatArray:
    """Probability that fewer than k branches are done, from each branch's probability.

    The recursion counts branches done, or not done, whichever takes fewer terms: k or n - k + 1.

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


def log_range_below(scvs: FloatArray, needed: int) -> float:
    """Distance below the log of the shortest mean before which k gamma times are never done.

    Near 0 a gamma law of scv c increases as t**(1/c), and the k-th as the product of k of these.

    Examples
    --------
    >>> log_range_below(np.array([0.5, 1.0]), 12) < 6
    True
    """
    widest = max(float(np.max(scvs, initial=0.0)), 1.0)
    return _NOTHING * widest / needed + 3.0
