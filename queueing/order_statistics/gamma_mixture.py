"""The time until k of n equal branches are done, as a mixture of gamma laws.

Its transform has a closed form. All gamma laws have the same shape, and their means form a
geometric series. Their weights are the increments of the distribution between the means, corrected
by van Cittert's iteration until the mixture has the same increments. They are linear in the
distribution, which is smooth in U; so they are polynomials in U.

Source: van Cittert, "Zum Einfluss der Spaltbreite auf die Intensitaetsverteilung in Spektrallinien
II", Zeitschrift fuer Physik 69, 1931, for the correction;
`headway.queueing.order_statistics.common_factor` for the law.
"""

from functools import cache, lru_cache
from math import ceil, log2
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.polynomial import chebyshev

from headway.columns import distinct_columns
from headway.kinds import Amount, FloatArray
from headway.queueing.order_statistics.common_factor import conditional_law
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw, by_points

ForkCase: TypeAlias = tuple[Amount, Amount, Amount]
"""Branches n, needed k, and scv of service."""

# Limits of the law: for scvs of service and numbers of branches beyond these, the law is by two
# moments (`headway.queueing.order_statistics.alike`). They are outside of
# tests.campaigns.fork_errors, which has scvs from 0.1 to 2 and 64 branches; narrower laws would
# need too many gamma laws.
_STEADIEST, _WILDEST, _MOST_BRANCHES = 0.05, 8.0, 128
# All others only affect digits: scvs per octave with mixtures of their own, between which laws are
# interpolated; degree of polynomials in U; deviation of a gamma law, as a share of that of the
# narrowest law, and at most; doublings of its shape, unless it is wider than 0.9 of the narrowest
# law; distance of means and margin at the ends, in deviations; probabilities at the ends; van
# Cittert's iterations; and digits of a probability.
_PER_OCTAVE, _DEGREE = 8, 28
_NARROW, _WIDEST = 0.35, 0.15
_DOUBLINGS, _CLOSE = 9, 0.9
_APART, _BEYOND = 1.2, 3.0
_SELDOM = (1e-5, 1 - 1e-6)
_STEPS, _DIGITS = 6, 12
_BLOCK = 40_000  # transforms at a time, which fit into the cache: for speed


