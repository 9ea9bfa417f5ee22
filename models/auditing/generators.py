"""The generator: whether it sent what it should, and whether its numbers can be checked."""

import math
from collections.abc import Iterator, Sequence

from headway.models.auditing.finding import (
    Finding,
    FindingKind,
    Severity,
    naming,
    of_several,
    time_text,
)
from headway.models.measured.points import Loop, Point
from headway.numerals import digits, four_digits

_GAP = 0.05  # relative difference of X (R + Z) and the population above which it is a finding
_MANY = 1.0  # gap above which it is reported as a factor
_DROPPED = 0.005  # share of requests never sent above which it is a finding
_LATE = 0.1  # of the response time, or of the mean time between requests: delay that counts as late
_BUSY = 0.9  # utilisation above which a machine counts as saturated

LITTLES_LAW = FindingKind(
    "littles_law",
    Severity.WARNING,
    "throughput times (response time + think time), `value`, differs from the population",
    "check the load on the generator itself and what it counts",
)
MEAN_OF_RATE = FindingKind(
    "mean_of_rate",
    Severity.NOTE,
    "the tool computes the mean time from the rate, so Little's law cannot check it",
    "use its percentiles, or a tool that times each request",
)
RAN_OUT = FindingKind(
    "ran_out_of_clients",
    Severity.ERROR,
    "the generator had no free client for a share `value` of the requests due",
    "give it more clients, or treat the test as closed",
)
SENT_LATE = FindingKind(
    "sent_late",
    Severity.WARNING,
    "requests were sent `value` seconds late on average, and timed from when they were sent",
    "use more generators, or add that wait to the times",
)
SATURATED = FindingKind(
    "generator_saturated",
    Severity.WARNING,
    "a monitor among the files shows processors busy for a share `value` of the time",
    "if they belong to the generator, use more generators: such a test measures the generator "
    "itself",
)


def breaks_littles_law(points: Sequence[Point]) -> Iterator[Finding]:
    """Closed tests in which X (R + Z) differs from the population; parts of a mix are added up."""
    gaps = {
        k: gap
        for k in range(len(points))
        if abs(gap := _gap(points, k)) > _GAP + _by_chance(points[k])
    }
    thinking = {k: gap for k, gap in gaps.items() if gap < 0 and points[k].think_time is None}
    less = {k: gap for k, gap in gaps.items() if gap < 0 and k not in thinking}
    more = {k: gap for k, gap in gaps.items() if gap > 0}
    for some, why, severity in (
        (
            more,
            "the tool adds the time by which it delayed requests, as wrk does, or clients "
            "did not wait for their answers",
            None,
        ),
        (less, "the missing clients waited in the generator", None),
        (thinking, "the missing clients were thinking, or waited in the generator", Severity.NOTE),
    ):
        if some:
            worst = max(some, key=lambda k: abs(some[k]))
            clients = points[worst].population or 0.0
            inside = clients * (1 + some[worst])
            yield LITTLES_LAW.finding(
                f"{naming([worst], points)}: throughput times response time is "
                f"{four_digits(inside)}, {_share(some[worst])} the population of "
                f"{digits(clients)}: {why}{of_several(len(some))}",
                some,
                inside,
                severity=severity,
            )


def _share(gap: float) -> str:
    """A gap in percent; a large one as how many times the population."""
    if gap < _MANY:
        return f"{abs(gap):.0%} {'above' if gap > 0 else 'below'}"
    return f"{four_digits(1 + gap)} times"


def _gap(points: Sequence[Point], place: int) -> float:
    """Relative excess of X (R + Z) over the population; 0 if one is unknown.

    Failed requests also take time, and parts of a mix share the population: the nearest reading
    counts.
    """
    point = points[place]
    clients = _clients(point)
    if not point.population or clients is None or not _proves(point):
        return 0.0
    mix = sum(_clients(other) or 0.0 for other in points if _shares(other, point))
    failed = min((point.errors or 0.0) / point.samples, 0.99) if point.samples else 0.0
    inside = (clients, mix, clients / (1 - failed))
    return min((each / point.population - 1 for each in inside), key=abs)


