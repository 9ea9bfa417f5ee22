"""A number estimated from measurements, with its error if known."""

import math

import numpy as np
from numpy.typing import ArrayLike

from headway.errors import MeasurementError
from headway.kinds import FloatArray, check_count, check_not_negative, check_positive
from headway.loggp.measuring.sizes import check_range
from headway.numerals import digits
from headway.records import dataclass

CONFIDENCE = 0.95
"""Of the intervals of all estimates: the usual level."""


@dataclass(frozen=True)
class Estimate:
    """A value and, if measurements were repeated, its error.

    Parameters
    ----------
    value
        Best estimate.
    standard_error
        Standard error; ``None`` without repeats.
    interval
        95% confidence interval, cut off at zero; ``None`` without repeats.

    Examples
    --------
    >>> Estimate(2.2, 0.1, (2.0, 2.4))
    2.2 (2 to 2.4)
    """

    value: float
    standard_error: float | None = None
    interval: tuple[float, float] | None = None

    def __repr__(self) -> str:
        """Show the value, and the interval if there is one."""
        if self.interval is None:
            return digits(self.value)
        return f"{digits(self.value)} ({digits(self.interval[0])} to {digits(self.interval[1])})"


def estimate(value: float, variance: float, freedom: float) -> Estimate:
    """Add an interval by Student's t; none without degrees of freedom.

    Examples
    --------
    >>> estimate(1.0, 0.0, 0)
    1
    >>> estimate(10.0, 1.0, 10)
    10 (7.77186 to 12.2281)
    """
    if freedom < 1:
        return Estimate(value)
    from scipy.special import stdtrit

    error = math.sqrt(variance)
    half = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * error
    return Estimate(value, error, (max(value - half, 0.0), value + half))


def weighted_line(x: FloatArray, y: FloatArray, weight: FloatArray) -> tuple[float, float, float]:
    """Fit y = a + b x by weighted least squares; also the variance of b per unit weight.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_line(np.array([0.0, 2.0]), np.array([1.0, 5.0]), np.array([1.0, 1.0]))
    (1.0, 2.0, 0.5)
    """
    total = weight.sum()
    mean_x, mean_y = (weight * x).sum() / total, (weight * y).sum() / total
    spread = (weight * (x - mean_x) ** 2).sum()
    if spread <= 0:
        msg = "all measurements are at one size or burst; a line needs two"
        raise MeasurementError(msg)
    slope = (weight * (x - mean_x) * (y - mean_y)).sum() / spread
    return float(mean_y - slope * mean_x), float(slope), float(1 / spread)


def pooled_deviation(groups: list[FloatArray]) -> tuple[float, int]:
    """Relative standard deviation of repeats about their means, and its degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> pooled_deviation([np.array([1.0, 1.0]), np.array([2.0])])
    (0.0, 1)
    """
    freedom = sum(group.size - 1 for group in groups)
    if freedom == 0:
        return 0.0, 0
    squares = sum(float((((g / g.mean()) - 1.0) ** 2).sum()) for g in groups)
    return float(np.sqrt(squares / freedom)), freedom


@dataclass(frozen=True)
class Repeated:
    """Number of repeats, if a row is the mean of several, and their standard deviation.

    Parameters
    ----------
    counts
        Number of repeats in each row, shape (n,); 1 by default.
    deviation
        Standard deviation of one measurement by row [s]; estimated from the rows by default.

    Examples
    --------
    >>> Repeated(counts=[10, 10], deviation=[1e-7, 2e-7]).counts
    [10, 10]
    """

    counts: ArrayLike | None = None
    deviation: ArrayLike | None = None

    def scatter(self, cost: FloatArray) -> tuple[FloatArray, float, float]:
        """Repeats of each cost; pooled relative deviation, if given; degrees of freedom."""
        counts = np.ones(cost.shape) if self.counts is None else np.asarray(self.counts, float)
        check_count("repeats", counts)
        if self.deviation is None:
            return counts, 0.0, 0.0
        relative = np.asarray(self.deviation, float) / cost
        check_range("sd over cost", np.maximum(relative, 1e-9), "")
        freedom = float((counts - 1).sum())
        weights = counts - 1 if freedom else None
        return counts, float(np.sqrt(np.average(relative**2, weights=weights))), freedom


ONCE = Repeated()
"""Each row is one measurement."""


def repeats_needed(deviation: float, accuracy: float = 0.05) -> int:
    """Number of repeats needed for a 95% interval of a mean within an accuracy.

    The least n of 2 or more with t(n - 1) deviation / sqrt(n) <= accuracy.

    Parameters
    ----------
    deviation
        Relative standard deviation of one measurement, 0 or more.
    accuracy
        Half-width of the interval relative to the mean, positive.

    Examples
    --------
    >>> repeats_needed(0.02), repeats_needed(0.2)
    (3, 64)

    References
    ----------
    Culler et al. 1996, section "Small-message empirical results" (5% and 95%).
    """
    check_not_negative("deviation", deviation)
    check_positive("accuracy", accuracy)
    from scipy.special import stdtrit

    count = 2
    while stdtrit(count - 1, (1 + CONFIDENCE) / 2) * deviation / math.sqrt(count) > accuracy:
        # the number for a normal distribution is a lower bound that saves most steps
        least = math.ceil((1.9599 * deviation / accuracy) ** 2)
        count = max(count + 1, least)
    return count
