"""The generator: whether it sent what it should, and whether its numbers can prove anything."""

from collections.abc import Iterator, Sequence

from headway.models.auditing.finding import Finding, Kind, Severity, naming, of_several
from headway.models.measured.points import Loop, Point

_GAP = 0.05  # relative, between X (R + Z) and the population, from which it is said
_DROPPED = 0.005  # share of requests never sent from which it is said
_LATE = 0.1  # of the response time, or of the mean time between requests: sent too late
_BUSY = 0.9  # utilisation from which a machine is saturated

LITTLES_LAW = Kind(
    "littles_law",
    Severity.WARNING,
    "throughput times (response time + think time), `value`, differs from the population",
    "check the load on the generator itself, and what it counts",
)
MEAN_OF_RATE = Kind(
    "mean_of_rate",
    Severity.NOTE,
    "the tool computes the mean time from the rate, so Little's law cannot check it",
    "use its percentiles, or a tool that times each request",
)
RAN_OUT = Kind(
    "ran_out_of_clients",
    Severity.ERROR,
    "the generator had no free client for the share `value` of the requests due",
    "give it more clients; until then treat the test as closed",
)
SENT_LATE = Kind(
    "sent_late",
    Severity.WARNING,
    "requests were sent `value` seconds late on average, and timed from when they were sent",
    "use more generators, or add that wait to the times",
)
SATURATED = Kind(
    "generator_saturated",
    Severity.WARNING,
    "a monitor among the files shows processors busy for the share `value` of the time",
    "if they belong to the generator, spread the load over more: such a test measures the "
    "generator",
)


def breaks_littles_law(points: Sequence[Point]) -> Iterator[Finding]:
    """Closed tests in which X (R + Z) is not the population, parts of a mix taken together."""
    gaps = {k: gap for k in range(len(points)) if abs(gap := _gap(points, k)) > _GAP}
    thinking = {k: gap for k, gap in gaps.items() if gap < 0 and points[k].think_time is None}
    less = {k: gap for k, gap in gaps.items() if gap < 0 and k not in thinking}
    more = {k: gap for k, gap in gaps.items() if gap > 0}
    for some, why, severity in (
        (
            more,
            "too many: the tool adds the delay of requests it held back, as wrk does, or clients "
            "did not wait for their answers",
            None,
        ),
        (less, "of its clients waited in the generator", None),
        (thinking, "of its clients thought, or waited in the generator", Severity.NOTE),
    ):
        if some:
            worst = max(some, key=lambda k: abs(some[k]))
            clients = points[worst].population or 0.0
            held = clients * (1 + some[worst])
            yield LITTLES_LAW.finding(
                f"{naming([worst], points)}: throughput times response time is {held:.4g}, the "
                f"population {clients:g}: {abs(some[worst]):.0%} {why}{of_several(len(some))}",
                some,
                held,
                severity=severity,
            )


def _gap(points: Sequence[Point], place: int) -> float:
    """What X (R + Z) is more than the population, relative to it; 0 where nothing is known.

    Requests that failed take their time as well, and parts of a mix share the population: what
    comes nearest counts.
    """
    point = points[place]
    held = _held(point)
    if not point.population or held is None or not _proves(point):
        return 0.0
    mix = sum(_held(other) or 0.0 for other in points if _shares(other, point))
    failed = min((point.errors or 0.0) / point.samples, 0.99) if point.samples else 0.0
    inside = (held, mix, held / (1 - failed))
    return min((each / point.population - 1 for each in inside), key=abs)


def _proves(point: Point) -> bool:
    """Whether Little's law must hold: clients of a set pace wait for their turn."""
    return point.loop is Loop.CLOSED and not point.mean_of_rate and point.offered_rate is None


def _held(point: Point) -> float | None:
    """Clients that wait or think, X (R + Z)."""
    if point.inside is None:
        return None
    return point.inside + (point.throughput or 0.0) * (point.think_time or 0.0)


def _shares(other: Point, point: Point) -> bool:
    """Whether two points of a file may be one population's, as reads and writes of a mix are."""
    return (other.file, other.population, other.load) == (point.file, point.population, point.load)


def has_mean_of_rate(points: Sequence[Point]) -> Iterator[Finding]:
    """Means that the tool made from rate and population."""
    places = [k for k, point in enumerate(points) if point.mean_of_rate]
    if places:
        tools = ", ".join(dict.fromkeys(points[k].tool for k in places))
        yield MEAN_OF_RATE.finding(
            f"{tools} computes its mean time from rate and clients, so Little's law always holds "
            "and checks nothing",
            places,
        )


def ran_out(points: Sequence[Point]) -> Iterator[Finding]:
    """Requests that were due and never sent."""
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
    """Requests sent so late after they were due that it matters for their response time."""
    late = [k for k, point in enumerate(points) if _is_late(point)]
    if late:
        most = max(points[k].lateness or 0.0 for k in late)
        yield SENT_LATE.finding(
            f"{naming(late, points)}: requests were sent up to {most:.3g} s late on average, and "
            "timed from when they were sent",
            late,
            most,
        )


def _is_late(point: Point) -> bool:
    return bool(point.lateness and point.lateness > _LATE * (point.response_time or 0.0))


def is_saturated(points: Sequence[Point]) -> Iterator[Finding]:
    """Processors that were busy all the time, by a monitor among the files of a test."""
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
