"""Sizes of batches in which jobs arrive: constant, geometric, or given by a table.

Batches come at the rate lambda / E[X], where lambda is the rate of jobs and X the size of a batch.

Source: Chaudhry and Templeton, *A First Course in Bulk Queues*, 1983, chapter 3.
"""

from math import fsum

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import Amount, FloatArray, check_domain
from headway.numerals import digits
from headway.records import dataclass

LARGEST = 1_000_000
"""The largest size of a batch, and the largest mean."""

_FULL = 1e-9  # probabilities that miss 1 by less than this sum to 1


@dataclass(frozen=True)
class BatchSizes:
    """The number of jobs that arrive together.

    Parameters
    ----------
    table
        Sizes with their probabilities, in order of size.
    constant
        The size of every batch, a whole number of 1 or more, instead of a table.
    geometric
        Mean of geometric sizes, P(X = k) = (1 - q) q**(k - 1), 1 or more, instead of both.

    Raises
    ------
    InvalidParameter
        For a size that is not a whole number from 1, a mean below 1, and probabilities that are
        negative or do not sum to 1.

    Examples
    --------
    >>> BatchSizes(((1, 0.25), (2, 0.5), (3, 0.25))).mean, BatchSizes(geometric=2.0).second
    (2.0, 6.0)
    """

    table: tuple[tuple[int, float], ...] = ()
    constant: Amount | None = None
    geometric: Amount | None = None

    def __post_init__(self) -> None:
        if self.constant is not None:
            check_domain("batch", self.constant, _is_size, "a whole number from 1 to 1,000,000")
        elif self.geometric is not None:
            check_domain("mean of a batch", self.geometric, _is_mean, "from 1 to 1,000,000")
        else:
            _check_table(self.table)

    @property
    def mean(self) -> Amount:
        """Mean size E[X]."""
        if self.constant is not None:
            return self.constant
        if self.geometric is not None:
            return self.geometric
        return fsum(size * chance for size, chance in self.table)

    @property
    def second(self) -> Amount:
        """Second moment E[X**2]; for geometric sizes 2 E[X]**2 - E[X]."""
        if self.constant is not None:
            return self.constant * self.constant
        if self.geometric is not None:
            return 2 * self.geometric * self.geometric - self.geometric
        return fsum(size * size * chance for size, chance in self.table)

    @property
    def more(self) -> float:
        """Probability that a further job comes in the batch, for geometric sizes; otherwise 0."""
        return 0.0 if self.geometric is None else float(1 - 1 / np.asarray(self.geometric, float))

    @property
    def rows(self) -> tuple[tuple[int, float], ...]:
        """Sizes with their probabilities; empty for geometric sizes."""
        if self.constant is not None:
            return ((int(np.asarray(self.constant)), 1.0),)
        return self.table


def _is_size(size: FloatArray) -> NDArray[np.bool_]:
    whole: NDArray[np.bool_] = (size >= 1) & (size <= LARGEST) & (size == np.round(size))
    return whole


def _is_mean(mean: FloatArray) -> NDArray[np.bool_]:
    within: NDArray[np.bool_] = (mean >= 1) & (mean <= LARGEST)
    return within


def _check_table(table: tuple[tuple[int, float], ...]) -> None:
    for size, chance in table:
        check_domain("size of a batch", size, _is_size, "a whole number from 1 to 1,000,000")
        check_domain(f"probability of {size}", chance, lambda p: (p >= 0) & (p <= 1), "from 0 to 1")
    total = fsum(chance for _, chance in table)
    if not abs(total - 1) <= _FULL:
        msg = f"probabilities of the sizes of a batch sum to {digits(total)}; make them sum to 1"
        raise InvalidParameter(msg)
