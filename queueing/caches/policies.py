"""Caches of several policies: hit ratios by size, and by popularity or a measured curve.

Requests are independent of each other (the independent reference model): each asks for an object
with the same probabilities, whatever was asked for before. A measured miss-ratio curve does not
need this.
"""

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from headway.columns import distinct_columns
from headway.errors import InvalidParameter
from headway.kinds import (
    Amount,
    FloatArray,
    Quantity,
    check_domain,
    check_not_negative,
    is_symbolic,
    plain,
)
from headway.queueing.caches.curves import MonotoneCubic
from headway.queueing.caches.filling import KEPT, RENEWED, CacheResult, Filling, after, filled
from headway.queueing.caches.popularity import Popularity, listed, zipf
from headway.records import dataclass

_CHE = "Che's approximation; largest error of the hit ratio measured:"


@dataclass(frozen=True)
class Cache:
    """The results of every cache."""

    approximation: ClassVar[str] = ""
    policy: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if is_symbolic(*(value if isinstance(value, list | tuple) else [value])):
                msg = "the hit ratio of a cache has no closed form; give numbers"
                raise InvalidParameter(msg)
        self._check()

    def _check(self) -> None:
        """Refuse numbers outside their domain."""

    def _answers(self) -> CacheResult:
        raise NotImplementedError

    @cached_property
    def _result(self) -> CacheResult:
        return self._answers()

    @property
    def hit_ratio(self) -> Amount:
        """Share of requests that hit."""
        return plain(self._result.hit)

    @property
    def miss_ratio(self) -> Amount:
        """Share of requests that miss."""
        return plain(1 - self._result.hit)

    @property
    def marginal_hit_ratio(self) -> Amount:
        """Gain in hit ratio per additional object: d hit ratio / d size."""
        return plain(self._result.gain)

    @property
    def resident(self) -> Amount:
        """Mean number of objects in the cache: its size, or fewer if there are fewer objects."""
        return plain(self._result.resident)


@dataclass(frozen=True)
class _Catalogue(Cache):
    """A cache of objects whose popularity is known: Zipf's law, or a list."""

    filling: ClassVar[Filling] = RENEWED

    def _amount(self) -> Amount:
        """The size, or the time, that differs between points."""
        raise NotImplementedError

    def _at(self, popularity: Popularity, amount: FloatArray) -> CacheResult:
        raise NotImplementedError

    def _law(self) -> tuple[Amount, Amount, Sequence[Amount]]:
        """Number of objects, exponent, and shares."""
        raise NotImplementedError

    def _check(self) -> None:
        objects, exponent, shares = self._law()
        if (objects is None) == (len(shares) == 0):
            msg = "give either objects (and the exponent of Zipf's law) or a list popularity"
            raise InvalidParameter(msg)
        if objects is not None:
            check_domain("objects", objects, lambda n: (n >= 1) & (n <= 1e15), "from 1 to 1e15")
            check_domain("exponent", exponent, lambda a: (a >= 0) & (a <= 20), "from 0 to 20")

    def _answers(self) -> CacheResult:
        """Solve together the points with the same popularity."""
        objects, exponent, shares = self._law()
        law = shares if objects is None else (objects, exponent)
        values = np.broadcast_arrays(self._amount(), *law)
        shape = values[0].shape
        amount, *rows = (np.asarray(value, float).ravel() for value in values)
        laws = np.array(rows)
        first, group = distinct_columns(laws)
        answers = CacheResult(*(np.zeros(amount.shape) for _ in range(3)))
        for number, numbers in enumerate(laws[:, first].T):
            points: NDArray[np.intp] = np.flatnonzero(group == number)
            popularity = listed(numbers) if objects is None else zipf(*numbers.tolist())
            for part, own in vars(self._at(popularity, amount[points])).items():
                getattr(answers, part)[points] = own
        return CacheResult(*(part.reshape(shape) for part in vars(answers).values()))


@dataclass(frozen=True)
class _Sized(_Catalogue):
    """A cache of a size.

    Parameters
    ----------
    size
        Objects that it holds, 0 or more.
    objects, exponent
        Objects M that are asked for, 1 or more, the one of rank i in proportion to i**-exponent.
    popularity
        Or how often each object is asked for, in any unit.
    """

    size: Quantity
    objects: Quantity | None = None
    exponent: Quantity = 0.8
    popularity: Sequence[Quantity] = ()

    def _check(self) -> None:
        check_not_negative("size", self.size)
        super()._check()

    def _amount(self) -> Amount:
        return self.size

    def _law(self) -> tuple[Amount, Amount, Sequence[Amount]]:
        return self.objects, self.exponent, self.popularity

    def _at(self, popularity: Popularity, amount: FloatArray) -> CacheResult:
        return filled(self.filling, popularity, amount)


@dataclass(frozen=True)
class LRUCache(_Sized):
    """A cache that drops the least recently used object.

    Parameters
    ----------
    size
        Objects that it holds, 0 or more; a number or array, as all of these.
    objects, exponent
        Objects M that are asked for, 1 or more, the one of rank i in proportion to i**-exponent.
    popularity
        Or how often each object is asked for, in any unit.

    Raises
    ------
    InvalidParameter
        For numbers outside their domain, symbols, or both a law and a list.

    Examples
    --------
    >>> cache = LRUCache(size=np.array([100.0, 1000.0]), objects=10_000, exponent=0.8)
    >>> cache.hit_ratio.round(4).tolist()
    [0.1566, 0.4367]

    References
    ----------
    Che, Tung and Wang, IEEE JSAC 20(7), 2002.
    """

    policy: ClassVar[str] = "lru"
    approximation: ClassVar[str] = (
        f"{_CHE} 0.01 from 8 objects on, 0.023 of 4 to 7, 0.05 of 2 or 3, 0.09 of one"
    )


