"""Service times in exponential phases (phase-type laws).

Source: Neuts, *Matrix-Geometric Solutions in Stochastic Models*, 1981, chapters 2 and 3 (numbers at
a server of such times); Tijms, *Stochastic Models*, 1994, appendix B (steady times by moments).
"""

from collections.abc import Sequence
from functools import cached_property
from math import ceil, sqrt

import numpy as np

from headway.kinds import FloatArray
from headway.records import dataclass

STAGES = 10
"""Most phases; a constant time is represented with a coefficient of variation of 32%."""

IN_PHASES = "services in a loop that vary by less than 32% are approximated as varying by 32%"


@dataclass(frozen=True, eq=False)
class Phases:
    """A time that starts in one phase and goes through others until it ends.

    Parameters
    ----------
    start
        Probability of starting in each phase, shape (phases,).
    moves
        Rates from phase to phase [1/s], with minus the total rate out of each on the diagonal.

    Examples
    --------
    >>> round(Phases(np.ones(1), np.array([[-0.5]])).mean, 12)
    2.0
    """

    start: FloatArray
    moves: FloatArray

    @property
    def ends(self) -> FloatArray:
        """Rate at which the time ends in each phase [1/s]."""
        return np.asarray(np.maximum(-self.moves.sum(axis=1), 0.0))

    @cached_property
    def mean(self) -> float:
        """Its mean [s]."""
        return float(np.linalg.solve(-self.moves.T, self.start).sum())

    def slower(self, factor: float) -> "Phases":
        """The time multiplied by a factor."""
        return Phases(self.start, self.moves / factor)

    def again(self, chance: float) -> "Phases":
        """The time that starts again with a probability at each end."""
        return Phases(self.start, self.moves + chance * np.outer(self.ends, self.start))


def in_phases(mean: float, scv: float, most: int = STAGES) -> Phases:
    """A phase-type time with this mean [s] and scv, with a limited number of phases.

    Several stages of one rate for scvs below 1; the first three moments of a gamma law above 1.

    Examples
    --------
    >>> half = in_phases(2.0, 0.5)
    >>> len(half.start), round(half.mean, 12)
    (2, 2.0)
    """
    mean = max(mean, _LEAST)
    if scv > 1:
        return _hyperexponential(mean, scv)
    scv = max(scv, 1 / most)
    count = ceil(1 / scv - _ROUNDING)
    skip = (count * scv - sqrt(max(count * (1 + scv) - count**2 * scv, 0.0))) / (1 + scv)
    start = np.zeros(count)
    start[0] = 1 - skip
    start[min(1, count - 1)] += skip
    speed = (count - skip) / mean
    return Phases(start, speed * (np.eye(count, k=1) - np.eye(count)))


_ROUNDING = 1e-9  # so that 1 / scv of k phases is k in spite of rounding
_LEAST = 1e-15  # [s], times up to this count as 0


def _hyperexponential(mean: float, scv: float) -> Phases:
    """One of two exponential times."""
    second, third = (1 + scv) / 2, (1 + scv) * (1 + 2 * scv) / 6
    slope, product = third - second, third - second**2
    root = sqrt(slope**2 - 4 * (second - 1) * product)
    long, short = ((slope + sign * root) / (2 * (second - 1)) for sign in (1, -1))
    share = (1 - short) / (long - short)
    return one_of(np.array([long, short]) * mean, np.array([share, 1 - share]))


def one_of(means: FloatArray, shares: FloatArray) -> Phases:
    """An exponential time with one of several means [s], at random.

    Examples
    --------
    >>> one_of(np.array([1.0, 3.0]), np.array([0.5, 0.5])).mean
    2.0
    """
    return Phases(shares / shares.sum(), np.diag(-1 / means))


def mixture_of(services: Sequence[Phases], shares: Sequence[float]) -> Phases:
    """One of several phase-type times, at random.

    Examples
    --------
    >>> round(mixture_of([in_phases(1.0, 0.5), in_phases(3.0, 1.0)], [0.5, 0.5]).mean, 12)
    2.0
    """
    from scipy.linalg import block_diag

    total = sum(shares)
    starts = [share / total * one.start for share, one in zip(shares, services, strict=True)]
    return Phases(np.concatenate(starts), block_diag(*(one.moves for one in services)))
