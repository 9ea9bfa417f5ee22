"""Support for each of several models from the data to which all were fitted.

Source: Burnham and Anderson, *Model Selection and Multimodel Inference*, 2002, section 2.9.
"""

from collections.abc import Sequence

import numpy as np

from headway.kinds import FloatArray


def akaike_weights(aiccs: FloatArray | Sequence[float]) -> FloatArray:
    r"""Share of the support for each of several models: exp(-delta / 2), normalised to 1.

    Parameters
    ----------
    aiccs
        AICc of each model, all fitted to the same numbers. A model with infinite AICc (too few
        points for its parameters) has a weight of 0; if none is finite, all weights are equal.

    Returns
    -------
    The weight of each.

    Examples
    --------
    >>> akaike_weights([10.0, 10.0, float("inf")]).tolist()
    [0.5, 0.5, 0.0]
    >>> akaike_weights([10.0, 12.0]).round(3).tolist()
    [0.731, 0.269]
    """
    given = np.asarray(aiccs, float)
    finite = np.isfinite(given)
    if not finite.any():
        return np.full(given.shape, 1 / max(given.size, 1))
    support = np.exp(-0.5 * (np.where(finite, given, np.inf) - given[finite].min()))
    return np.asarray(support / support.sum())
