"""Points of spaces against the plain way to make as many, in one run.

Run with ``make benchmark``. Each line prints nanoseconds a point of four parameters in a block of
32,768, as they are made one block after the other, and the ratio to the plain way.
"""

from itertools import count

import numpy as np
import pytest
from scipy.stats import qmc
from timing import least

from headway.models import grid, latin, random, sobol

BLOCK, BLOCKS = 2**15, 20
COUNTS = (200, 150, 250, 130)
RANGES = dict.fromkeys("abcd", (1.0, 2.0))


def unravelled(place: int) -> list[np.ndarray]:
    numbers = np.arange(place * BLOCK, (place + 1) * BLOCK)
    return [1.0 + 0.1 * index for index in np.unravel_index(numbers, COUNTS)]


def engine(kind: type) -> object:
    made = kind(4, rng=np.random.default_rng(1))
    return lambda _: 1.0 + made.random(BLOCK)


def drawn(_: int) -> np.ndarray:
    return 1.0 + np.random.default_rng(1).random((4, BLOCK))


SPACES = {
    "grid": grid({name: range(1, count + 1) for name, count in zip("abcd", COUNTS, strict=True)}),
    "sobol": sobol(RANGES, 10**9),
    "latin": latin(RANGES, 10**9),
    "random": random(RANGES, 10**9),
}
PLAIN = {
    "grid": ("numpy.unravel_index", unravelled),
    "sobol": ("scipy's Sobol", engine(qmc.Sobol)),
    "latin": ("scipy's LatinHypercube", engine(qmc.LatinHypercube)),
    "random": ("numpy's generator", drawn),
}


@pytest.mark.parametrize("kind", SPACES)
def test_points_of_a_space(capsys, kind):
    piece, (name, plain) = SPACES[kind].piece(0, 10**4 * BLOCK), PLAIN[kind]
    ours, theirs = (
        _each(make) for make in (lambda n: piece.points(n * BLOCK, (n + 1) * BLOCK), plain)
    )

    with capsys.disabled():
        print(
            f"\n{kind}: {ours:.1f} ns a point of four parameters, {name}: {theirs:.1f} ns, "
            f"ratio {ours / theirs:.2f}"
        )


def _each(make) -> float:
    """Nanoseconds a point, of blocks that nobody has made before."""
    places = count()

    def blocks():
        for _ in range(BLOCKS):
            make(next(places))

    return least(blocks, rounds=5) * 1e9 / BLOCK / BLOCKS
