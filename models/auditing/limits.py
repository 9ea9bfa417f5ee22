"""Limits on the number of requests inside, in tests with an offered rate.

Beyond saturation, the number of requests inside an open test grows with the excess of the offered
over the delivered rate: its mean over a stage of length T is (lambda - X) T / 2. If the generator
allows at most N, it stays at N, except while it fills up: N (1 - N / (2 (lambda - X) T)).

X counts all requests that finished, including failures: a server that answers 503, or a client that
gives up, does not hold a request back. So a limit is looked for only if times include failures, or
almost no request failed.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np

from headway.kinds import FloatArray
from headway.models.auditing.finding import Finding, FindingKind, Severity, naming
from headway.models.measured.points import Loop, Point
from headway.numerals import four_digits, grouped
from headway.records import dataclass

_BEHIND = 0.93  # of the offered rate: a throughput below this fell behind by more than noise
_FULL = 0.95  # of the largest throughput: smaller offered rates are not past the limit
_OVER = 1.03  # times the throughput past the limit: larger offered rates are past it too
_NEAR = 0.92  # of the throughput past the limit: larger offered rates fill a server often enough
_LEVEL = 0.5  # power of the excess with which requests inside grow: 0 at a limit, 1 without one
_SCATTER = 0.03  # relative error of a rate or time if nothing else is known
_LEAST = 0.05  # of the offered rate: the least excess that can be detected
_UNFILLED = 0.03  # of the limit: deficit while a test of unknown length fills up
_FAILED = 0.01  # share of failures up to which times without them are those of all requests
_ALIKE = 0.85  # of the largest number inside: points below had not filled up, beyond scatter

BEHIND = FindingKind(
    "fell_behind",
    Severity.WARNING,
    "throughput is below the offered load, without signs of a limit on outstanding requests",
    "the server or the generator is past its limit: exclude these points from a fit",
)
HIDDEN = FindingKind(
    "hidden_closed_loop",
    Severity.ERROR,
    "the test offers rates, but never had more than `value` requests outstanding: beyond that it "
    "is closed",
    "raise the generator's limit, or fit these points as a closed load",
)


def falls_behind(points: Sequence[Point]) -> Iterator[Finding]:
    """Points past the limit at which the requests inside grow as in an open test."""
    behind = past_the_limit(points)
    if behind and hidden_limit(points) is None:
        yield BEHIND.finding(
            f"throughput is below the offered load at {naming(behind, points)}", behind
        )


def levels_off(points: Sequence[Point]) -> Iterator[Finding]:
    """Points past the limit at which the requests inside do not grow."""
    limit = hidden_limit(points)
    if limit is None:
        return
    behind = past_the_limit(points)
    value, low, high = limit
    yield HIDDEN.finding(
        f"throughput times response time levels off at {four_digits(value)} ({four_digits(low)} "
        f"to {four_digits(high)}) whatever the offered load: there were never more requests "
        f"outstanding, so at {naming(behind, points)} the test was closed, with a population of "
        f"{grouped(f'{value:.0f}')}",
        behind,
        value,
        (low, high),
    )


def past_the_limit(points: Sequence[Point]) -> list[int]:
    """Positions of points whose offered rate exceeds the throughput at saturation.

    Parameters
    ----------
    points
        In the order of their load.

    Examples
    --------
    >>> past_the_limit([Point("k6", None, rate, throughput=min(rate, 80.0), response_time=0.1)
    ...                 for rate in (40.0, 84.0, 100.0)])
    [1, 2]
    """
    offered = {k: _Stage.of(p) for k, p in enumerate(points) if p.loop is not Loop.CLOSED}
    known = {k: stage for k, stage in offered.items() if stage is not None}
    most = max((stage.rate for stage in known.values()), default=0.0)
    behind = [
        k for k, s in known.items() if s.rate < _BEHIND * s.offered and s.offered > _FULL * most
    ]
    if not behind:
        return []
    level = float(np.mean([known[k].rate for k in behind]))
    first = min(known[k].offered for k in behind)
    return [k for k, s in known.items() if k in behind or _OVER * level < s.offered < first]


@dataclass(frozen=True)
class _Stage:
    """Offered rate, finished requests, requests inside and length of a stage; NaN if unknown."""

    offered: float
    rate: float
    inside: float
    length: float

    @classmethod
    def of(cls, point: Point) -> "_Stage | None":
        rate = point.finished
        if not point.offered_rate or not rate or not point.response_time:
            return None
        failed = 1 - (point.throughput or 0.0) / rate
        same = point.with_failures or failed < _FAILED
        inside = (point.inside or math.nan) if same else math.nan
        counted = point.samples / rate if point.samples else math.nan
        return cls(point.offered_rate, rate, inside, point.duration or counted)


def hidden_limit(points: Sequence[Point]) -> tuple[float, float, float] | None:
    """Estimate the most outstanding requests of a generator, from points with offered rates.

    Parameters
    ----------
    points
        In the order of their load, with offered rate, throughput and response time.

    Returns
    -------
    The limit and its 95% interval; None if the points show none: fewer than two points near or
    past saturation, and none of known length past it.

    Examples
    --------
    >>> points = [Point("load", Loop.OPEN, rate, throughput=80.0, response_time=0.5)
    ...           for rate in (100.0, 150.0)]
    >>> hidden_limit(points)[0]
    40.0
    """
    places = past_the_limit(points)
    stages = {k: stage for k, p in enumerate(points) if (stage := _Stage.of(p)) is not None}
    past = [stages[k] for k in places if math.isfinite(stages[k].inside)]
    if not past:
        return None
    level = float(np.mean([stage.rate for stage in past]))
    if all(math.isfinite(stage.length) for stage in past):
        return _of_known_length(past, level)
    full = _ALIKE * max(stage.inside for stage in past)
    near = [
        s
        for k, s in stages.items()
        if k < places[0] and s.offered > _NEAR * level and s.inside > full
    ]
    return _of_growth([*near, *past], level / math.sqrt(len(past)), level)


def _of_known_length(past: Sequence[_Stage], level: float) -> tuple[float, float, float] | None:
    """The limit from points with fewer requests inside than without one.

    A test that sends until the end, and then waits for outstanding requests, lasts longer than it
    sends.
    """
    inside = np.array([stage.inside for stage in past])
    excess = np.array([max(stage.offered - level, 0.0) for stage in past])
    sends = np.array([stage.length * min(1.0, stage.rate / stage.offered) for stage in past])
    with np.errstate(over="ignore"):  # no length if it never ends
        endless = excess * sends / 2
    limited = inside < _LEVEL * endless
    if not limited[int(np.argmax(endless))]:
        return None
    return _interval(inside[limited], _filled(inside[limited], endless[limited]))


def _filled(inside: FloatArray, endless: FloatArray) -> FloatArray:
    """Requests inside once a test has filled up: N (1 - N / (4 E)) = X R solved for N.

    The root is written so that an endless test gives X R.
    """
    return np.asarray(2 * inside / (1 + np.sqrt(1 - inside / endless)))


def _of_growth(
    stages: Sequence[_Stage], error: float, level: float
) -> tuple[float, float, float] | None:
    """The limit from points of unknown length, if the requests inside grow too little.

    Stages may have the same length or the same number of requests: the smaller growth counts.
    """
    inside = np.array([stage.inside for stage in stages])
    lowest = level - 2 * _SCATTER * error
    share = np.array([max(1 - lowest / stage.offered, _LEAST) for stage in stages])
    grown = float(np.log(share.max() / share.min()))
    if grown < 4 * _SCATTER:
        return None
    slope = float(np.polyfit(np.log(share), np.log(inside), 1)[0])
    return None if slope + 2 * _SCATTER / grown >= _LEVEL else _interval(inside)


def _interval(inside: FloatArray, filled: FloatArray | None = None) -> tuple[float, float, float]:
    """Mean and 95% interval of the points that had filled up.

    It allows for their scatter (at least that of rate and time), and for half of the correction for
    filling up, or of the possible deficit.
    """
    full = inside if filled is None else filled
    alike = full >= _ALIKE * full.max()
    value, printed = float(full[alike].mean()), float(inside[alike].mean())
    count = int(alike.sum())
    spread = float(full[alike].std(ddof=1)) if count > 1 else 0.0
    error = max(spread, math.sqrt(2) * _SCATTER * value) / math.sqrt(count)
    missing = _UNFILLED * value if filled is None else (value - printed) / 2
    half = NormalDist().inv_cdf(0.975) * math.hypot(error, missing)
    return value, value - half, value + half
