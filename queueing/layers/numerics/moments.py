"""Means and variances of times in series, in choices and loops, and of k-th order statistics."""

from collections.abc import Iterable

import numpy as np
from scipy.special import gammaincc

from headway.kinds import Amount, FloatArray
from headway.records import dataclass

_NODES, _WEIGHTS = np.polynomial.laguerre.laggauss(48)
_LEAST = 1e-300


@dataclass(frozen=True)
class Moments:
    """Mean and variance of a time, of the shape of the operating points."""

    mean: FloatArray
    variance: FloatArray

    def then(self, other: "Moments") -> "Moments":
        """The sum of two independent times."""
        return Moments(self.mean + other.mean, self.variance + other.variance)

    def with_chance(self, chance: Amount) -> "Moments":
        """The time with a probability, otherwise 0."""
        return mixture([(chance, self)])

    def times(self, number: Amount) -> "Moments":
        """A geometric sum of such times with mean number m: variance m v + m (1 + m) t2."""
        spread = number * self.variance + number * (1 + number) * self.mean**2
        return Moments(number * self.mean, spread)


def mixture(ways: "list[tuple[Amount, Moments]]") -> Moments:
    """One of several times, each with its probability; 0 with the remaining probability."""
    mean = sum(chance * one.mean for chance, one in ways)
    square = sum(chance * (one.variance + one.mean**2) for chance, one in ways)
    return Moments(np.asarray(mean), np.asarray(square - mean**2))


def in_series(parts: Iterable[Moments], none: Moments) -> Moments:
    """The sum of independent times; ``none`` if there are none."""
    total = none
    for part in parts:
        total = total.then(part)
    return total


def k_th(branches: list[Moments], needed: int, slower: Amount = 1.0) -> Moments:
    """The time until ``needed`` of several independent branches have ended, each with a gamma law.

    E T = int P(T > t) dt and E T^2 = 2 int t P(T > t) dt, where T > t if fewer than needed have
    ended; integrated with 48 Gauss-Laguerre nodes on the scale of the longest branch.

    Parameters
    ----------
    branches
        Their times.
    needed
        How many have to end.
    slower
        How much longer the time takes until the first, from the first to the second, and so on up
        to the last that is needed, as rows.

    Examples
    --------
    >>> one = Moments(np.array([1.0]), np.array([1.0]))
    >>> k_th([one, one, one], 3).mean.round(4).tolist()  # 1 + 1/2 + 1/3
    [1.8333]
    """
    scale = np.max([one.mean for one in branches], axis=0) + _LEAST
    nodes, weights = (
        np.expand_dims(v, tuple(range(1, 1 + scale.ndim))) for v in (_NODES, _WEIGHTS)
    )
    times = nodes * scale
    some_done = np.zeros((len(branches) + 1, *times.shape))
    some_done[0] = 1.0
    for one in branches:
        mean = np.maximum(one.mean, _LEAST)
        shape = mean**2 / np.maximum(one.variance, 1e-4 * mean**2)
        done = 1 - gammaincc(shape, times * shape / mean)
        some_done[1:] = some_done[1:] * (1 - done) + some_done[:-1] * done
        some_done[0] *= 1 - done
    # P(i branches have ended) is the time from the i-th to the next, over all t
    each = some_done[:needed] * weights * np.exp(nodes) * scale
    between, square = each.sum(axis=1), 2 * (each.sum(axis=0) * times).sum(axis=0)
    mean = between.sum(axis=0)
    whole = (between * slower).sum(axis=0)
    spread = np.maximum(square - mean**2, 0.0) * (whole / np.maximum(mean, _LEAST)) ** 2
    return Moments(whole, spread)