@dataclass(frozen=True)
class FIFOCache(_Sized):
    """A cache that drops the object fetched first: first in, first out.

    Parameters
    ----------
    size, objects, exponent, popularity
        As for `LRUCache`.

    Examples
    --------
    >>> round(FIFOCache(size=100, objects=10_000, exponent=0.8).hit_ratio, 4)
    0.1336

    References
    ----------
    Martina, Garetto and Leonardi, IEEE INFOCOM 2014. Its hit ratio is that of `RandomCache`:
    Gelenbe, "A unified approach to the evaluation of a class of replacement algorithms", IEEE
    Trans. Computers 22(6), 1973.
    """

    filling: ClassVar[Filling] = KEPT
    policy: ClassVar[str] = "fifo"
    approximation: ClassVar[str] = (
        f"{_CHE} 0.026 from 8 objects on, 0.06 of 4 to 7, 0.12 of 2 or 3, 0.17 of one"
    )


@dataclass(frozen=True)
class RandomCache(FIFOCache):
    """A cache that drops a random object.

    Parameters
    ----------
    size, objects, exponent, popularity
        As for `LRUCache`.

    Examples
    --------
    >>> RandomCache(100, 10_000).hit_ratio == FIFOCache(100, 10_000).hit_ratio
    True
    """

    policy: ClassVar[str] = "random"


@dataclass(frozen=True)
class TTLCache(_Catalogue):
    """A cache of any size that drops an object a lifetime after it was fetched.

    Exact where requests are Poisson.

    Parameters
    ----------
    lifetime
        T [s], 0 or more; a number or array, as all of these.
    rate
        Requests for all objects together [1/s], 0 or more.
    objects, exponent, popularity
        As for `LRUCache`.

    Examples
    --------
    >>> cache = TTLCache(lifetime=60.0, rate=10.0, objects=10_000, exponent=0.8)
    >>> round(cache.hit_ratio, 4), round(cache.resident, 1)
    (0.2761, 434.4)

    References
    ----------
    Martina, Garetto and Leonardi, IEEE INFOCOM 2014.
    """

    filling: ClassVar[Filling] = KEPT
    policy: ClassVar[str] = "ttl"

    lifetime: Quantity = field(metadata={"unit": "s"})
    rate: Quantity = field(metadata={"unit": "1/s"})
    objects: Quantity | None = None
    exponent: Quantity = 0.8
    popularity: Sequence[Quantity] = ()

    def _check(self) -> None:
        check_not_negative("lifetime", self.lifetime)
        check_not_negative("rate", self.rate)
        super()._check()

    def _amount(self) -> Amount:
        return np.asarray(self.lifetime, float) * np.asarray(self.rate, float)

    def _law(self) -> tuple[Amount, Amount, Sequence[Amount]]:
        return self.objects, self.exponent, self.popularity

    def _at(self, popularity: Popularity, amount: FloatArray) -> CacheResult:
        return after(self.filling, popularity, amount)


@dataclass(frozen=True)
class RenewedTTLCache(TTLCache):
    """A cache of any size that drops an object a lifetime after its last request.

    Exact where requests are Poisson.

    Parameters
    ----------
    lifetime, rate, objects, exponent, popularity
        As for `TTLCache`.

    Examples
    --------
    >>> cache = RenewedTTLCache(lifetime=60.0, rate=10.0, objects=10_000, exponent=0.8)
    >>> round(cache.hit_ratio, 4), round(cache.resident, 1)
    (0.3211, 464.0)
    """

    filling: ClassVar[Filling] = RENEWED
    policy: ClassVar[str] = "ttl-renewed"


@dataclass(frozen=True)
class CurveCache(Cache):
    """A cache whose misses were measured, or traced, at several sizes.

    Between these the curve falls without a bend that is not in the points; a cache of size 0
    misses everything, and one larger than the largest as much as that.

    Parameters
    ----------
    size
        In the unit of the curve, 0 or more; a number or array.
    sizes
        Two or more, increasing, 0 or more.
    miss_ratios
        Share of requests that miss at each, from 0 to 1, never rising.

    Raises
    ------
    InvalidParameter
        For other numbers, or lists of different length.

    Examples
    --------
    >>> cache = CurveCache(size=3.0, sizes=[1.0, 2.0, 4.0], miss_ratios=[0.8, 0.5, 0.2])
    >>> round(cache.miss_ratio, 4), round(cache.hit_ratio, 4)
    (0.3106, 0.6894)

    References
    ----------
    Fritsch and Butland, "A method for constructing local monotone piecewise cubic
    interpolants", SIAM J. Sci. Stat. Comput. 5(2), 1984.
    """

    policy: ClassVar[str] = "curve"

    size: Quantity = field(metadata={"unit": "B"})
    sizes: Sequence[float] = field(metadata={"unit": "B"})
    miss_ratios: Sequence[float]

    def _check(self) -> None:
        check_not_negative("size", self.size)
        _ = self._curve

    @cached_property
    def _curve(self) -> MonotoneCubic:
        return MonotoneCubic.through(self.sizes, self.miss_ratios)

    def _answers(self) -> CacheResult:
        size = np.asarray(self.size, float)
        misses, slope = self._curve.at(size)
        return CacheResult(1 - misses, -slope, size)


POLICIES: dict[str, type[Cache]] = {
    kind.policy: kind
    for kind in (LRUCache, FIFOCache, RandomCache, TTLCache, RenewedTTLCache, CurveCache)
}
"""Kinds of caches by their word in model files."""
