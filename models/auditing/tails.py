"""Percentiles: whether there are enough requests, and whether the loop is closed."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from headway.models.auditing.finding import (
    Finding,
    FindingKind,
    Severity,
    naming,
    of_several,
    time_text,
)
from headway.models.measured.points import Loop, Point
from headway.numerals import digits, grouped

_MOST = 1e15  # requests: beyond this, floats cannot distinguish ranks, and SciPy never ends
_BEYOND = 10.0  # samples beyond a percentile, below which it means nothing
_QUOTED = 99.0  # the highest percentage that people quote; tools print higher ones for any run
_WIDE = 0.1  # relative half-width of a percentile's interval above which it is a finding

FEW = FindingKind(
    "too_few_samples",
    Severity.WARNING,
    "percentiles with fewer than ten samples beyond them; a note if only above the 99th",
    "run longer, or ignore these percentiles",
    percentiles=True,
)
WIDE = FindingKind(
    "percentile_interval",
    Severity.NOTE,
    "a percentile `value` whose interval, by order statistics, is wider than 10% either way",
    "state the interval too, or run longer",
    percentiles=True,
)
OMITS = FindingKind(
    "coordinated_omission",
    Severity.NOTE,
    "percentiles of a closed loop; a warning if a rate was requested, as in open tests",
    "they would be longer for an open load at the same rate",
    percentiles=True,
)


def rest_on_few(points: Sequence[Point]) -> Iterator[Finding]:
    """Percentiles with too few samples: one finding, about the lowest of them."""
    thin = {
        k: min(beyond)
        for k, p in enumerate(points)
        if p.samples and (beyond := [q for q in p.percentiles if _carried(p.samples) < q < 100])
    }
    if not thin:
        return
    worst = min(thin, key=lambda k: (thin[k], points[k].samples or 0.0))
    lowest, samples = thin[worst], points[worst].samples or 0.0
    above = " and higher percentiles" if max(points[worst].percentiles) > lowest else ""
    yield FEW.finding(
        f"{naming([worst], points)}: of {digits(samples)} requests fewer than {_BEYOND:.0f} lie "
        f"beyond p{digits(lowest)}{above}{of_several(len(thin))}; p{digits(lowest)} needs "
        f"{grouped(str(round(_BEYOND / (1 - lowest / 100))))} or more",
        thin,
        samples,
        severity=None if lowest <= _QUOTED else Severity.NOTE,
    )


def _carried(samples: float) -> float:
    """The highest percentage with ten samples beyond it."""
    return 100 * (1 - _BEYOND / samples)


def is_wide(points: Sequence[Point]) -> Iterator[Finding]:
    """The highest percentile with enough samples, if its interval is wide."""
    wide = {
        k: interval
        for k, p in enumerate(points)
        if (interval := _widest(p)) and interval[2] > _WIDE
    }
    if wide:
        worst = max(wide, key=lambda k: wide[k][2])
        percent, ends, _ = wide[worst]
        value = points[worst].percentiles[percent]
        times = (value, *ends)
        shown = [time_text(time, points) for time in times]
        yield WIDE.finding(
            f"{naming([worst], points)}: p{digits(percent)} of "
            f"{digits(points[worst].samples or 0)} requests, {shown[0]}, lies between {shown[1]} "
            f"and {shown[2]}{of_several(len(wide))}",
            wide,
            value,
            ends,
            times=tuple(zip(shown, times, strict=True)),
        )


def _widest(point: Point) -> tuple[float, tuple[float, float], float] | None:
    """The highest percentile with enough samples, its interval, and its relative half-width."""
    usable = [q for q in point.percentiles if 50 < q <= _carried(point.samples or 1.0)]
    if not usable or point.samples is None:
        return None
    percent = max(usable)
    ends = percentile_interval(point.percentiles, percent, point.samples)
    value = point.percentiles[percent]
    if ends is None or value <= 0:
        return None
    return percent, ends, max(ends[1] / value - 1, 1 - ends[0] / value)


def percentile_interval(
    percentiles: Mapping[float, float], percent: float, samples: float
) -> tuple[float, float] | None:
    """The 95% interval of a percentile by order statistics, whatever the distribution.

    The number of n requests below the true percentile is binomial, so that it lies between the
    order statistics of two ranks. Times at these ranks are interpolated between known percentiles,
    with the logarithms of times and of the shares beyond.

    Parameters
    ----------
    percentiles
        Times by percentage [s].
    percent
        Which one.
    samples
        Number of requests, assumed independent: if they queue, the interval is wider.

    Returns
    -------
    Its ends [s]; None if they lie beyond the known percentiles.

    Examples
    --------
    >>> known = {90.0: 0.10, 99.0: 0.20, 99.9: 0.30}
    >>> low, high = percentile_interval(known, 99.0, 10_000)
    >>> round(low, 3), round(high, 3)
    (0.189, 0.208)

    References
    ----------
    Conover, *Practical Nonparametric Statistics*, 1999, section 3.2.
    """
    from scipy.special import bdtrik

    samples = min(samples, _MOST)
    ranks = np.ceil(bdtrik([0.025, 0.975], samples, percent / 100)) + np.array([0, 1])
    known = sorted((q, t) for q, t in percentiles.items() if 0 < q < 100 and t > 0)
    beyond = [-math.log(1 - q / 100) for q, _ in known]
    shares = np.minimum(ranks / samples, 1.0)
    with np.errstate(divide="ignore"):
        wanted_shares = -np.log(1 - shares)
    if len(known) < 2 or wanted_shares[0] < beyond[0] or wanted_shares[1] > beyond[-1]:
        return None
    low, high = np.exp(np.interp(wanted_shares, beyond, np.log([t for _, t in known])))
    return float(low), float(high)


def omits(points: Sequence[Point]) -> Iterator[Finding]:
    """Percentiles of a closed loop."""
    places = [
        k
        for k, p in enumerate(points)
        if p.loop is Loop.CLOSED and any(q > 50 for q in p.percentiles)
    ]
    with_rate = [k for k in places if points[k].offered_rate is not None]
    if places:
        although = "a rate was requested, but " if with_rate else ""
        yield OMITS.finding(
            f"{although}the percentiles are those of a closed loop: its clients do not send while "
            "they wait, so each stall counts only once",
            places,
            severity=Severity.WARNING if with_rate else None,
        )