def _by_chance(point: Point) -> float:
    """Scatter of the mean of so many think times about their expectation, as a share of clients.

    Three standard errors of exponential times, whose standard deviation is their mean.
    """
    thinking = (point.throughput or 0.0) * (point.think_time or 0.0)
    if not thinking or not point.samples:
        return 0.0
    return 3 * thinking / (point.population or math.inf) / math.sqrt(point.samples)


def _proves(point: Point) -> bool:
    """Whether Little's law must hold: paced clients wait for their turn."""
    return point.loop is Loop.CLOSED and not point.mean_of_rate and point.offered_rate is None


def _clients(point: Point) -> float | None:
    """Clients that wait or think, X (R + Z)."""
    if point.inside is None:
        return None
    return point.inside + (point.throughput or 0.0) * (point.think_time or 0.0)


def _shares(other: Point, point: Point) -> bool:
    """Whether two points of a file may share a population, such as reads and writes of a mix."""
    return (other.file, other.population, other.load) == (point.file, point.population, point.load)


def has_mean_of_rate(points: Sequence[Point]) -> Iterator[Finding]:
    """Means that the tool computes from rate and population."""
    places = [k for k, point in enumerate(points) if point.mean_of_rate]
    if places:
        tools = ", ".join(dict.fromkeys(points[k].tool for k in places))
        yield MEAN_OF_RATE.finding(
            f"{tools} computes its mean time from the rate and the number of clients, so "
            "Little's law holds by construction and checks nothing",
            places,
        )


def ran_out(points: Sequence[Point]) -> Iterator[Finding]:
    """Requests that were due but never sent."""
    shares = {k: p.dropped for k, p in enumerate(points) if p.dropped and p.dropped > _DROPPED}
    if shares:
        worst = max(shares, key=lambda k: shares[k])
        yield RAN_OUT.finding(
            f"{naming([worst], points)}: {points[worst].tool} ran out of clients and did not send "
            f"{shares[worst]:.1%} of the requests that were due{of_several(len(shares))}",
            shares,
            shares[worst],
        )


def sent_late(points: Sequence[Point]) -> Iterator[Finding]:
    """Requests sent so late that the delay matters for their response time."""
    late = [k for k, point in enumerate(points) if _is_late(point)]
    if late:
        most = max(points[k].lateness or 0.0 for k in late)
        shown = time_text(most, points)
        yield SENT_LATE.finding(
            f"{naming(late, points)}: requests were sent up to {shown} late on average, and "
            "timed from when they were sent",
            late,
            most,
            times=[(shown, most)],
        )


def _is_late(point: Point) -> bool:
    return bool(point.lateness and point.lateness > _LATE * (point.response_time or 0.0))


def is_saturated(points: Sequence[Point]) -> Iterator[Finding]:
    """Saturated processors, according to a monitor among the files of a test."""
    tools = {point.tool.lower() for point in points if not point.is_monitor}
    for place, point in enumerate(points):
        shares = {name: share for name, share in point.utilisation.items() if "cpu" in name}
        name = max(shares, key=lambda key: shares[key], default="")
        busy = shares.get(name, 0.0)
        makes_load = point.name.lower().partition(" ")[0] in tools
        if not (tools and point.is_monitor and busy > _BUSY and (makes_load or not point.name)):
            continue
        who = f"{point.name}, which generates the load," if makes_load else name
        full = makes_load and busy > _BUSY * point.more.get("cores", 1.0)
        yield SATURATED.finding(
            f"{point.file or point.tool}: {who} was busy for {busy:.0%} of the time",
            [place],
            busy,
            severity=Severity.ERROR if full else None,
        )
