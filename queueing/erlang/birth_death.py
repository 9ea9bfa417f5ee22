"""Birth-death processes: p_n is p_0 times the product of the ratios up to n."""

from collections.abc import Sequence
from itertools import accumulate
from operator import mul

import numpy as np

from headway.kinds import Amount, FloatArray


def symbolic_chances(ratios: Sequence[Amount]) -> list[Amount]:
    """Probabilities of 0, 1, 2... requests, in plain arithmetic.

    Parameters
    ----------
    ratios
        Arrival rate in state n - 1 over service rate in state n, for n = 1, 2...

    Examples
    --------
    >>> symbolic_chances([1.0, 0.5])
    [0.4, 0.4, 0.2]
    """
    weights = list(accumulate(ratios, mul, initial=1))
    total = sum(weights)
    return [weight / total for weight in weights]


def weights(ratios: FloatArray) -> Amount:
    """Relative probabilities of 0, 1, 2... requests, the largest of them 1.

    Parameters
    ----------
    ratios
        As for `symbolic_chances`, along the last axis, shape (..., n).

    Returns
    -------
    Array of shape (..., n + 1), computed from sums of logarithms so that nothing overflows.

    Examples
    --------
    >>> weights(np.array([2.0, 0.5])).round(3).tolist()
    [0.5, 1.0, 0.5]
    """
    with np.errstate(divide="ignore", under="ignore"):
        logs = np.cumsum(np.log(ratios), axis=-1)
        logs = np.concatenate([np.zeros((*logs.shape[:-1], 1)), logs], axis=-1)
        return np.exp(logs - logs.max(axis=-1, keepdims=True))
