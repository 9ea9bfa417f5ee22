"""Popularity of objects: Zipf's law by rank, or a share for each object.

A catalogue of millions of objects is summed by quadrature: the first ranks one by one, the others
in spans of ranks with Gauss-Legendre nodes. Shares are smooth in the rank, and hit ratios err by
less than 1e-8 (tests/queueing/test_caches.py).
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.records import dataclass

# Digits only, 1e-8 of a hit ratio: the number of objects up to which all ranks are summed; the
# first ranks summed if there are more; the largest ratio of the last to the first rank of a span;
# and its nodes.
_ONE_BY_ONE, _FIRST, _SPAN, _NODES = 1024, 128, 2.0, 8


@dataclass(frozen=True)
class Popularity:
    """Groups of objects of equal popularity: share of requests for each, and their number.

    Parameters
    ----------
    share
        Probability that a request asks for a given object of the group, above 0.
    count
        Number of objects in the group; above 0, not always whole.

    Examples
    --------
    >>> even = zipf(4.0, 0.0)
    >>> even.share.tolist(), even.objects
    ([0.25, 0.25, 0.25, 0.25], 4.0)
    """

    share: FloatArray
    count: FloatArray

    @property
    def objects(self) -> float:
        """Number of requested objects."""
        return float(self.count.sum())


@lru_cache(maxsize=256)
def zipf(objects: float, exponent: float) -> Popularity:
    """Popularity by Zipf's law: the share of rank i is proportional to i**-exponent.

    Parameters
    ----------
    objects
        Number of objects M in the catalogue, 1 or more; a fraction counts as a part of an object.
    exponent
        Exponent, 0 or more; 0 for objects of equal popularity.

    Examples
    --------
    >>> round(float(zipf(1e9, 0.8).share[0]), 8)
    0.00321501

    References
    ----------
    Breslau, Cao, Fan, Phillips and Shenker, "Web caching and Zipf-like distributions:
    evidence and implications", IEEE INFOCOM 1999.
    """
    ranks, count = _ranks(objects)
    weights = ranks**-exponent
    return Popularity(weights / (weights @ count), count)


def listed(shares: Sequence[float]) -> Popularity:
    """Popularity from a number for each object; the numbers need not sum to 1.

    Parameters
    ----------
    shares
        Numbers from 0, not all 0; objects with 0 are left out.

    Raises
    ------
    InvalidParameter
        For other numbers.

    Examples
    --------
    >>> listed([3, 1, 0]).share.tolist()
    [0.75, 0.25]
    """
    given = np.asarray(shares, float)
    if not (np.isfinite(given).all() and (given >= 0).all() and given.any()):
        raise InvalidParameter(
            "popularity must contain finite numbers of 0 or more, at least one above 0"
        )
    given = given[given > 0]
    return Popularity(given / given.sum(), np.ones(len(given)))


def _ranks(objects: float) -> tuple[FloatArray, FloatArray]:
    """Ranks as quadrature nodes, and the number of objects that each stands for."""
    if objects <= _ONE_BY_ONE:
        each = np.arange(1.0, np.ceil(objects) + 1)
        return each, np.minimum(1.0, objects - each + 1)
    # Rank i is the middle of the span from i - 1/2 to i + 1/2. The sum over such ranks is the
    # integral plus 1/24 of the slope at its start (Euler-Maclaurin), here from two ranks.
    first, count = np.arange(1.0, _FIRST + 2), np.ones(_FIRST + 1)
    count[-2:] = 1 - 1 / 24, 1 / 24
    start, last = _FIRST + 0.5, objects + 0.5
    ends = np.geomspace(start, last, int(np.ceil(np.log(last / start) / np.log(_SPAN))) + 1)
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    half = np.diff(ends)[:, None] / 2
    ranks = (ends[:-1, None] + half * (1 + nodes)).ravel()
    return np.concatenate([first, ranks]), np.concatenate([count, (half * weights).ravel()])
