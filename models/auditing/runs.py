"""Runs: errors, length, repeatability, and whether they are comparable."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from headway.kinds import FloatArray
from headway.models.auditing.contradictions import overloaded
from headway.models.auditing.finding import Finding, FindingKind, Severity, naming, of_several
from headway.models.auditing.limits import past_the_limit
from headway.models.measured.points import Point
from headway.numerals import four_digits
from headway.records import dataclass

_FAILED = 0.01  # share of failed requests above which it is a finding
_DROP = 0.05  # relative fall of throughput past its peak that matters
_SCATTER = 0.03  # relative scatter of a throughput if nothing shows a larger one
_COUNTED = 2.0  # of 1 / sqrt(requests): relative scatter of a rate that is counted
_SURE = 12.0  # by how many squares of the scatter a fall must fit better, see `falls`
_LENGTHS = 30.0  # response times that a run should last at least
_APART = 0.1  # relative difference of repeats above which they drift

ERRORS = FindingKind(
    "errors",
    Severity.WARNING,
    "a share `value` of requests failed; an error from 10% on",
    "failed requests distort times: they are short if refused, and long if they time out; fix the "
    "failures, or exclude such points",
)
FALLS = FindingKind(
    "throughput_falls",
    Severity.WARNING,
    "throughput falls by a share `value` past its peak",
    "overload slows this server down: fit a form that models this, not one that only saturates",
)
SHORT = FindingKind(
    "short_run",
    Severity.WARNING,
    "a run shorter than 30 response times",
    "too short for a steady state: run longer",
)
DRIFT = FindingKind(
    "drift",
    Severity.WARNING,
    "runs at one load differ by a share `value`, more than chance explains for that many requests",
    "no model can fit better than that: repeat the runs in another order, and find out what "
    "changed",
)
REPEATS = FindingKind(
    "pure_error",
    Severity.NOTE,
    "the relative scatter `value` of repeats within their loads",
    "a model with larger errors than this does not fit",
)
MIXED = FindingKind(
    "mixed",
    Severity.WARNING,
    "open and closed tests, or files of several tools, in one sweep",
    "their loads and times have different meanings: read them separately",
)


def fails(points: Sequence[Point]) -> Iterator[Finding]:
    """Points with failed requests."""
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
    """Throughput that falls past its peak by more than its scatter.

    Logarithms of throughput by load are fitted by the best curve that only rises, and by the best
    that rises and then falls (isotonic regression). The second must fit better by 12 squares of the
    scatter, which is the largest of 3%, of what counting so many requests allows, and of what
    repeats and the distances from the second curve show, at its upper 95% limit. Where points
    scatter by 5% at most and throughput does not fall, that is so of less than 4% of curves
    (``tests/models/auditing/test_falls.py``). Failures count: a client that gives up makes no
    server slower.

    References
    ----------
    Barlow, Bartholomew, Bremner and Brunk, *Statistical Inference under Order Restrictions*, 1972.
    """
    curve = _Curve.of(points)
    if curve is None:
        return
    rising, _ = curve.fitted(len(curve.loads) - 1)
    fits = map(curve.fitted, range(len(curve.loads)))
    bent, levels = min(fits, key=lambda fit: curve.squares(fit[0]))
    better = curve.squares(rising) - curve.squares(bent)
    top = int(np.argmax(bent))
    fall = 1 - math.exp(bent[top:].min() - bent[top])
    if better > _SURE * curve.scatter(bent, levels) ** 2 and fall > _DROP:
        low = curve.loads[bent < bent[top] + math.log1p(-_DROP)]
        past = low[low > curve.loads[top]]
        yield FALLS.finding(
            f"throughput falls by {fall:.0%} past its peak of {four_digits(math.exp(bent[top]))} "
            "op/s, by more than its scatter",
            [k for k, point in enumerate(points) if point.load in past],
            fall,
        )


@dataclass(frozen=True)
class _Curve:
    """Logarithms of throughput by load: their means, weights, and the squares within a load."""

    loads: FloatArray
    means: FloatArray
    weights: FloatArray
    within: float
    least: float

    @classmethod
    def of(cls, points: Sequence[Point]) -> "_Curve | None":
        """The curve of three loads or more; None where throughput itself is the load."""
        rates = {k: rate for k, p in enumerate(points) if (rate := p.finished)}
        if any(points[k].load == rate for k, rate in rates.items()):
            return None
        logs, loads = np.log(list(rates.values())), np.array([points[k].load for k in rates])
        each, place = np.unique(loads, return_inverse=True)
        if each.size < 3:
            return None
        weights = np.bincount(place).astype(float)
        means = np.bincount(place, logs) / weights
        counts = [points[k].samples for k in rates]
        few = min((count for count in counts if count), default=math.inf)
        least = max(_SCATTER, _COUNTED / math.sqrt(few))
        return cls(each, means, weights, float(((logs - means[place]) ** 2).sum()), least)

    def fitted(self, peak: int) -> tuple[FloatArray, int]:
        """The nearest curve that rises to a peak and then falls, and its number of levels."""
        from scipy.optimize import isotonic_regression

        sides = [
            isotonic_regression(self.means[part], weights=self.weights[part], increasing=up)
            for part, up in ((slice(0, peak + 1), True), (slice(peak + 1, None), False))
            if self.means[part].size
        ]
        return np.concatenate([side.x for side in sides]), sum(len(s.blocks) - 1 for s in sides)

    def squares(self, fitted: FloatArray) -> float:
        """The weighted sum of squares of what a curve leaves."""
        return float((self.weights * (self.means - fitted) ** 2).sum())

    def scatter(self, fitted: FloatArray, levels: int) -> float:
        """Relative scatter of a throughput: see `falls`."""
        from scipy.special import chdtri

        freedom = self.weights.sum() - levels
        if freedom < 1:
            return self.least
        squares = self.squares(fitted) + self.within
        return max(self.least, math.sqrt(squares / float(chdtri(freedom, 0.95))))


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
    """Scatter of repeats at the same load: an error that no model can remove."""
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
