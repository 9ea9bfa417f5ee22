"""Series of times by message size, and the piecewise lines through them.

Method: breaks by exact dynamic programming on relative residuals, judged against the spread
of repeats and a tolerance below which a misfit is not called a change of protocol; joint
over several series; parameters never negative; intervals by resampling the repeats.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
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

TOLERANCE = 0.05
"""Relative misfit that is not yet a change of protocol."""

PENALTY = 8.0
"""Cost of a break, times the logarithm of the number of sizes."""

_SMALLEST, _LARGEST = 1e-30, 1e18  # of sizes, times and errors
_TO_DEVIATION = 1.4826  # median absolute deviation to standard deviation, normal law
_MEDIAN_VARIANCE = math.pi / 2  # variance of a median over that of a mean, normal law


@dataclass(frozen=True)
class SizeSeries:
    """Times measured at several message sizes, repeats included.

    Parameters
    ----------
    name
        What was timed, such as ``gap``.
    size
        Message sizes [B], rising whole numbers of 1 or more, shape (n,).
    time
        Times [s], positive, shape (n, repeats); NaN where a size has fewer repeats. Where
        ``error`` or ``counts`` are given, one time a size, in which repeats are summed up.
    error
        Standard error of each time [s], positive, shape (n,): lines are weighted by 1/error^2.
    counts
        How many repeats each time sums up, shape (n,); without ``error`` they are the weights.
    notes
        What is to be known of these times, a sentence each.
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
        """How many times each size was measured, shape (n,)."""
        return (~np.isnan(self.time)).sum(axis=1) if self.counts is None else self.counts

    @property
    def is_repeated(self) -> bool:
        """Whether the scatter of each time is known: by repeats, or as it is told."""
        return self.error is not None or (self.counts is None and bool(self.repeats.min() > 1))

    @property
    def deviation(self) -> float:
        """Relative standard deviation of one measurement, outliers apart.

        From the differences of successive repeats; without repeats from how far each
        point lies off the line through its neighbours.
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
        """Relative standard error of each time, shape (n,): told, by counts, or one for all."""
        if self.error is not None:
            return self.error / self.median
        if self.counts is not None:
            return self.deviation * np.sqrt(np.median(self.counts) / self.counts)
        return np.full(self.size.shape, self.median_deviation)

    def scale(self, times: Amount) -> Amount:
        """What residuals of times are held against: their errors, or the times themselves.

        Parameters
        ----------
        times
            Of this series or drawn anew [s], shape (..., n).
        """
        if self.error is not None:
            return np.broadcast_to(self.error, times.shape)
        return times if self.counts is None else times / np.sqrt(self.counts)


def check_range(name: str, values: FloatArray, unit: str) -> None:
    """Refuse what no measurement gives, and whose squares would overflow.

    Parameters
    ----------
    name, unit
        What the values are, for messages, and in which unit.
    values
        Any, those of 0 left aside by the caller.

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
        msg = f"{name} is {wrong[0]:g} {unit}; it must be from {_SMALLEST:g} to {_LARGEST:g} {unit}"
        raise MeasurementError(msg)


def summed_up(
    name: str, size: ArrayLike, time: ArrayLike, error: ArrayLike, counts: ArrayLike
) -> SizeSeries:
    """Make a series of times in which repeats are summed up, one or several a size.

    Several of one size are taken together: their mean by counts.

    Parameters
    ----------
    name
        What was timed.
    size, time
        Message size [B] and mean time [s] of each entry.
    error
        Standard error of each time [s]; NaN in all where it is not known.
    counts
        How many repeats each entry sums up, 1 or more.

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
        msg = f"{name}: sizes, times, errors and counts are not of one length"
        raise MeasurementError(msg)
    sizes, times, errors, numbers = columns
    distinct, place = np.unique(sizes, return_inverse=True)
    total = np.asarray(np.bincount(place, numbers), float)
    mean = np.bincount(place, numbers * times) / total
    share = numbers / total[place] * errors
    with np.errstate(over="ignore"):
        known = np.sqrt(np.bincount(place, share**2))
    told = None if np.isnan(errors).any() else known
    return SizeSeries(name, distinct, mean[:, None], told, total)


def size_series(name: str, size: ArrayLike, time: ArrayLike) -> SizeSeries:
    """Make a series from measurements in any order, one a row; repeats are further rows.

    Parameters
    ----------
    name
        What was timed.
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
    """Turn pinned break sizes into the first point after each.

    Raises
    ------
    InvalidParameter
        Where a pinned break leaves too few sizes on a side.
    """
    places = tuple(int(place) for place in np.searchsorted(size, sorted(pinned), side="right"))
    for low, high in pairwise((0, *places, size.size)):
        if high - low < LEAST_POINTS:
            shown = ", ".join(f"{value:g}" for value in sorted(pinned))
            msg = (
                f"pinned breaks {shown} leave {high - low} sizes on one line; measure at least "
                f"{LEAST_POINTS} sizes on each side"
            )
            raise InvalidParameter(msg)
    return places


def _same_sizes(series: Sequence[SizeSeries]) -> FloatArray:
    """Give the sizes that all series have in common, or refuse series that differ."""
    if not series:
        msg = "no series given; a fit needs at least one"
        raise MeasurementError(msg)
    first = series[0]
    for other in series[1:]:
        if not np.array_equal(first.size, other.size):
            msg = f"{first.name} and {other.name} were measured at different sizes; fit them apart"
            raise MeasurementError(msg)
    return first.size


def find_breaks(
    series: Sequence[SizeSeries],
    pinned: Sequence[float] = (),
    tolerance: float = TOLERANCE,
    penalty: float = PENALTY,
) -> tuple[int, ...]:
    """Find where the lines through several series break, all at the same sizes.

    Least sum over series and points of squared relative residuals over sigma^2 + tau^2,
    plus c ln n for each break; sigma is the deviation of the series' medians.

    Parameters
    ----------
    series
        One or more, measured at the same n sizes.
    pinned
        Sizes known to be the last before a break [B], such as an eager limit.
    tolerance
        Relative misfit tau that is not yet a change, 0 or more.
    penalty
        Factor c, 0 or more.

    Returns
    -------
    First point of each line but the first.

    Raises
    ------
    MeasurementError
        For no series, or series of different sizes.
    InvalidParameter
        For pinned breaks that leave fewer than three sizes on a side.

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
        # with neither noise nor tolerance any misfit counts, down to rounding
        scale = one.median * np.sqrt(np.maximum(variance, 1e-24))
        costs = costs + line_costs(size, one.median, scale)
    return breaks_between(costs, penalty * math.log(size.size), places)


def break_places(
    series: Sequence[SizeSeries],
    breaks: tuple[int, ...],
    samples: Sequence[FloatArray],
    scales: Sequence[FloatArray],
) -> list[Amount]:
    """Place each break anew in every resampled series, its neighbours held.

    Parameters
    ----------
    series, breaks
        The series and the breaks found in them.
    samples, scales
        Resampled medians of each series and what their residuals are held against [s], shape
        (samples, n).

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
    """What makes scales of different series comparable: their relative size."""
    return float(np.median(one.scale(one.median) / one.median))
