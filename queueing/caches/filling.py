"""Occupancy and hit ratio of a cache, by its characteristic time.

An object with the share q of requests is in the cache with probability h(q t), where t is the time
for which an object stays, counted in requests for all objects: since its last request, or since it
was fetched,

    renewed: h(x) = 1 - exp(-x),   kept: h(x) = x / (1 + x).

The hit ratio is the sum of q h(q t). Che, Tung and Wang take t as constant and equal for all
objects, such that the mean number of objects in the cache, the sum of h(q t), is its size. A cache
that drops the least recently used object renews the time at each request; one that drops the oldest
or a random object does not.

Source: Che, Tung and Wang, "Hierarchical web caching systems: modeling, design and experimental
results", IEEE JSAC 20(7), 2002; Fricker, Robert and Roberts, "A versatile and accurate
approximation for LRU cache performance", ITC 24, 2012; Martina, Garetto and Leonardi, "A unified
approach to the performance analysis of caching systems", IEEE INFOCOM 2014.
"""

from collections.abc import Callable

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.caches.popularity import Popularity
from headway.records import dataclass

_STEPS = 200  # most steps of Newton's method or of bisection; a dozen suffice: digits only
_SETTLED = 1e-13  # relative step of Newton's method after which the next is rounding: digits only
_TOGETHER = 2_000_000  # numbers processed at a time, for memory


@dataclass(frozen=True)
class Filling:
    """The probability that an object is in the cache, by its characteristic time.

    Parameters
    ----------
    there, away
        h(x), and 1 - h(x) to full precision.
    slope
        h'(x).
    """

    there: Callable[[FloatArray], FloatArray]
    away: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]


def _exp(x: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-x))


RENEWED = Filling(lambda x: np.asarray(-np.expm1(-x)), _exp, _exp)
"""An object stays for a time after its last request."""

KEPT = Filling(
    lambda x: np.asarray(x / (1 + x)),
    lambda x: np.asarray(1 / (1 + x)),
    lambda x: np.asarray(1 / (1 + x) ** 2),
)
"""An object stays for a time after it was fetched."""


@dataclass(frozen=True)
class CacheResult:
    """Results of a cache.

    Parameters
    ----------
    hit
        Share of requests that hit.
    gain
        d hit / d resident.
    resident
        Mean number of objects in it.
    """

    hit: FloatArray
    gain: FloatArray
    resident: FloatArray


def after(filling: Filling, popularity: Popularity, time: FloatArray) -> CacheResult:
    """The result of a cache whose objects stay for a given time.

    Parameters
    ----------
    filling, popularity
        How long objects stay, and the popularity of objects.
    time
        t, in requests for all objects, 0 or more, shape (points,).

    Examples
    --------
    >>> from headway.queueing.caches.popularity import listed
    >>> result = after(KEPT, listed([1, 1]), np.array([2.0]))
    >>> result.hit.tolist(), result.resident.tolist(), result.gain.tolist()
    ([0.5], [1.0], [0.5])
    """
    step = max(_TOGETHER // len(popularity.share), 1)
    parts = [
        _block_after(filling, popularity, time[start : start + step])
        for start in range(0, max(len(time), 1), step)
    ]
    return CacheResult(
        *(np.concatenate([getattr(p, part) for p in parts]) for part in ("hit", "gain", "resident"))
    )


def _block_after(filling: Filling, popularity: Popularity, time: FloatArray) -> CacheResult:
    requests = time[:, None] * popularity.share
    each = popularity.share * popularity.count
    there, slope = filling.there(requests), filling.slope(requests) * popularity.share
    growth = slope @ popularity.count
    some = growth > 0
    gain = np.where(some, slope @ each / np.where(some, growth, 1.0), 0.0)
    return CacheResult(there @ each, gain, there @ popularity.count)


def filled(filling: Filling, popularity: Popularity, size: FloatArray) -> CacheResult:
    """The result of a cache of a given size, by Che's approximation.

    Parameters
    ----------
    filling, popularity
        As for `after`.
    size
        Number of objects that fit, 0 or more, shape (points,).

    Examples
    --------
    >>> from headway.queueing.caches.popularity import zipf
    >>> result = filled(RENEWED, zipf(1000.0, 0.8), np.array([10.0, 100.0, 1000.0]))
    >>> result.hit.round(4).tolist()
    [0.0816, 0.3778, 1.0]
    """
    whole = size >= popularity.objects
    time = np.zeros(size.shape)
    step = max(_TOGETHER // len(popularity.share), 1)
    wanted = np.flatnonzero(~whole & (size > 0))
    for start in range(0, len(wanted), step):
        here = wanted[start : start + step]
        time[here] = _characteristic_time(filling, popularity, size[here])
    answers = after(filling, popularity, time)
    return CacheResult(
        np.where(whole, 1.0, answers.hit),
        np.where(whole, 0.0, answers.gain),
        np.where(whole, popularity.objects, size),
    )


def _characteristic_time(filling: Filling, popularity: Popularity, size: FloatArray) -> FloatArray:
    """Solve sum of h(q t) = size for log t, or the equation for absent objects if they are fewer.

    Newton's method, safeguarded by a bracket that every step narrows.
    """
    scarce = size > popularity.objects / 2
    goal = np.log(np.where(scarce, popularity.objects - size, size))
    low, high = _bracket(filling, popularity, size)
    log_time = low.copy()
    for _ in range(_STEPS):
        requests = np.exp(log_time)[:, None] * popularity.share
        there, away = (
            filling.there(requests) @ popularity.count,
            filling.away(requests) @ popularity.count,
        )
        part = np.where(scarce, away, there)
        excess = np.where(scarce, -1.0, 1.0) * (np.log(part) - goal)
        low, high = np.where(excess < 0, log_time, low), np.where(excess < 0, high, log_time)
        slope = (filling.slope(requests) * requests) @ popularity.count / part
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = log_time - excess / slope
        inside = (newton > low) & (newton < high)
        following = np.where(inside, newton, (low + high) / 2)
        if (np.abs(following - log_time) <= _SETTLED * np.maximum(np.abs(log_time), 1)).all():
            break
        log_time = following
    return np.asarray(np.exp(log_time))


def _bracket(
    filling: Filling, popularity: Popularity, size: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bounds of log t: t >= size, as h(x) <= x; doubled until large enough."""
    low = np.log(size) - 1e-9
    high = low + 1
    while True:
        away = filling.away(np.exp(high)[:, None] * popularity.share) @ popularity.count
        short = away > popularity.objects - size
        if not short.any():
            return low, high
        low, high = np.where(short, high, low), np.where(short, 2 * high - low, high)
