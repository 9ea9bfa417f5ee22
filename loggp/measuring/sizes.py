"""Series of times by message size, and the piecewise lines through them.

Method: breaks by exact dynamic programming on relative residuals, compared with the spread of
repeats and a tolerance below which a misfit does not count as a change of protocol; joint over
several series; parameters never negative; intervals by resampling the repeats.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from headway.errors import InvalidParameter, MeasurementError
from headway.kinds import Amount, FloatArray, check_count, check_not_negative, check_positive
from headway.loggp.measuring.breaks import (
    LEAST_POINTS,
    best_single_break,
    breaks_between,
    line_costs,
)
from headway.numerals import counted, data_size, digits
from headway.records import dataclass

TOLERANCE = 0.05
"""Relative misfit below which there is no change of protocol. Chosen: of the made-up curves of
`tests/loggp/test_loggp_sizes.py`, whose times grow by 40% or more at a break, all breaks are found
up to this; with 0.1 small ones are lost."""

PENALTY = 8.0
"""Cost of a break, times the logarithm of the number of sizes, as in a Bayesian information
criterion. Chosen: of the same curves breaks are right in number and place in all with 1 to 8, in
96% or more with 16; with 24 small ones are lost."""

_SMALLEST, _LARGEST = 1e-30, 1e18  # of sizes, times and errors: squares beyond would overflow
_TO_DEVIATION = 1.4826  # median absolute deviation to standard deviation, normal distribution
_MEDIAN_VARIANCE = math.pi / 2  # variance of a median over that of a mean, normal distribution


@dataclass(frozen=True)
class SizeSeries:
    """Times measured at several message sizes, with repeats.

    Parameters
    ----------
    name
        Name of the timed quantity, such as ``gap``.
    size
        Message sizes [B], rising whole numbers of 1 or more, shape (n,).
    time
        Times [s], positive, shape (n, repeats); NaN for sizes with fewer repeats. If ``error`` or
        ``counts`` are given, one time per size, as a summary of repeats.
    error
        Standard error of each time [s], positive, shape (n,): lines are weighted by 1/error^2.
    counts
        Number of repeats in each time, shape (n,); without ``error`` they are the weights.
    notes
        Notes on these times, a sentence each.
    """

    name: str
    size: FloatArray
    time: FloatArray
    error: FloatArray | None = None
    counts: FloatArray | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_count(f"size of {self.name}", self.size)
        check_positive(f"time of {self.name}", self.time[~np.isnan(self.time)])
        check_range(f"size of {self.name}", self.size, "B")
        check_range(f"time of {self.name}", self.time[~np.isnan(self.time)], "s")
        if self.error is not None:
            check_positive(f"standard error of {self.name}", self.error)
            check_range(f"standard error of {self.name}", self.error, "s")
        if self.size.size < LEAST_POINTS:
            msg = f"{self.name} has {self.size.size} sizes; a line needs at least {LEAST_POINTS}"
            raise MeasurementError(msg)

    @property
    def median(self) -> FloatArray:
        """Median of the repeats at each size [s]."""
        return np.asarray(np.nanmedian(self.time, axis=1))

    @property
    def repeats(self) -> Amount:
        """Number of measurements at each size, shape (n,)."""
        return (~np.isnan(self.time)).sum(axis=1) if self.counts is None else self.counts

    @property
    def is_repeated(self) -> bool:
        """Whether the scatter of each time is known, from repeats or as given."""
        return self.error is not None or (self.counts is None and bool(self.repeats.min() > 1))

    @property
    def deviation(self) -> float:
        """Relative standard deviation of one measurement, without outliers.

        From the differences of successive repeats; without repeats, from the distance of each point
        to the line through its neighbours.
        """
        if self.error is not None:
            return float(np.median(self.error * np.sqrt(self.repeats) / self.median))
        if self.time.shape[1] > 1:
            relative = self.time / self.median[:, None]
            apart = np.diff(relative, axis=1) / math.sqrt(2)
            return float(_TO_DEVIATION * np.nanmedian(np.abs(apart)))
        size, time = self.size, self.median
        share = (size[1:-1] - size[:-2]) / (size[2:] - size[:-2])
        between = (1 - share) * time[:-2] + share * time[2:]
        spread = np.sqrt(time[1:-1] ** 2 + ((1 - share) * time[:-2]) ** 2 + (share * time[2:]) ** 2)
        return float(_TO_DEVIATION * np.median(np.abs(time[1:-1] - between) / spread))

    @property
    def median_deviation(self) -> float:
        """Relative standard deviation of the medians."""
        if self.counts is not None:
            return float(np.median(self.relative_error))
        count = float(np.median(self.repeats))
        inflation = _MEDIAN_VARIANCE / count if count > 2 else 1 / count
        return self.deviation * math.sqrt(inflation)

    @property
    def relative_error(self) -> FloatArray:
        """Relative standard error of each time, shape (n,): given, from counts, or one for all."""
        if self.error is not None:
            return self.error / self.median
        if self.counts is not None:
            return self.deviation * np.sqrt(np.median(self.counts) / self.counts)
        return np.full(self.size.shape, self.median_deviation)

    def scale(self, times: Amount) -> Amount:
        """Scales of the residuals of times: their errors, or the times themselves.

        Parameters
        ----------
        times
            Times of this series or resampled ones [s], shape (..., n).
        """
        if self.error is not None:
            return np.broadcast_to(self.error, times.shape)
        return times if self.counts is None else times / np.sqrt(self.counts)


def check_range(name: str, values: FloatArray, unit: str) -> None:
    """Refuse implausible values, whose squares would overflow.

    Parameters
    ----------
    name, unit
        Name and unit of the values, for messages.
    values
        The values, without zeros.

    Raises
    ------
    MeasurementError
        For the first outside 1e-30 to 1e18.

    Examples
    --------
    >>> check_range("time", np.array([1e300]), "s")
    Traceback (most recent call last):
        ...
    headway.errors.MeasurementError: time is 1e+300 s; it must be from 1e-30 to 1e+18 s
    """
    wrong = values[(values < _SMALLEST) | (values > _LARGEST)]
    if wrong.size:
        msg = (
            f"{name} is {digits(wrong[0])} {unit}; it must be from {digits(_SMALLEST)} "
            f"to {digits(_LARGEST)} {unit}"
        )
        raise MeasurementError(msg)


def summed_up(
    name: str, size: ArrayLike, time: ArrayLike, error: ArrayLike, counts: ArrayLike
) -> SizeSeries:
    """Make a series of times that summarise repeats, one or several for each size.

    Several of one size are combined into their mean, weighted by counts.

    Parameters
    ----------
    name
        Name of the timed quantity.
    size, time
        Message size [B] and mean time [s] of each entry.
    error
        Standard error of each time [s]; all NaN if unknown.
    counts
        Number of repeats in each entry, 1 or more.

    Raises
    ------
    MeasurementError
        For lengths that differ, or fewer than three different sizes.

    Examples
    --------
    >>> one = summed_up("gap", [1, 2, 4], [1.0, 2.0, 4.0], [0.1, 0.1, 0.2], [5, 5, 5])
    >>> one.relative_error.tolist(), one.repeats.tolist()
    ([0.1, 0.05, 0.05], [5.0, 5.0, 5.0])
    """
    columns = [np.asarray(column, float).ravel() for column in (size, time, error, counts)]
    if len({column.size for column in columns}) > 1:
        msg = (
            f"{name}: sizes, times, errors and counts differ in length; give one of each per entry"
        )
        raise MeasurementError(msg)
    sizes, times, errors, numbers = columns
    distinct, place = np.unique(sizes, return_inverse=True)
    total = np.asarray(np.bincount(place, numbers), float)
    mean = np.bincount(place, numbers * times) / total
    share = numbers / total[place] * errors
    with np.errstate(over="ignore"):
        known = np.sqrt(np.bincount(place, share**2))
    given = None if np.isnan(errors).any() else known
    return SizeSeries(name, distinct, mean[:, None], given, total)


def size_series(name: str, size: ArrayLike, time: ArrayLike) -> SizeSeries:
    """Make a series from measurements in any order, one per row; repeats are additional rows.

    Parameters
    ----------
    name
        Name of the timed quantity.
    size, time
        Message size [B] and time [s] of each measurement, same length.

    Raises
    ------
    MeasurementError
        For lengths that differ, or fewer than three different sizes.

    Examples
    --------
    >>> size_series("gap", [1, 2, 1, 4], [1.0, 2.0, 1.2, 4.0]).repeats.tolist()
    [2, 1, 1]
    """
    sizes, times = np.asarray(size, float).ravel(), np.asarray(time, float).ravel()
    if sizes.size != times.size:
        msg = f"{name} has {sizes.size} sizes but {times.size} times; give one time for each size"
        raise MeasurementError(msg)
    check_positive(f"time of {name}", times)
    distinct, place = np.unique(sizes, return_inverse=True)
    counts = np.bincount(place, minlength=distinct.size)
    table = np.full((distinct.size, int(counts.max(initial=0))), np.nan)
    order = np.argsort(place, kind="stable")
    column = np.arange(sizes.size) - np.repeat(np.cumsum(counts) - counts, counts)
    table[place[order], column] = times[order]
    return SizeSeries(name, distinct, table)


def pinned_places(size: FloatArray, pinned: Sequence[float]) -> tuple[int, ...]:
    """Convert pinned break sizes to the first point after each.

    Raises
    ------
    InvalidParameter
        If a pinned break has too few sizes on a side.
    """
    places = tuple(int(place) for place in np.searchsorted(size, sorted(pinned), side="right"))
    for low, high in pairwise((0, *places, size.size)):
        if high - low < LEAST_POINTS:
            shown = ", ".join(map(data_size, sorted(pinned)))
            few = counted(high - low, "size")
            msg = (
                f"pinned breaks {shown} leave only {few} on one line; measure at least "
                f"{LEAST_POINTS} sizes on each side"
            )
            raise InvalidParameter(msg)
    return places


def _same_sizes(series: Sequence[SizeSeries]) -> FloatArray:
    """Return the sizes that all series have in common, or refuse series that differ."""
    if not series:
        msg = "no series given; a fit needs at least one"
        raise MeasurementError(msg)
    first = series[0]
    for other in series[1:]:
        if not np.array_equal(first.size, other.size):
            msg = (
                f"{first.name} and {other.name} were measured at different sizes; fit them "
                "separately"
            )
            raise MeasurementError(msg)
    return first.size


def find_breaks(
    series: Sequence[SizeSeries],
    pinned: Sequence[float] = (),
    tolerance: float = TOLERANCE,
    penalty: float = PENALTY,
) -> tuple[int, ...]:
    """Find the breaks of the lines through several series, all at the same sizes.

    Minimises the sum over series and points of squared relative residuals over sigma^2 + tau^2,
    plus c ln n for each break; sigma is the deviation of the series' medians.

    Parameters
    ----------
    series
        One or more, measured at the same n sizes.
    pinned
        Last sizes before known breaks [B], such as an eager limit.
    tolerance
        Relative misfit tau below which there is no change, 0 or more.
    penalty
        Factor c, 0 or more.

    Returns
    -------
    First point of each line except the first.

    Raises
    ------
    MeasurementError
        For no series, or series of different sizes.
    InvalidParameter
        For pinned breaks with fewer than three sizes on a side.

    Examples
    --------
    >>> import numpy as np
    >>> size = 2.0 ** np.arange(12)
    >>> time = np.where(size <= 128, 10 + size / 50, 40 + size / 100)
    >>> find_breaks([size_series("ping-pong", size, time)])
    (8,)
    """
    check_not_negative("tolerance", tolerance)
    check_not_negative("penalty", penalty)
    size = _same_sizes(series)
    places = pinned_places(size, pinned)
    costs = np.zeros((size.size, size.size))
    for one in series:
        variance = one.relative_error**2 + tolerance**2
        # without noise and tolerance, every misfit counts, down to rounding
        scale = one.median * np.sqrt(np.maximum(variance, 1e-24))
        costs = costs + line_costs(size, one.median, scale)
    return breaks_between(costs, penalty * math.log(size.size), places)


def break_places(
    series: Sequence[SizeSeries],
    breaks: tuple[int, ...],
    samples: Sequence[FloatArray],
    scales: Sequence[FloatArray],
) -> list[Amount]:
    """Place each break again in every resampled series, with its neighbours fixed.

    Parameters
    ----------
    series, breaks
        The series and their breaks.
    samples, scales
        Resampled medians of each series and the scales of their residuals [s], shape (samples, n).

    Returns
    -------
    For each break its first point after it, shape (samples,).
    """
    size = _same_sizes(series)
    edges = (0, *breaks, size.size)
    drawn = np.stack(samples)
    pairs = zip(series, scales, strict=True)
    compared = np.stack([scale / _typical(one) for one, scale in pairs])
    return [
        low + best_single_break(size[low:high], drawn[:, :, low:high], compared[:, :, low:high])
        for low, high in zip(edges[:-2], edges[2:], strict=True)
    ]


def _typical(one: SizeSeries) -> float:
    """Factors that make the scales of different series comparable."""
    return float(np.median(one.scale(one.median) / one.median))