class GammaMixture(NamedTuple):
    """A mixture of gamma laws with weights that depend on U.

    Parameters
    ----------
    times
        Means of the gamma laws, shape (laws,).
    doublings
        Logarithm to base 2 of their shape.
    series
        Chebyshev coefficients of the weights in 2 U - 1, shape (degree + 1, laws).
    """

    times: FloatArray
    doublings: int
    series: FloatArray

    def law(self, busy: Amount, mean: Amount) -> TimeLaw:
        """The law at a utilisation, stretched to a mean [s]; numbers, or arrays over points."""
        weights = chebyshev.chebval(2 * np.asarray(busy, float) - 1, self.series)
        weights = weights / weights.sum(axis=0)
        unit = mean / np.tensordot(self.times, weights, 1) / 2**self.doublings

        def transform(s: ComplexArray) -> ComplexArray:
            some = max(_BLOCK // s.size, 1)
            blocks = (slice(k, k + some) for k in range(0, self.times.size, some))
            return np.asarray(sum(self._part(s * unit, weights, block) for block in blocks))

        return TimeLaw((Piece(0.0, transform),), mean)

    def _part(self, scaled: ComplexArray, weights: FloatArray, block: slice) -> ComplexArray:
        """Contribution of a block of laws to the transform, at s times the mean over the shape."""
        times, parts = self.times[block], weights[block]
        each = 1 + scaled * times.reshape(-1, *(1,) * scaled.ndim)
        np.divide(1, each, out=each)
        for _ in range(self.doublings):
            np.square(each, out=each)
        ones = (1,) * (scaled.ndim + 1 - parts.ndim)
        each *= parts.reshape(len(parts), *ones, *parts.shape[1:])
        return np.asarray(each.sum(axis=0))


def has_mixture(branches: Amount, scv: Amount) -> Amount:
    """Whether there is a mixture for so many branches with a service of this scv.

    Examples
    --------
    >>> bool(has_mixture(64, 0.1)), bool(has_mixture(64, 0.01)), bool(has_mixture(1, 1.0))
    (True, False, False)
    """
    enough = (branches > 1) & (branches <= _MOST_BRANCHES)
    return enough & (scv >= _STEADIEST) & (scv <= _WILDEST)


def mixture_law(kind: ForkCase, busy: Amount, mean: Amount) -> TimeLaw:
    """The time until k of n equal branches are done.

    For an scv between those with mixtures, both neighbours are mixed.

    Parameters
    ----------
    kind
        n, k and the scv of service; numbers, or arrays over operating points.
    busy, mean
        Utilisation, and the mean [s] of the law.

    Examples
    --------
    >>> mixture_law((2, 2, 1.0), 0.5, 2.875).mean
    2.875
    """
    branches, needed, scv = kind
    places = _PER_OCTAVE * np.log2(scv)
    lower, upper = (
        _grid_law((branches, needed, f(places)), busy, mean) for f in (np.floor, np.ceil)
    )
    part = places - np.floor(places)
    if not np.any(part):
        return lower

    def transform(s: ComplexArray) -> ComplexArray:
        low, high = (law.pieces[0].transform(s) for law in (lower, upper))
        return np.asarray(low + part * (high - low))

    return TimeLaw((Piece(0.0, transform),), mean)


def _grid_law(kind: ForkCase, busy: Amount, mean: Amount) -> TimeLaw:
    """The law for n, k and an scv of the grid, given by its position in parts of an octave."""
    if all(np.ndim(part) == 0 for part in kind):
        return _grid_mixture(*kind).law(busy, mean)
    rows = np.array(np.broadcast_arrays(*kind, busy, mean), float)
    first, which = distinct_columns(rows[:3])
    parts = [np.flatnonzero(which == place) for place in range(first.size)]
    each = zip(first, parts, strict=True)
    return by_points(
        [_grid_mixture(*rows[:3, one]).law(*rows[3:, some]) for one, some in each], parts
    )


def _grid_mixture(branches: Amount, needed: Amount, place: Amount) -> GammaMixture:
    return gamma_mixture(int(branches), int(needed), float(2 ** (place / _PER_OCTAVE)))


@lru_cache(maxsize=256)
def gamma_mixture(branches: int, needed: int, scv: float) -> GammaMixture:
    """The law of the k-th of n equal branches at every utilisation.

    Parameters
    ----------
    branches, needed
        n and k.
    scv
        Squared coefficient of variation of service; see `has_mixture`.

    Examples
    --------
    >>> law = gamma_mixture(2, 2, 1.0).law(0.5, 2.875)
    >>> round(float(law.transform(np.array([1e-9 + 0j])).real[0]), 6)
    1.0
    """
    law = conditional_law(scv, tuple(((1 + _nodes()) / 2).tolist()))
    chances, times = law.kth(branches, needed), np.exp(law.logs)
    mean = times[0] + np.trapezoid((1 - chances) * times, law.logs, axis=1)
    logs = law.logs - np.log(mean)[:, None]  # of times in units of the mean, shape (loads, times)
    width = 1.0  # half the distance between the 16th and the 84th percentile, of the narrowest law
    for at, chance in zip(logs, chances, strict=True):
        if chance[0] < 0.16:
            below, above = np.interp((0.16, 0.84), chance, at)
            width = min(width, float(above - below) / 2)
    fine, coarse = (ceil(-2 * log2(min(part * width, _WIDEST))) for part in (_NARROW, _CLOSE))
    doublings = min(fine, max(coarse, _DOUBLINGS))
    deviation = 2 ** (-doublings / 2)
    low, high = (
        [np.interp(seldom, chance, at) for at, chance in zip(logs, chances, strict=True)]
        for seldom in _SELDOM
    )
    ends = min(low) - _BEYOND * deviation, max(high) + _BEYOND * deviation
    means = np.arange(*ends, _APART * deviation)
    weights = _weights(logs, chances, means, doublings)
    series = np.linalg.solve(chebyshev.chebvander(_nodes(), _DEGREE), weights)
    return GammaMixture(np.exp(means), doublings, np.asarray(series, float))


@cache
def _nodes() -> FloatArray:
    return np.asarray(chebyshev.chebpts1(_DEGREE + 1))


def _weights(
    logs: FloatArray, chances: FloatArray, means: FloatArray, doublings: int
) -> FloatArray:
    """Weights of gamma laws, given the logarithms of their means, shape (loads, laws)."""
    from scipy.special import gammainc

    step, shape = means[1] - means[0], 2**doublings
    edges = np.concatenate([means - step / 2, means[-1:] + step / 2])
    target = np.array([_interpolated(edges, *law) for law in zip(logs, chances, strict=True)])
    mixing = gammainc(shape, shape * np.exp(edges - means[:, None]))
    weights = np.diff(target)
    weights[:, 0] += target[:, 0]
    weights[:, -1] += 1 - target[:, -1]
    for _ in range(_STEPS):
        weights = weights + np.diff(target - weights @ mixing)
    return weights


def _interpolated(at: FloatArray, logs: FloatArray, chances: FloatArray) -> FloatArray:
    """Probabilities at logarithms of times; rounded, as the cubic divides by increments."""
    from scipy.interpolate import PchipInterpolator

    inside = PchipInterpolator(logs, np.round(chances, _DIGITS))(np.clip(at, logs[0], logs[-1]))
    return np.where(at < logs[0], 0.0, np.where(at > logs[-1], 1.0, inside))
