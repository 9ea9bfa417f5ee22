"""Percentiles: how well a number of requests carries them, and which loop they are of."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from headway.models.auditing.finding import Finding, Kind, Severity, naming, of_several
from headway.models.measured.points import Loop, Point

_MOST = 1e15  # requests: of more, a double tells no rank from the next, and SciPy never ends
_BEYOND = 10.0  # samples beyond a percentile from which it is a number at all
_WIDE = 0.1  # half the width of a percentile's interval, relative, from which it is said

FEW = Kind(
    "too_few_samples",
    Severity.WARNING,
    "percentiles with fewer than ten samples beyond them",
    "run longer, or ignore these percentiles",
    percentiles=True,
)
WIDE = Kind(
    "percentile_interval",
    Severity.NOTE,
    "a percentile `value` whose interval, by order statistics, is wider than 10 % either way",
    "state the interval with it, or run longer",
    percentiles=True,
)
OMITS = Kind(
    "coordinated_omission",
    Severity.NOTE,
    "percentiles of a closed loop; a warning if a rate was requested, as for an open one",
    "an open load at the same rate would see longer ones",
    percentiles=True,
)


def rest_on_few(points: Sequence[Point]) -> Iterator[Finding]:
    """Percentiles that the number of samples cannot carry."""
    thin: dict[tuple[float, ...], list[int]] = defaultdict(list)
    for place, point in enumerate(points):
        if point.samples:
            carried = _carried(point.samples)
            beyond = tuple(q for q in sorted(point.percentiles) if carried < q < 100)
            thin[beyond].append(place)
    for beyond, places in thin.items():
        if beyond:
            samples = min(points[k].samples or 0.0 for k in places)
            yield FEW.finding(
                f"{naming(places, points)}: {', '.join(f'p{q:g}' for q in beyond)} of "
                f"{samples:.0f} requests has fewer than {_BEYOND:.0f} beyond it; p{beyond[0]:g} "
                f"needs {round(_BEYOND / (1 - beyond[0] / 100))} or more",
                places,
                samples,
            )


def _carried(samples: float) -> float:
    """The highest percentage with ten samples beyond it."""
    return 100 * (1 - _BEYOND / samples)


def is_wide(points: Sequence[Point]) -> Iterator[Finding]:
    """The highest percentile that is carried, where its interval is wide."""
    wide = {k: found for k, p in enumerate(points) if (found := _widest(p)) and found[2] > _WIDE}
    if wide:
        worst = max(wide, key=lambda k: wide[k][2])
        percent, ends, _ = wide[worst]
        value = points[worst].percentiles[percent]
        yield WIDE.finding(
            f"{naming([worst], points)}: p{percent:g} of {points[worst].samples or 0:.0f} "
            f"requests, {value:.3g} s, lies between {ends[0]:.3g} and {ends[1]:.3g} s"
            f"{of_several(len(wide))}",
            wide,
            value,
            ends,
        )


def _widest(point: Point) -> tuple[float, tuple[float, float], float] | None:
    """The highest percentile that is carried, its interval, and how far it goes, relative."""
    told = [q for q in point.percentiles if 50 < q <= _carried(point.samples or 1.0)]
    if not told or point.samples is None:
        return None
    percent = max(told)
    ends = percentile_interval(point.percentiles, percent, point.samples)
    value = point.percentiles[percent]
    if ends is None or value <= 0:
        return None
    return percent, ends, max(ends[1] / value - 1, 1 - ends[0] / value)


def percentile_interval(
    percentiles: Mapping[float, float], percent: float, samples: float
) -> tuple[float, float] | None:
    """The 95 % interval of a percentile by order statistics, whatever the distribution.

    The number of n requests below the true percentile is binomial, so that it lies between the
    order statistics of two ranks. Times at these ranks are read off between the percentiles that
    are known, their logarithms against that of the share beyond.

    Parameters
    ----------
    percentiles
        Times by percentage [s].
    percent
        Which one.
    samples
        Requests measured, independent of each other: where they queue the interval is wider.

    Returns
    -------
    Its ends [s]; None where they lie beyond the percentiles that are known.

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
        asked = -np.log(1 - shares)
    if len(known) < 2 or asked[0] < beyond[0] or asked[1] > beyond[-1]:
        return None
    low, high = np.exp(np.interp(asked, beyond, np.log([t for _, t in known])))
    return float(low), float(high)


def omits(points: Sequence[Point]) -> Iterator[Finding]:
    """Percentiles of a closed loop."""
    places = [
        k
        for k, p in enumerate(points)
        if p.loop is Loop.CLOSED and any(q > 50 for q in p.percentiles)
    ]
    paced = [k for k in places if points[k].offered_rate is not None]
    if places:
        asked = "a rate was requested, but " if paced else ""
        yield OMITS.finding(
            f"{asked}the percentiles are those of a closed loop: its clients do not send while "
            "they wait, so each stall counts once",
            places,
            severity=Severity.WARNING if paced else None,
        )
