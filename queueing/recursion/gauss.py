"""Gaussian quadrature for gamma and beta densities, its weights as logarithms.

A weight is 1 / sum over k < n of p_k(x)**2 of the orthonormal polynomials at its node: a sum of
positive terms, so that the smallest weights have as many digits as the largest.

Source: Golub and Welsch, "Calculation of Gauss quadrature rules", Math. Comp. 23, 1969; the
recurrences are those of Abramowitz and Stegun, *Handbook of Mathematical Functions*, 1964, 22.7.
"""

from functools import lru_cache

import numpy as np

from headway.kinds import FloatArray

_LARGE = 1e100  # polynomials are rescaled above it, against overflow
_Rule = tuple[FloatArray, FloatArray]


@lru_cache(maxsize=64)
def gamma_rule(shape: float, count: int) -> _Rule:
    """Nodes and logarithms of weights for a gamma density of scale 1.

    Parameters
    ----------
    shape
        Its shape a: u**(a - 1) exp(-u) / Gamma(a).
    count
        Number of nodes n: exact for polynomials up to degree 2 n - 1.

    Examples
    --------
    >>> nodes, logs = gamma_rule(1.0, 4)
    >>> round(float(np.exp(logs) @ nodes**7), 9)
    5040.0
    """
    k = np.arange(count, dtype=float)
    return _rule(2.0 * k + shape, np.sqrt(k[1:] * (k[1:] + shape - 1)))


@lru_cache(maxsize=64)
def beta_rule(first: float, second: float, count: int) -> _Rule:
    """Nodes and logarithms of weights for the beta density of two shapes.

    Parameters
    ----------
    first, second
        Its shapes a and b: x**(a - 1) (1 - x)**(b - 1) / B(a, b).
    count
        As for `gamma_rule`.

    Examples
    --------
    >>> nodes, logs = beta_rule(1.0, 1.0, 2)
    >>> round(float(np.exp(logs) @ nodes**3), 12)
    0.25
    """
    a, b = second - 1, first - 1
    k = np.arange(1.0, count)
    both = 2 * k + a + b
    middle = np.concatenate([[(b - a) / (a + b + 2)], (b * b - a * a) / (both * (both + 2))])
    # (k + a + b) / (both - 1) is 1 for k = 1, also where a + b = -1 makes it 0 / 0
    ratio = np.where(k > 1, (k + a + b) / np.where(k > 1, both - 1, 1.0), 1.0)
    beside = 4 * k * (k + a) * (k + b) * ratio / (both**2 * (both + 1))
    return _rule((1 + middle) / 2, np.sqrt(beside) / 2)


def _rule(middle: FloatArray, beside: FloatArray) -> _Rule:
    """Nodes and weights from the three-term recurrence of orthonormal polynomials."""
    from scipy.linalg import eigvalsh_tridiagonal

    nodes = np.asarray(eigvalsh_tridiagonal(middle, beside), float)
    before, now = np.zeros(nodes.shape), np.ones(nodes.shape)
    total, scale = np.ones(nodes.shape), np.zeros(nodes.shape)
    left = np.concatenate([[0.0], beside])
    for k in range(len(beside)):
        before, now = now, ((nodes - middle[k]) * now - left[k] * before) / beside[k]
        total = total + now * now
        large = np.where(np.abs(now) + np.abs(before) > _LARGE, _LARGE, 1.0)
        before, now, total = before / large, now / large, total / large / large
        scale = scale + np.log(large)
    nodes.setflags(write=False)
    logs = np.asarray(-np.log(total) - 2 * scale, float)
    logs.setflags(write=False)
    return nodes, logs
