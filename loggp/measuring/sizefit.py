"""Fit lines to times by message size, with intervals.

A parameter that the data do not determine is reported as such, never as a negative number.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import Amount, FloatArray, Number, check_count
from headway.loggp.measuring.sizes import PENALTY, TOLERANCE, SizeSeries, break_places, find_breaks
from headway.numerals import data_size, digits
from headway.records import dataclass

SAMPLES = 200
"""Bootstrap samples of the repeats. Chosen: 2.5% are five of them."""

_INTERVAL = (2.5, 97.5)  # percentiles of the 95% interval
_ROUNDING = 1e-12  # relative, of parameters: less counts as 0
Drawn: TypeAlias = tuple[FloatArray, FloatArray]
"""Times and the scales of their residuals [s], as measured (first) and resampled."""

_CERTAIN = 1e6  # degrees of freedom of an error given without a number of repeats
_LEAST = 0.01  # of a time: resampled times at least, as a normal law has no lower limit
_FALLING = 4.0  # standard deviations by which times along a line must fall to be refused: chosen


@dataclass(frozen=True)
class LineParameter:
    """Intercept or slope of a line, never negative.

    Parameters
    ----------
    value
        Least-squares value; 0 where the data would have it negative.
    interval
        95% interval at fixed breaks; ``None`` without repeats.
    determined
        Whether the data distinguish it from zero. If not, only an upper limit is known.

    Examples
    --------
    >>> LineParameter(0.0, (0.0, 2e-6), determined=False)
    not determined by this data (at most 2e-06)
    """

    value: float
    interval: tuple[float, float] | None
    determined: bool

    def __repr__(self) -> str:
        """Show value and interval, or that the data do not determine it."""
        if self.determined:
            ends = [digits(end) for end in self.interval or ()]
            return f"{digits(self.value)} ({' to '.join(ends)})" if ends else digits(self.value)
        limit = "" if self.interval is None else f" (at most {digits(self.interval[1])})"
        return f"not determined by this data{limit}"


@dataclass(frozen=True)
class SizeLine:
    """A straight line t = intercept + slope s through part of a series.

    Parameters
    ----------
    first_size, last_size
        Smallest and largest measured size on it [B].
    intercept
        Time extrapolated to zero bytes [s].
    slope
        Time per byte [s/B].
    """

    first_size: float
    last_size: float
    intercept: LineParameter
    slope: LineParameter

    def time(self, size: Number) -> Amount:
        """Time at a size on the line [s]; also at an array of sizes."""
        return self.intercept.value + self.slope.value * size


@dataclass(frozen=True)
class Break:
    """A break between lines: between two measured sizes.

    Parameters
    ----------
    below, above
        Last size on one line and first size on the next [B].
    interval
        Sizes between which 95% of the resampled series break; ``None`` without repeats.
    pinned
        Whether it was given rather than found.
    """

    below: float
    above: float
    interval: tuple[float, float] | None
    pinned: bool

    @property
    def advice(self) -> str:
        """Say which sizes to measure to narrow it down."""
        return f"measure sizes between {data_size(self.below)} and {data_size(self.above)}"


@dataclass(frozen=True)
class SizeFit:
    """Piecewise lines through several series, with common breaks.

    Parameters
    ----------
    breaks
        In order of size.
    lines
        For each series, by name, its lines in order of size.
    deviation
        For each series, by name, the relative standard deviation of one measurement.
    """

    breaks: tuple[Break, ...]
    lines: dict[str, tuple[SizeLine, ...]]
    deviation: dict[str, float]

    def line(self, name: str, size: float) -> SizeLine:
        """Return the line of a series at a size."""
        check_count("size", size)
        if name not in self.lines:
            known = ", ".join(sorted(self.lines))
            msg = f"there are no measurements of {name!r}, only of: {known}"
            raise MeasurementError(msg)
        place = sum(size > one.below for one in self.breaks)
        return self.lines[name][place]


def _lines(size: FloatArray, times: Amount, scale: Amount | None = None) -> tuple[Amount, Amount]:
    """Least squares of scaled residuals, with neither intercept nor slope below zero.

    ``times`` and ``scale`` (the times by default) have shape (samples, n). If the free solution has
    a negative part, the optimum lies on a bound: the better of the two.
    """
    scale = times if scale is None else scale
    level, slanted, target = 1 / scale, size / scale, times / scale
    products = [(one * other).sum(-1) for one, other in ((level, level), (level, slanted))]
    level_level, level_slanted = products
    slanted_slanted = (slanted**2).sum(-1)
    ones_level, ones_slanted = (target * level).sum(-1), (target * slanted).sum(-1)
    determinant = level_level * slanted_slanted - level_slanted**2
    with np.errstate(divide="ignore", invalid="ignore"):  # one error far below all others
        intercept = (slanted_slanted * ones_level - level_slanted * ones_slanted) / determinant
        slope = (level_level * ones_slanted - level_slanted * ones_level) / determinant
    flat, through_zero = ones_level / level_level, ones_slanted / slanted_slanted
    # on a bound, the residual sum is that without a line minus these gains
    prefers_flat = ones_level * flat >= ones_slanted * through_zero
    # the rise of a slope over the sizes must exceed rounding
    slope = np.where(np.abs(slope) * size[-1] <= _ROUNDING * np.abs(intercept), 0.0, slope)
    free = (intercept >= 0) & (slope >= 0) & (determinant > 0)
    return (
        np.where(free, intercept, np.where(prefers_flat, flat, 0.0)),
        np.where(free, slope, np.where(prefers_flat, 0.0, through_zero)),
    )


def _parameter(values: FloatArray) -> LineParameter:
    """Make a parameter from its value (first) and its resampled values (the rest)."""
    value = float(values[0])
    if values.size == 1:
        return LineParameter(value, None, value > 0)
    low, high = (float(limit) for limit in np.percentile(values[1:], _INTERVAL))
    return LineParameter(value, (low, high), value > 0 and low > 0)


def _refuse_falling(one: SizeSeries, low: int, high: int, tolerance: float) -> None:
    """Refuse times that fall along a line by more than noise."""
    time = one.median[low:high]
    half = (high - low) // 2
    change = float(time[-half:].mean() / time[:half].mean() - 1)
    noise = _FALLING * one.median_deviation / np.sqrt(half) + tolerance
    if change < -noise:
        msg = (
            f"{one.name} falls by {-change:.0%} from {data_size(one.size[low])} to "
            f"{data_size(one.size[high - 1])}: a longer message cannot take less time; check "
            "the columns and repeat the runs"
        )
        raise MeasurementError(msg)


def _resampled(
    one: SizeSeries,
    samples: int,
    random: np.random.Generator,
    on_sample: Callable[[], None] | None,
) -> Drawn:
    """Medians of the repeats (first) and of resampled repeats, and their scales.

    For summarised repeats, times and their errors are drawn from normal distributions.
    """
    if one.error is not None:
        return _drawn(one, one.error, samples, random, on_sample)
    rows = np.arange(one.size.size)[:, None]
    drawn = [one.median]
    for _ in range(samples):
        chosen = (random.random(one.time.shape) * one.repeats[:, None]).astype(int)
        mask = np.isnan(one.time)
        drawn.append(np.nanmedian(np.where(mask, np.nan, one.time[rows, chosen]), axis=1))
        if on_sample is not None:
            on_sample()
    medians = np.array(drawn)
    return medians, one.scale(medians)


def _drawn(
    one: SizeSeries,
    error: FloatArray,
    samples: int,
    random: np.random.Generator,
    on_sample: Callable[[], None] | None,
) -> Drawn:
    """Times drawn around the given ones, each with an error as estimated from so few repeats."""
    freedom = np.where(one.repeats > 1, one.repeats - 1, _CERTAIN)
    shape = (samples, one.size.size)
    times = one.median + error * random.standard_normal(shape)
    errors = error * np.sqrt(random.chisquare(freedom, shape) / freedom)
    if on_sample is not None:
        for _ in range(samples):
            on_sample()
    kept = np.maximum(times, _LEAST * one.median)
    return np.vstack([one.median, kept]), np.vstack([error, np.maximum(errors, _LEAST * error)])


def _breaks(
    series: Sequence[SizeSeries],
    starts: tuple[int, ...],
    samples: Sequence[Drawn],
    pinned: Sequence[float],
) -> tuple[Break, ...]:
    """Return each break with its sizes, and its interval from the resampled series."""
    size = series[0].size
    fixed = {int(place) for place in np.searchsorted(size, sorted(pinned), side="right")}
    times, scales = zip(*((drawn[1:], scale[1:]) for drawn, scale in samples), strict=True)
    resampled = break_places(series, starts, times, scales)
    breaks = []
    for start, places in zip(starts, resampled, strict=True):
        interval = None
        if start in fixed:
            interval = (float(size[start - 1]), float(size[start]))
        elif places.size:
            low, high = np.percentile(places, _INTERVAL, method="nearest").astype(int)
            interval = (float(size[low - 1]), float(size[high]))
        below, above = float(size[start - 1]), float(size[start])
        breaks.append(Break(below, above, interval, start in fixed))
    return tuple(breaks)


def _series_lines(
    one: SizeSeries, edges: tuple[int, ...], drawn: Drawn, tolerance: float
) -> tuple[SizeLine, ...]:
    """Fit the lines of one series between the breaks."""
    lines, (medians, scale) = [], drawn
    for low, high in pairwise(edges):
        _refuse_falling(one, low, high, tolerance)
        intercept, slope = _lines(one.size[low:high], medians[:, low:high], scale[:, low:high])
        lines.append(
            SizeLine(
                float(one.size[low]),
                float(one.size[high - 1]),
                _parameter(intercept),
                _parameter(slope),
            )
        )
    return tuple(lines)


def fit_sizes(
    series: Sequence[SizeSeries],
    pinned: Sequence[float] = (),
    tolerance: float = TOLERANCE,
    penalty: float = PENALTY,
    seed: int = 0,
    on_sample: Callable[[], None] | None = None,
) -> SizeFit:
    """Fit piecewise lines with common breaks to times by message size.

    Breaks as in `find_breaks`; each line is a least-squares fit of relative residuals with
    intercept and slope of 0 or more. Intervals keep the number of breaks, and come from resampling
    the repeats (with few repeats they are somewhat too wide; they do not include a misfit of the
    lines themselves). If standard errors are given, they weight the residuals, and times and errors
    are drawn from normal distributions: with three or more repeats, the intervals cover 91 to 96%.

    Parameters
    ----------
    series, pinned, tolerance, penalty
        As for `find_breaks`.
    seed
        Seed of the random draws, so that answers are reproducible.
    on_sample
        Called after each of `SAMPLES` draws of a series, to show progress.

    Raises
    ------
    MeasurementError
        For no series, series of different sizes, or times that fall with size.
    InvalidParameter
        For pinned breaks with fewer than three sizes on a side.

    Examples
    --------
    >>> import numpy as np
    >>> from headway.loggp import size_series
    >>> size = 2.0 ** np.arange(12)
    >>> fit = fit_sizes([size_series("gap", size, 5e-6 + 1e-9 * size)])
    >>> fit.breaks, round(fit.lines["gap"][0].slope.value * 1e9, 9)
    ((), 1.0)
    """
    starts = find_breaks(series, pinned, tolerance, penalty)
    has_repeats = all(one.is_repeated for one in series)
    random = np.random.default_rng(seed)
    samples = SAMPLES if has_repeats else 0
    drawn = [_resampled(one, samples, random, on_sample) for one in series]
    edges = (0, *starts, series[0].size.size)
    return SizeFit(
        _breaks(series, starts, drawn, pinned),
        {
            one.name: _series_lines(one, edges, mine, tolerance)
            for one, mine in zip(series, drawn, strict=True)
        },
        {one.name: one.deviation for one in series},
    )
