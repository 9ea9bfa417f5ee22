"""Series of probabilities of 0, 1, 2... jobs, shape (numbers, points), and their convolution."""

from itertools import pairwise

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.closed.demands import ClosedStation
from headway.queueing.compiled.library import compiled
from headway.queueing.erlang.birth_death import weights
from headway.queueing.erlang.poisson import poisson

FEW_POINTS = 16
"""Number of points that do not fill a vector."""

_FEW_JOBS = 128  # series up to this length are multiplied up number by number: to 3e-14, and faster
_BLOCK, _SMALL = 128, 1e-100  # numbers in a block, and its smallest last power: for speed, range
_LARGEST = 600.0  # exp(600) is far below the largest double


def thinking(size: int, mean: FloatArray) -> FloatArray:
    """Probabilities of 0, 1, 2... thinking jobs, as far as they do not underflow.

    Parameters
    ----------
    size
        Number of probabilities.
    mean
        Mean of the Poisson distribution, shape (points,).

    Examples
    --------
    >>> thinking(3, np.array([1.0])).round(6).ravel().tolist()
    [0.367879, 0.367879, 0.18394]
    """
    if not np.isfinite(mean).all():
        raise InvalidParameter("times are too far apart to calculate with; check the longest")
    if size <= _FEW_JOBS and mean.max() <= _FEW_JOBS:
        return _products(np.exp(-mean), mean / np.arange(1, size)[:, None])
    likely = mean.max() + 40 * np.sqrt(mean.max()) + 750  # beyond, below exp(-745)
    series = np.zeros((size, mean.size))
    counts = np.arange(min(size, int(likely)))[:, None]
    series[: len(counts)] = poisson(counts, mean)
    return series


def _products(first: FloatArray, ratios: FloatArray) -> FloatArray:
    """A series from its first number and the ratios of successive numbers."""
    series = np.empty((len(ratios) + 1, first.size))
    series[0] = first
    for n, ratio in enumerate(ratios):
        np.multiply(series[n], ratio, out=series[n + 1])
    return series


def at_jobs(series: FloatArray, index: FloatArray) -> FloatArray:
    """Each point's entry of a series; the first if the index is negative.

    Examples
    --------
    >>> at_jobs(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 0.0])).tolist()
    [3.0, 2.0]
    """
    rows = np.maximum(index, 0).astype(int)
    if rows.size and (rows == rows[0]).all():  # one population, for which a row is the answer
        return np.asarray(series[rows[0]])
    return np.asarray(np.take_along_axis(series, rows[None], axis=0)[0])


def geometric(series: FloatArray, ratio: FloatArray) -> FloatArray:
    """Convolve with ratio**n: y(n) = x(n) + ratio y(n-1), in place.

    Examples
    --------
    >>> geometric(np.array([[1.0], [0.0], [0.0]]), np.array([0.5])).ravel().tolist()
    [1.0, 0.5, 0.25]
    """
    if not series.size:
        return series
    whole = np.ascontiguousarray(series)
    kernel = _complex_geometric if np.iscomplexobj(series) else _real_geometric
    turns = np.array(np.broadcast_to(ratio, series.shape[1:]), whole.dtype)
    kernel(turns.view(float), whole.reshape(-1).view(float))
    if whole is not series:
        series[:] = whole
    return series


@compiled
def _real_geometric(ratio: FloatArray, series: FloatArray) -> None:
    """As `geometric`, for real numbers.

    Parameters
    ----------
    ratio
        Ratio of each column, shape (columns,).
    series
        x, overwritten by y, row after row; numbers that have lost their digits become 0. Here a few
        columns use 1 / (1 - r z) = (1 + r z) (1 + (r z)**2) (1 + (r z)**4) ...
    """
    rows = series.reshape(-1, len(ratio))
    if len(rows) > _BLOCK**2 and len(ratio) == 1 and ratio[0] ** _BLOCK > _SMALL:
        series[:] = _by_blocks(series, float(ratio[0]))
    elif len(ratio) > FEW_POINTS:
        for before, row in pairwise(rows):
            row += ratio * before
    else:
        step, power = 1, ratio
        # the caller refuses numbers that are not finite
        with np.errstate(over="ignore", invalid="ignore"):
            while step < len(rows) and power.any():
                rows[step:] += power * rows[:-step]
                step, power = 2 * step, power * power
    rows[1:][np.abs(rows[1:]) < np.finfo(float).tiny] = 0.0


