"""Poisson probabilities to full relative precision, for counts and means up to millions.

Source: Loader, "Fast and accurate computation of binomial probabilities", 2000: the
saddle-point form, in which no large numbers cancel.
"""

from functools import lru_cache
from math import factorial, log, pi

import numpy as np

from headway.kinds import Amount, FloatArray

_TABLE = 16  # count from which four terms of Stirling's series give full precision: digits only


def poisson(count: Amount, mean: Amount) -> Amount:
    """Probability of n events where a are expected: exp(-a) a**n / n! .

    Parameters
    ----------
    count, mean
        n, a whole number of 0 or more, and a, 0 or more; numbers or arrays that broadcast.

    Examples
    --------
    >>> round(float(poisson(2, 1.0)), 15)
    0.183939720585721
    """
    count, mean = np.asarray(count, float), np.asarray(mean, float)
    some = np.maximum(count, 1)
    with np.errstate(divide="ignore", under="ignore"):
        ratio = mean / some
        exponent = some * deviance((mean - some) / some, ratio) + stirling_error(some)
        return np.where(count == 0, np.exp(-mean), np.exp(-exponent) / np.sqrt(2 * pi * some))


def poisson_near(mean: float, apart: float) -> tuple[int, FloatArray]:
    """Smallest number of events within a distance of the mean, and all probabilities from there.

    From the likeliest number outwards, each is its neighbour times a / n, or n / a.

    Parameters
    ----------
    mean
        a, above 0.
    apart
        Distance beyond which hardly any probability is left, 1 or more; the results sum to 1.

    Examples
    --------
    >>> least, chances = poisson_near(1.0, 30.0)
    >>> least, chances[:3].round(6).tolist()
    (0, [0.367879, 0.367879, 0.18394])
    """
    least, end, top = max(int(mean - apart), 0), int(mean + apart), int(mean)
    counts, chances = np.arange(least, end, dtype=float), np.ones(end - least)
    above = top - least + 1
    np.cumprod(mean / counts[above:], out=chances[above:])
    np.cumprod(counts[above - 1 : 0 : -1] / mean, out=chances[: above - 1][::-1])
    return least, chances / chances.sum()


def deviance(z: Amount, one_more: Amount = None) -> Amount:
    """Evaluate z - log(1 + z) to full relative precision, z >= -1.

    Parameters
    ----------
    z
        Numbers or arrays above -1.
    one_more
        1 + z, if it is known more precisely than from z near -1.

    Examples
    --------
    >>> round(float(deviance(1e-3)), 12)
    4.99667e-07
    """
    ratio = z / (2 + z)
    square = ratio * ratio
    series = 0.0
    for k in range(37, 1, -2):  # (1/3)**36 / 37 is below 1e-18
        series = series * square + 1 / k
    near = ratio * (z - 2 * square * series)
    far = z - (np.log1p(z) if one_more is None else np.log(one_more))
    return np.where(np.abs(z) < 0.5, near, far)


@lru_cache(maxsize=1)
def _small_errors() -> FloatArray:
    """Error of Stirling's formula for log n!, n = 1..15 (and a placeholder for 0)."""
    exact = [log(factorial(n)) - (n + 0.5) * log(n) + n for n in range(1, _TABLE)]
    return np.array([0.0, *(error - log(2 * pi) / 2 for error in exact)])


def stirling_error(count: Amount) -> Amount:
    """Error of Stirling's formula: log n! - (n + 1/2) log n + n - log(2 pi) / 2, n >= 1.

    Examples
    --------
    >>> round(float(stirling_error(1.0)), 12)
    0.081061466795
    """
    count = np.asarray(count, float)
    square = 1 / (count * count)
    series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))
    few = np.minimum(count, _TABLE - 1).astype(int)
    return np.where(count < _TABLE, _small_errors()[few], series / count)
