"""Can a load test be trusted? What its own numbers say against it.

Little's law N = X R holds for any test that is over a steady state; where it breaks, or holds
where nobody claimed a population, the test was another than it says.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.points import Loop, Point
from headway.models.reading.loadtest import LoadTest
from headway.models.tables.shown import Answer

_BEHIND = 0.93  # of the offered rate: what is less fell behind by more than noise
_LEVEL = 0.5  # growth of what is inside by the power of the excess: 0 at a limit, 1 without one
_GAP = 0.05  # relative, between X (R + Z) and the population, from which it is said
_FAILED = 0.01  # share of requests that failed from which it is said
_BEYOND = 10.0  # samples beyond a percentile from which it is a number at all
_DROP = 0.05  # relative fall of throughput past its peak
_LENGTHS = 30.0  # response times that a run should last at least
_NOISE = 0.03  # relative scatter of a point where nothing is known of it
_APART = 0.1  # relative difference of repeats from which they drift


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """What is wrong with a test, in a sentence, with its numbers and what to do.

    Parameters
    ----------
    kind
        Its name for programs, such as ``hidden_closed_loop``.
    severity, text
        How much it matters, and the sentence.
    value, ci95
        The number that it gives, with its interval; None where there is none.
    points
        Positions of the points that it touches.
    """

    kind: str
    severity: Severity
    text: str
    value: float | None = None
    ci95: tuple[float, float] | None = None
    points: tuple[int, ...] = ()


@dataclass(frozen=True)
class Audit(Answer):
    """What was found in a load test.

    Examples
    --------
    >>> points = [Point("load", Loop.OPEN, rate, throughput=80.0, response_time=0.5)
    ...           for rate in (100.0, 150.0, 200.0)]
    >>> found = audit(LoadTest(tuple(points))).findings[0]
    >>> found.kind, found.value
    ('hidden_closed_loop', 40.0)
    """

    test: LoadTest
    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        return f"Audit({self.test.source}: {len(self.findings)} findings)"


def audit(test: LoadTest) -> Audit:
    """Look for what makes a test's numbers mean something else than they say.

    Parameters
    ----------
    test
        Points in the order of their load.
    """
    found = [finding for check in CHECKS for finding in check(test.points)]
    order = list(Severity)
    return Audit(test, tuple(sorted(found, key=lambda finding: order.index(finding.severity))))


def _levels_off(points: Sequence[Point]) -> Iterator[Finding]:
    """A limit on the requests inside, where a rate was offered whatever came back."""
    behind = _past_the_limit(points)
    if not behind:
        return
    limit = hidden_limit([points[k] for k in behind])
    places = tuple(behind)
    if limit is None:
        yield Finding(
            "fell_behind",
            Severity.WARNING,
            f"{_of(behind, points)} got less through than was offered: the server, or what "
            "generates the load, is past its limit; leave these points out of a curve",
            points=places,
        )
        return
    value, low, high = limit
    yield Finding(
        "hidden_closed_loop",
        Severity.ERROR,
        f"throughput times response time levels off at {value:.4g} ({low:.4g} to {high:.4g}) "
        f"however much is offered: no more requests than that were ever inside, so at "
        f"{_of(behind, points)} the test was a closed one of {value:.0f}; raise the generator's "
        "limit, or fit these points as closed",
        value,
        (low, high),
        places,
    )


def _past_the_limit(points: Sequence[Point]) -> list[int]:
    """Points at the top of the load that fell behind; one alone among others is chance."""
    offered = [k for k, p in enumerate(points) if p.offered_rate is not None]
    return list(takewhile(lambda k: _fell_behind(points[k]), reversed(offered)))[::-1]


def _fell_behind(point: Point) -> bool:
    if point.offered_rate is None or point.throughput is None or point.inside is None:
        return False
    return point.loop is not Loop.CLOSED and point.throughput < _BEHIND * point.offered_rate


def hidden_limit(behind: Sequence[Point]) -> tuple[float, float, float] | None:
    """Estimate how many requests a generator lets in, from points that fell behind their rate.

    Without a limit what is inside grows with the excess of the offered over the delivered rate;
    at a limit it does not. While a test of length T fills up to N at the excess D, N / (2 D T) of
    N is missing in the mean.

    Parameters
    ----------
    behind
        Points with offered rate, throughput and response time; two at least, or one of known
        duration.

    Returns
    -------
    The limit and its 95 % interval; None where there is none to be seen.

    Examples
    --------
    >>> points = [Point("load", Loop.OPEN, rate, throughput=80.0, response_time=0.5)
    ...           for rate in (100.0, 150.0)]
    >>> hidden_limit(points)[0]
    40.0
    """
    inside = np.array([point.inside or 0.0 for point in behind])
    excess = np.array([(p.offered_rate or 0.0) - (p.throughput or 0.0) for p in behind])
    lasted = np.array([math.nan if p.duration is None else p.duration for p in behind])
    if not _is_level(inside, excess, lasted):
        return None
    full = _filled(inside, excess, lasted)
    value = float(np.median(full))
    spread = float(full.std(ddof=1)) if full.size > 1 else 0.0
    half = 2 * max(spread, _NOISE * value) / math.sqrt(full.size)
    return value, value - half, value + half


def _is_level(inside: FloatArray, excess: FloatArray, lasted: FloatArray) -> bool:
    """Whether what is inside grows less than it would without a limit."""
    grown = np.log(excess.max() / excess.min())
    if inside.size > 1 and grown > 4 * _NOISE:
        slope = float(np.polyfit(np.log(excess), np.log(inside), 1)[0])
        return bool(slope + 2 * _NOISE / grown < _LEVEL)
    endless = excess * lasted / 2  # mean number inside of a test without limit
    return bool(np.isfinite(lasted).all() and np.all(inside < _LEVEL * endless))


def _filled(inside: FloatArray, excess: FloatArray, lasted: FloatArray) -> FloatArray:
    """What is inside once a test has filled: N (1 - N / (2 D T)) = X R solved for N."""
    room = excess * lasted
    part = 1 - 2 * inside / room
    full = np.where(part > 0, room * (1 - np.sqrt(np.maximum(part, 0.0))), inside)
    return np.asarray(np.where(np.isfinite(lasted), full, inside))


def _breaks_littles_law(points: Sequence[Point]) -> Iterator[Finding]:
    """Closed tests in which X (R + Z) is not the population, parts of a mix taken together."""
    for place, point in enumerate(points):
        held = _held(point)
        if point.loop is not Loop.CLOSED or not point.population or held is None:
            continue
        mix = [_held(other) or 0.0 for other in points if _shares(other, point)]
        gap = min((held / point.population - 1, sum(mix) / point.population - 1), key=abs)
        if abs(gap) > _GAP:
            less = "waited in the generator" if gap < 0 else "did not all wait for an answer"
            yield Finding(
                "littles_law",
                Severity.WARNING,
                f"{_of([place], points)}: throughput times response time is {held:.4g}, the "
                f"population {point.population:g}: {abs(gap):.0%} of its clients {less}; "
                "look at the generator's own load, or at what it counts",
                held,
                points=(place,),
            )


def _held(point: Point) -> float | None:
    """Clients that wait or think, X (R + Z)."""
    if point.inside is None:
        return None
    return point.inside + (point.throughput or 0.0) * (point.think_time or 0.0)


def _shares(other: Point, point: Point) -> bool:
    """Whether two points of a file may be one population's, as reads and writes of a mix are."""
    return (other.file, other.population, other.load) == (point.file, point.population, point.load)


