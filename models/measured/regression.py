"""Straight lines through measured points, and how well a prediction fits them."""

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.numerals import digits
from headway.records import dataclass

FEWEST_POINTS = 3


@dataclass(frozen=True)
class RegressionLine:
    """A least-squares line y = intercept + slope x.

    Parameters
    ----------
    slope, intercept
        Coefficients, in units of y per x and of y.
    r_squared
        Share of the variance of y that the line explains; 1 for a y without variance.
    slope_error, intercept_error
        Their standard errors, from the residuals on n - 2 degrees of freedom.
    """

    slope: float
    intercept: float
    r_squared: float
    slope_error: float
    intercept_error: float


def regression_line(x: FloatArray, y: FloatArray, source: str = "data") -> RegressionLine:
    """Fit a straight line by least squares.

    slope = sum (x - mean x)(y - mean y) / sum (x - mean x)**2

    Parameters
    ----------
    x, y
        Finite values of n points.
    source
        What the points are, for the message.

    Raises
    ------
    MeasurementError
        For fewer than three points, or points that all have the same x.

    Examples
    --------
    >>> line = regression_line(np.array([0.0, 1, 2]), np.array([1.0, 3, 5]))
    >>> line.slope, line.intercept, line.r_squared
    (2.0, 1.0, 1.0)

    References
    ----------
    Jain, *The Art of Computer Systems Performance Analysis*, 1991, chapter 14.
    """
    if len(x) < FEWEST_POINTS:
        msg = (
            f"{source}: a regression needs at least {FEWEST_POINTS} points; this range has {len(x)}"
        )
        raise MeasurementError(msg)
    across, up = x - x.mean(), y - y.mean()
    spread = float(across @ across)
    if spread == 0:
        msg = f"{source}: a regression needs different loads; all are {digits(x[0])}"
        raise MeasurementError(msg)
    slope = float(across @ up) / spread
    intercept = float(y.mean() - slope * x.mean())
    residual = up - slope * across
    variance = float(residual @ residual) / max(len(x) - 2, 1)
    return RegressionLine(
        slope,
        intercept,
        r_squared(y, intercept + slope * x),
        float(np.sqrt(variance / spread)),
        float(np.sqrt(variance * (1 / len(x) + x.mean() ** 2 / spread))),
    )


def r_squared(measured: FloatArray, predicted: FloatArray) -> float:
    """Share of the measured variance that a prediction explains: 1 - SSE / SST.

    Negative if the mean of the measurements predicts better.

    Examples
    --------
    >>> r_squared(np.array([1.0, 2, 3]), np.array([1.0, 2, 3]))
    1.0
    """
    missed = float(np.sum((measured - predicted) ** 2))
    total = float(np.sum((measured - measured.mean()) ** 2))
    if total == 0:
        return 1.0 if missed == 0 else -np.inf
    return 1 - missed / total
