"""Loads beyond the highest that was measured, where what no model says grows.

Up to the highest measured load x_h a fitted model answers for what was seen. Beyond it a server may
tire sooner or later than each of the models says. A load x > x_h is taken to act as

    x_h + (x - x_h) f,    log f normal with mean 0 and standard deviation `SPREAD`:

nothing changes at x_h, and the further away, the less is known. docs/accuracy/fits.md says where the
standard deviation comes from.
"""

import numpy as np

from headway.kinds import FloatArray

SPREAD = 0.4
"""Standard deviation of the logarithm of what each further request weighs.

Of servers that are none of the forms (`python -m tests.campaigns.strange_sizes`).
"""


def further_weights(count: int, seed: int) -> FloatArray:
    """What each request beyond the highest measured load weighs, in so many draws.

    Parameters
    ----------
    count
        Of the draws, whose quantiles are evenly spread.
    seed
        Of their order.

    Examples
    --------
    >>> np.median(further_weights(1001, 1)).round(3).item()
    1.0
    """
    from scipy.special import ndtri

    shares = np.random.default_rng(seed).permutation((np.arange(count) + 0.5) / count)
    return np.asarray(np.exp(SPREAD * ndtri(shares)))


def acting_load(load: FloatArray, measured: FloatArray | float, weight: FloatArray) -> FloatArray:
    """The load as which one acts: itself up to the highest that was measured.

    Parameters
    ----------
    load, measured
        The load and the highest that was measured, in one unit.
    weight
        What each further request weighs.

    Examples
    --------
    >>> acting_load(np.array([80.0, 120.0]), 100.0, np.array(1.5)).tolist()
    [80.0, 130.0]
    """
    return np.asarray(load + np.maximum(load - measured, 0.0) * (weight - 1.0))
