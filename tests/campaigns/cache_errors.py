"""Errors of Che's approximation: ``python -m tests.campaigns.cache_errors`` prints the table.

No constant or label names it; docs/accuracy/stations.md has its figures.
"""

import numpy as np

from headway.queueing.caches.policies import FIFOCache, LRUCache
from headway.queueing.caches.popularity import zipf
from tests.oracles.cache_oracles import lru_hit_ratio, random_hit_ratio

EXPONENTS = (0.0, 0.3, 0.6, 0.8, 1.0, 1.3, 2.0, 3.0)
SIZES = (1, 2, 4, 8, 16)
HOT = (0.8, 0.9, 0.95)
"""Shares of the requests for as many objects as fit into the cache, which are the hardest case."""

EXACT = {LRUCache: lru_hit_ratio, FIFOCache: random_hit_ratio}


def largest_error(kind, size, objects=(16, 32)):
    """Largest difference of the hit ratio over catalogue sizes and exponents."""
    return max(
        abs(
            kind(size, many, exponent).hit_ratio
            - EXACT[kind](zipf(float(many), exponent).share, size)
        )
        for many in objects
        if many > size
        for exponent in EXPONENTS
    )


def hot_error(kind, size, objects=50):
    """Largest difference if a few objects are requested often, and all others equally."""
    errors = []
    for share in HOT:
        popularity = np.full(objects, (1 - share) / (objects - size))
        popularity[:size] = share / size
        result = kind(size, popularity=popularity.tolist()).hit_ratio
        errors.append(abs(result - EXACT[kind](popularity, size)))
    return max(errors)


def hot_rows():
    """Rows of `hot_error`."""
    for kind in EXACT:
        yield kind.policy, [f"{hot_error(kind, size):.2g}" for size in SIZES]


def rows():
    """The table of docs/accuracy.md."""
    for kind in EXACT:
        errors = (largest_error(kind, size) for size in SIZES)
        yield kind.policy, [f"{error:.2g}" for error in errors]


if __name__ == "__main__":
    for policy, errors in (*rows(), *hot_rows()):
        print(policy, *errors)
