"""Runs: errors, length, repeatability, and whether they are comparable."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from headway.models.auditing.contradictions import overloaded
from headway.models.auditing.finding import Finding, Kind, Severity, naming, of_several
from headway.models.auditing.limits import past_the_limit
from headway.models.measured.points import Point
from headway.numerals import four_digits

_FAILED = 0.01  # share of failed requests above which it is a finding
_DROP = 0.05  # relative fall of throughput past its peak
_CHANCE = 4 * 0.03  # fall at a single point that scatter of 3% can cause
_STEPS = 3  # consecutive falls that are not chance
_LENGTHS = 30.0  # response times that a run should last at least
_APART = 0.1  # relative difference of repeats above which they drift

ERRORS = Kind(
    "errors",
    Severity.WARNING,
    "a share `value` of requests failed; an error from 10% on",
    "failed requests take other times than good ones, short if refused and long if they time out: "
    "fix the failures, or exclude such points",
)
FALLS = Kind(
    "throughput_falls",
    Severity.WARNING,
    "throughput falls by a share `value` past its peak",
    "overload slows this server down: fit a form that models this, not one that only saturates",
)
SHORT = Kind(
    "short_run",
    Severity.WARNING,
    "a run of less than 30 response times",
    "too short for a steady state: run longer",
)
DRIFT = Kind(
    "drift",
    Severity.WARNING,
    "runs at one load differ by a share `value`, more than chance explains for that many requests",
    "no model can fit better than that: repeat the runs in another order, and find out what "
    "changed",
)
REPEATS = Kind(
    "pure_error",
    Severity.NOTE,
    "the relative scatter `value` of repeats within their loads",
    "larger errors of a model are lack of fit",
)
MIXED = Kind(
    "mixed",
    Severity.WARNING,
    "open and closed tests, or files of several tools, in one sweep",
    "their loads and times have different meanings: read them separately",
)


def fails(points: Sequence[Point]) -> Iterator[Finding]:
    """Failed requests."""
    shares = {k: share for k, p in enumerate(points) if not (share := _failed(p)) < _FAILED}
    for grave, severity in ((True, Severity.ERROR), (False, Severity.WARNING)):
        some = [k for k, share in shares.items() if (not share < 10 * _FAILED) == grave]
        if some:
            worst = max(some, key=lambda k: shares[k])
            yield _errors(points, some, worst, shares[worst], severity)


def _errors(
    points: Sequence[Point], some: list[int], worst: int, share: float, severity: Severity
) -> Finding:
    """Failed requests at some points; names the worst."""
    point, unknown = points[worst], math.isnan(share)
    share_shown = "" if unknown else f" ({share:.1%})"
    counted = f"; {point.tool} includes them in its times" * point.with_failures
    return ERRORS.finding(
        f"{naming([worst], points)}: {point.errors or 0:.0f} requests failed{share_shown}"
        f"{of_several(len(some))}{counted}",
        some,
        None if unknown else share,
        severity=severity,
    )


def _failed(point: Point) -> float:
    """Share of failed requests; NaN if their total number is unknown."""
    if not point.errors:
        return 0.0
    return point.errors / point.samples if point.samples else math.nan


def falls(points: Sequence[Point]) -> Iterator[Finding]:
    """Throughput that falls past its peak by more than chance."""
    rates = [(k, p.throughput) for k, p in enumerate(points) if p.throughput]
    if len(rates) < 3 or points[rates[0][0]].load == rates[0][1]:
        return
    best = max(range(len(rates)), key=lambda k: rates[k][1])
    tail = np.array([rate for _, rate in rates[best:]])
    fall = float(1 - tail.min() / tail[0])
    steady = tail.size > _STEPS and bool(np.all(np.diff(tail) < 0))
    if fall > _CHANCE or (fall > _DROP and steady):
        past = [k for k, rate in rates[best + 1 :] if rate < (1 - _DROP) * tail[0]]
        yield FALLS.finding(
            f"throughput falls by {fall:.0%} past its peak of {four_digits(tail[0])} op/s",
            past,
            fall,
        )


def ends_early(points: Sequence[Point]) -> Iterator[Finding]:
    """Runs that end before they are steady; runs past the limit never are."""
    over = {*past_the_limit(points), *overloaded(points)}
    places = [
        k
        for k, p in enumerate(points)
        if p.duration and p.response_time and p.duration < _LENGTHS * p.response_time
    ]
    early = [k for k in places if k not in over]
    if early:
        yield SHORT.finding(
            f"{naming(early, points)} lasted less than {_LENGTHS:.0f} response times", early
        )


def drifts(points: Sequence[Point]) -> Iterator[Finding]:
    """Repeats of one load that differ by more than chance."""
    for places in _repeats(points):
        for what in ("response_time", "throughput"):
            values = np.array([getattr(points[k], what) or math.nan for k in places])
            apart = float(values.max() / values.min() - 1)
            if apart > max(_APART, _by_chance([points[k] for k in places])):
                yield DRIFT.finding(
                    f"{len(places)} runs at one load differ by {apart:.1%} in "
                    f"{what.replace('_', ' ')}",
                    places,
                    apart,
                )
                break


def _by_chance(repeats: Sequence[Point]) -> float:
    """Largest difference by chance between means of so many requests that share a queue.

    In an M/M/1 queue with L jobs, the mean of n waiting times has a relative variance of about 4 (1
    + L)^2 / n (Daley, 1968; Whitt, 1989); 0 if the number of requests is unknown.
    """
    known = [2 * (1 + (p.inside or 0.0)) / math.sqrt(p.samples) for p in repeats if p.samples]
    return 3 * math.sqrt(2) * max(known, default=0.0)


def _repeats(points: Sequence[Point]) -> list[list[int]]:
    """Positions of the points at each load that was measured more than once."""
    groups: dict[tuple[str, str, float], list[int]] = defaultdict(list)
    for place, point in enumerate(points):
        if point.response_time and (point.offered_rate or point.population):
            groups[point.tool, point.name, point.load].append(place)
    return [places for places in groups.values() if len(places) > 1]


def scatters(points: Sequence[Point]) -> Iterator[Finding]:
    """Scatter of repeats within their loads: an error that no model can remove."""
    groups = _repeats(points)
    logs = [np.log([points[k].response_time or math.nan for k in places]) for places in groups]
    freedom = sum(each.size - 1 for each in logs)
    if freedom < 1:
        return
    from scipy.special import chdtri

    squares = float(sum(((each - each.mean()) ** 2).sum() for each in logs))
    ends = np.sqrt(squares / chdtri(freedom, [0.025, 0.975]))
    error = math.sqrt(squares / freedom)
    yield REPEATS.finding(
        f"repeats of {len(groups)} load{'s' * (len(groups) > 1)} scatter by {error:.1%} in "
        f"response time ({ends[0]:.1%} to {ends[1]:.1%})",
        [k for places in groups for k in places],
        error,
        (float(ends[0]), float(ends[1])),
    )


def mixes(points: Sequence[Point]) -> Iterator[Finding]:
    """Files of different tools or loops in one sweep; monitors go with any."""
    measured = [p for p in points if not p.is_monitor]
    loops = {point.loop for point in measured if point.loop}
    tools = dict.fromkeys(point.tool for point in measured)
    if len(loops) > 1 or len(tools) > 1:
        what = "open and closed tests" if len(loops) > 1 else f"files of {', '.join(tools)}"
        yield MIXED.finding(f"one sweep contains {what}")
