"""Numbers at one station that a few classes of members come to: exact for a product form.

Of class c there are n_c members, each of which is away for Z_c on average between visits of S_c;
with a_c = S_c / Z_c the probability of k members at m servers is, up to a constant,

    p(k) ~ b_k k! / prod_{i <= k} min(i, m),   sum_k b_k z^k = prod_c (1 + a_c z)^{n_c},

as for the machine repair model of several classes (Baskett and others, JACM 22, 1975, with one
queue and delays).
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from headway.kinds import FloatArray

_LEAST = -700.0  # logarithm of what vanishes


def present(
    most: Sequence[int], odds: Sequence[FloatArray], servers: float
) -> tuple[FloatArray, list[FloatArray]]:
    """Probabilities of 0, 1, ... members at a station, and mean members of each class.

    Parameters
    ----------
    most
        Members n of each class, 1 or more.
    odds
        a = S / Z of each class, above 0, shape (points,).
    servers
        Servers m, 1 or more; infinity for a delay.

    Returns
    -------
    Shape (members + 1, points), and for each class (points,).

    Examples
    --------
    >>> import numpy as np
    >>> chances, means = present([2], [np.array([0.5])], 1)
    >>> chances[:, 0].round(12).tolist(), means[0].round(12).tolist()
    ([0.4, 0.4, 0.2], [0.8])
    """
    points = np.shape(odds[0]) if odds else (1,)
    logs = [_binomial(n, a) for n, a in zip(most, odds, strict=True)]
    k = np.arange(sum(most) + 1)
    queueing = np.cumsum(np.log(np.maximum(k, 1) / np.minimum(np.maximum(k, 1), servers)))
    weights = _product(logs, points) + queueing[:, np.newaxis]
    top = weights.max(axis=0)
    chances = np.exp(weights - top)
    total = chances.sum(axis=0)
    means = []
    for c, (n, a) in enumerate(zip(most, odds, strict=True)):
        others = [*logs[:c], _binomial(n - 1, a), *logs[c + 1 :]]
        rest = _product(others, points) + queueing[1:, np.newaxis]
        means.append(n * a * np.exp(rest - top).sum(axis=0) / total)
    return chances / total, means


def _binomial(n: int, odds: FloatArray) -> FloatArray:
    """Logarithms of the coefficients of (1 + a z)^n, shape (n + 1, points)."""
    k = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(ways[:, np.newaxis] + k[:, np.newaxis] * np.log(odds))


def _product(logs: Sequence[FloatArray], points: tuple[int, ...]) -> FloatArray:
    """Logarithms of the coefficients of a product of polynomials, given by theirs."""
    result = np.zeros((1, *points))
    for one in sorted(logs, key=len):
        if len(result) == 1:
            result = one + result
            continue
        tops = result.max(axis=0), one.max(axis=0)
        small, large = np.exp(result - tops[0]), np.exp(one - tops[1])
        summed = np.zeros((len(small) + len(large) - 1, *points))
        for k, share in enumerate(small):
            summed[k : k + len(large)] += share * large
        with np.errstate(divide="ignore"):
            result = np.maximum(np.log(summed), _LEAST) + tops[0] + tops[1]
    return result