def _fails(points: Sequence[Point]) -> Iterator[Finding]:
    """Answers that are errors."""
    for place, point in enumerate(points):
        if not point.errors:
            continue
        share = point.errors / point.samples if point.samples else math.nan
        if not share < _FAILED:
            told = "" if math.isnan(share) else f" ({share:.1%})"
            yield Finding(
                "errors",
                Severity.ERROR if not share < 10 * _FAILED else Severity.WARNING,
                f"{_of([place], points)}: {point.errors:.0f} requests failed{told}; a refusal is "
                "quick, so that rate and response time are not those of the work",
                None if math.isnan(share) else share,
                points=(place,),
            )


def _few_samples(points: Sequence[Point]) -> Iterator[Finding]:
    """Percentiles that the number of samples cannot carry."""
    thin: dict[tuple[float, ...], list[int]] = {}
    for place, point in enumerate(points):
        if point.samples:
            carried = 100 * (1 - _BEYOND / point.samples)
            beyond = tuple(q for q in sorted(point.percentiles) if carried < q < 100)
            thin.setdefault(beyond, []).append(place)
    for beyond, places in thin.items():
        if beyond:
            samples = min(points[k].samples or 0.0 for k in places)
            yield Finding(
                "too_few_samples",
                Severity.WARNING,
                f"{_of(places, points)}: {', '.join(f'p{q:g}' for q in beyond)} of {samples:.0f} "
                f"requests rests on less than {_BEYOND:.0f} of them; p{beyond[0]:g} needs "
                f"{round(_BEYOND / (1 - beyond[0] / 100))} or more",
                samples,
                points=tuple(places),
            )


