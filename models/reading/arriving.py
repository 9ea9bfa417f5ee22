"""How requests arrived at each point of a test, as the user states or as a log shows."""

from collections.abc import Sequence
from dataclasses import replace

from headway.errors import MeasurementError
from headway.models.measured.arrivals import TRACE, Gaps, arrival_scv_of
from headway.models.measured.points import Loop, Point
from headway.numerals import four_digits
from headway.records import dataclass

LOGS = (
    "vegeta (CSV, JSON lines), pgbench (log), k6 (NDJSON), Gatling; at a --rate JMeter, hey (CSV)"
)
"""Files with a time for every request; the last two are of closed tests otherwise."""


@dataclass(frozen=True)
class Arrived:
    """Points with the law of their arrivals, and a sentence on each thing found."""

    points: tuple[Point, ...]
    notes: tuple[str, ...] = ()


def arrived(points: Sequence[Point], said: str, source: str) -> Arrived:
    """Add the law of arrivals to the points of an open test.

    Parameters
    ----------
    points
        The points of all files of a test.
    said
        How they arrived: a word or an scv for all; ``trace`` for what each point's log shows; empty
        for what the files say.
    source
        The origin of the points, for messages.

    Raises
    ------
    MeasurementError
        For a closed test; and for ``trace`` if files have no single requests, too few, or a clock
        that is too coarse.

    Examples
    --------
    >>> log = Point("vegeta", Loop.OPEN, gaps=Gaps(900, 1.02, 0.06, 0.0, 0.0), file="a.csv")
    >>> found = arrived([log], "trace", "a.csv")
    >>> found.points[0].arrival_scv, found.notes
    (1.02, ('requests arrived with an scv of 1.02 by their log (standard error 0.06)',))
    """
    if not said:
        return Arrived(tuple(points))
    if all(point.loop is Loop.CLOSED for point in points):
        msg = (
            f"{source}: --arrivals is for open tests, but here each request waits for the one "
            "before; leave it out"
        )
        raise MeasurementError(msg)
    if not is_traced(said):
        scv = arrival_scv_of(said)
        return Arrived(tuple(_with(point, scv) for point in points))
    logged = [_logged(point) for point in points if point.loop is not Loop.CLOSED]
    return Arrived(tuple(_with(p, p.gaps.scv if p.gaps else None) for p in points), _notes(logged))


def is_traced(said: str) -> bool:
    """Whether a text says that logs show the arrivals."""
    return said.strip().lower() == TRACE


def _with(point: Point, scv: float | None) -> Point:
    return point if point.loop is Loop.CLOSED else replace(point, arrival_scv=scv)


def _logged(point: Point) -> Gaps:
    """The interarrival times at a point, if they are enough."""
    why = "the file does not list single requests" if point.gaps is None else point.gaps.lacking
    if point.course is not None and point.gaps is None:
        why = "its requests are too far out of the order in which they were sent"
    if why or point.gaps is None:
        msg = (
            f"{point.file}: --arrivals trace needs a log of requests ({LOGS}), but {why}; say "
            "constant, poisson or an scv"
        )
        raise MeasurementError(msg)
    return point.gaps


def _notes(logged: Sequence[Gaps]) -> tuple[str, ...]:
    """How requests arrived, and what an scv does not cover."""
    ends = [four_digits(end(each.scv for each in logged)) for end in (min, max)]
    error = four_digits(max(each.error for each in logged))
    scvs, logs, most = (
        (ends[0], "log", "") if ends[0] == ends[1] else (" to ".join(ends), "logs", "of at most ")
    )
    said = f"requests arrived with an scv of {scvs} by their {logs} (standard error {most}{error})"
    closest = max(logged, key=lambda each: each.correlation)
    if not any(each.is_correlated for each in logged):
        return (said,)
    related = (
        f"times between requests are correlated (up to {four_digits(closest.correlation)}): they "
        "came in bursts, which an scv does not describe, so waits are longer than predicted"
    )
    return said, related