def _by_blocks(series: FloatArray, ratio: float) -> FloatArray:
    """As `geometric`, for very many numbers: sums of x(n) / ratio**n by blocks."""
    powers = ratio ** np.arange(_BLOCK)
    blocks = np.append(series, np.zeros(-len(series) % _BLOCK)).reshape(-1, _BLOCK)
    within = np.cumsum(blocks / powers, axis=1) * powers
    ends = geometric(within[:, -1:].copy(), np.array([ratio**_BLOCK]))
    within[1:] += ratio * ends[:-1] * powers
    return np.asarray(within.ravel()[: len(series)])


@compiled
def _complex_geometric(ratio: FloatArray, series: FloatArray) -> None:
    """As `geometric`, for complex numbers, with real and imaginary parts in turn.

    Parameters
    ----------
    ratio
        Ratio of each column, shape (2 columns,).
    series
        x, overwritten by y, row after row.
    """
    parts = series.reshape(-1, len(ratio))
    real, turned = ratio[::2], ratio[1::2]
    for before, row in pairwise(parts):
        one, other = before[::2], before[1::2]
        row[::2] += real * one - turned * other
        row[1::2] += real * other + turned * one


def meet(series: FloatArray, other: FloatArray, population: FloatArray) -> FloatArray:
    """Convolution of two series at N only: sum of x(n) y(N - n); 0 if N is negative.

    Examples
    --------
    >>> series, other = np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]])
    >>> meet(series, other, np.array([1.0])).tolist()
    [10.0]
    """
    if (population == population[0]).all():
        jobs = int(population[0]) + 1
        return np.asarray(np.einsum("ij,ij->j", series[:jobs], other[:jobs][::-1]))
    number = np.arange(len(series))[:, None]
    rest = population.astype(int) - number
    mirrored = np.where(rest >= 0, np.take_along_axis(other, np.maximum(rest, 0), axis=0), 0.0)
    return np.asarray((series * mirrored).sum(axis=0))


def _chances(ratios: FloatArray) -> FloatArray:
    """Probabilities of 0, 1, 2... jobs from their ratios, shape (n, points)."""
    if len(ratios) <= _FEW_JOBS and len(ratios) * np.log(ratios.max(initial=1.0)) < _LARGEST:
        chances = _products(np.ones(ratios.shape[1]), ratios)
    else:
        chances = weights(ratios.T).T
    return np.asarray(chances / chances.sum(axis=0))


class Factor:
    """The distribution at a varying station: a list of probabilities, then a geometric tail."""

    def __init__(self, station: ClosedStation, scale: FloatArray, size: int) -> None:
        speeds = np.broadcast_to(station.speeds, (len(station.speeds), scale.size))[: size - 1]
        ratios = scale * station.demand / speeds
        self.head = _chances(ratios)
        self.ratio = ratios[-1] if len(ratios) else np.zeros(scale.size)
        self.crew = np.ones(1) if station.crew is None else station.crew

    def series(self, size: int) -> FloatArray:
        """The probabilities of 0, 1, 2... jobs at the station."""
        last = len(self.head) - 1
        chances = np.zeros((size, self.ratio.size))
        chances[: last + 1] = self.head
        geometric(chances[last:], self.ratio)
        return chances

    def times(self, series: FloatArray) -> FloatArray:
        """Convolve a series with the station's distribution."""
        last = len(self.head) - 1
        result = self._head_times(series, self.head[:-1])
        result[last:] += geometric(self.head[-1] * series[: len(series) - last], self.ratio)
        return result

    def number_times(self, series: FloatArray) -> FloatArray:
        """Convolve a series with n f(n), for the mean number at the station."""
        last = len(self.head) - 1
        result = self._head_times(series, self.head[:-1] * np.arange(last)[:, None])
        tail = geometric(self.head[-1] * series[: len(series) - last], self.ratio)
        result[last:] += last * tail
        result[last + 1 :] += self.ratio * geometric(tail.copy(), self.ratio)[:-1]
        return result

    def working_times(self, series: FloatArray) -> FloatArray:
        """Convolve with f(n) min(n, m) / m, for the mean share of its servers that works."""
        last = len(self.head) - 1
        shares = np.minimum(np.arange(last + 1)[:, None], self.crew) / self.crew
        result = self._head_times(series, self.head[:-1] * shares[:-1])
        tail = geometric(self.head[-1] * series[: len(series) - last], self.ratio)
        result[last:] += shares[-1] * tail
        return result

    @staticmethod
    def _head_times(series: FloatArray, head: FloatArray) -> FloatArray:
        result = np.zeros(series.shape)
        for number, chance in enumerate(head):
            result[number:] += chance * series[: len(series) - number]
        return result