def _omits(points: Sequence[Point]) -> Iterator[Finding]:
    """Percentiles of a closed loop."""
    places = [
        k
        for k, p in enumerate(points)
        if p.loop is Loop.CLOSED and any(q > 50 for q in p.percentiles)
    ]
    if places:
        yield Finding(
            "coordinated_omission",
            Severity.NOTE,
            "the percentiles are a closed loop's: its clients do not send while they wait, so that "
            "stalls count once; whoever sends at a rate of its own sees longer ones",
            points=tuple(places),
        )


def _short(points: Sequence[Point]) -> Iterator[Finding]:
    """Runs that end before they are steady."""
    places = [
        k
        for k, p in enumerate(points)
        if p.duration and p.response_time and p.duration < _LENGTHS * p.response_time
    ]
    if places:
        yield Finding(
            "short_run",
            Severity.WARNING,
            f"{_of(places, points)} lasted less than {_LENGTHS:.0f} response times: too short for "
            "a steady state; let it run longer",
            points=tuple(places),
        )


def _falls(points: Sequence[Point]) -> Iterator[Finding]:
    """Throughput that falls past its peak."""
    rates = [(k, p.throughput) for k, p in enumerate(points) if p.throughput]
    if len(rates) < 3 or points[rates[0][0]].load == rates[0][1]:
        return
    best = max(range(len(rates)), key=lambda k: rates[k][1] or 0.0)
    peak = rates[best][1] or 0.0
    past = [k for k, rate in rates[best + 1 :] if (rate or 0.0) < (1 - _DROP) * peak]
    if past:
        least = min(points[k].throughput or 0.0 for k in past)
        yield Finding(
            "throughput_falls",
            Severity.WARNING,
            f"past its peak of {peak:.4g}/s throughput falls by {1 - least / peak:.0%}: more load "
            "makes this server slower, which a form that only saturates cannot follow",
            1 - least / peak,
            points=tuple(past),
        )


def _drifts(points: Sequence[Point]) -> Iterator[Finding]:
    """Repeats of one load that differ."""
    groups: dict[tuple[str, float], list[int]] = {}
    for place, point in enumerate(points):
        if point.response_time and (point.offered_rate or point.population):
            groups.setdefault((point.name, point.load), []).append(place)
    for places in groups.values():
        times = [points[k].response_time or 0.0 for k in places]
        apart = max(times) / min(times) - 1
        if len(places) > 1 and apart > _APART:
            yield Finding(
                "drift",
                Severity.WARNING,
                f"{len(places)} runs of one load differ by {apart:.1%} in response time: no model "
                "can fit closer than that; repeat in another order, and look for what changed",
                apart,
                points=tuple(places),
            )


def _mixed(points: Sequence[Point]) -> Iterator[Finding]:
    """Files of different tools or loops in one sweep."""
    loops = {point.loop for point in points if point.loop}
    tools = dict.fromkeys(point.tool for point in points)
    if len(loops) > 1 or len(tools) > 1:
        what = "open and closed tests" if len(loops) > 1 else f"files of {', '.join(tools)}"
        yield Finding(
            "mixed",
            Severity.WARNING,
            f"{what} stand in one sweep: their loads and times do not mean the same",
        )


def _of(places: Sequence[int], points: Sequence[Point]) -> str:
    """Name points by their load, one without a load by its file."""
    loads = [points[k].load for k in places]
    if not all(map(math.isfinite, loads)):
        return points[places[0]].file or "this test"
    if len(loads) == 1:
        return f"the point at {loads[0]:g}"
    return f"the {len(loads)} points from {min(loads):g} to {max(loads):g}"


Check = Callable[[Sequence[Point]], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    _levels_off,
    _breaks_littles_law,
    _fails,
    _falls,
    _short,
    _drifts,
    _mixed,
    _few_samples,
    _omits,
)
"""What is looked for, one function a kind of finding or two."""
