"""Measured points: what a load test offered, what it completed, and how many jobs were inside."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from itertools import chain
from typing import Any, TypeVar

from headway.errors import ImpossiblePoint, MeasurementError
from headway.models.language.frozen import Kept
from headway.models.measured.arrivals import Gaps
from headway.models.measured.course import Course
from headway.models.measured.measurements import Measurements
from headway.models.measured.roles import PERCENTILE, ROLES, UTILISATION, ColumnRole
from headway.numerals import digits, four_digits
from headway.records import dataclass

Given = TypeVar("Given")


class Loop(StrEnum):
    """Whether requests are sent regardless of answers, or each waits for the one before."""

    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, eq=False)
class Point(Kept):
    """One point of a load test, in SI; None for numbers that the tool does not print.

    Parameters
    ----------
    tool
        The name of the tool, as of its reader.
    loop
        Whether the test was open or closed.
    offered_rate
        Requests that should have been sent [1/s].
    population
        Clients, threads, connections, or how many may be outstanding.
    think_time
        Mean time between answer and next request [s].
    throughput
        Requests answered [1/s], without failures if the tool counts these separately.
    response_time
        Their mean response time [s].
    percentiles
        Response time by percentage, such as 99 [s].
    errors, samples, duration
        Requests that failed, requests measured, and for how long [s].
    dropped
        Share of the due requests that the generator never sent because it had no free client.
    arrival_scv
        Squared coefficient of variation of the interarrival times of an open test: 0 if requests
        were sent at equal intervals, 1 for Poisson arrivals.
    lateness
        Mean delay from when requests were due to when they were sent and timed [s].
    mean_of_rate
        Whether the tool computes the mean time from rate and population, so that Little's law holds
        by construction.
    with_failures
        Whether the times include failed requests.
    coarseness
        Relative error of percentiles against the mean, if they are known only to a bucket, or are
        for another part of the run or of the time.
    utilisation
        Share of time that a resource is busy, by its name.
    more
        Further numbers by name, which ends in the SI unit: ``bandwidth_bytes_s``.
    name
        Distinguishes the points of a file: a group of jobs, an operation, a message size.
    notes
        Caveats about these numbers, one sentence each, such as a mean computed from the rate.
    file
        The file it was read from.
    course
        The course of the run, if every request has a time.
    gaps
        The times between requests as they were sent, from the same files.
    same_run
        What all files that one run wrote have in common; empty if each is a measurement of its own.

    Raises
    ------
    ImpossiblePoint
        For impossible numbers: negative or not finite; a share above 1; no throughput although
        requests were answered.

    Examples
    --------
    >>> Point("wrk", Loop.CLOSED, population=64, throughput=800.0, response_time=0.08).inside
    64.0
    >>> Point("wrk", throughput=-800.0)
    Traceback (most recent call last):
        ...
    headway.errors.ImpossiblePoint: throughput is -800; it cannot be negative
    """

    tool: str
    loop: Loop | None = None
    offered_rate: float | None = None
    population: float | None = None
    think_time: float | None = None
    throughput: float | None = None
    response_time: float | None = None
    percentiles: Mapping[float, float] = field(default_factory=dict)
    errors: float | None = None
    samples: float | None = None
    duration: float | None = None
    dropped: float | None = None
    lateness: float | None = None
    arrival_scv: float | None = None
    mean_of_rate: bool = False
    with_failures: bool = False
    coarseness: float = 0.0
    utilisation: Mapping[str, float] = field(default_factory=dict)
    more: Mapping[str, float] = field(default_factory=dict)
    name: str = ""
    notes: tuple[str, ...] = ()
    file: str = ""
    course: Course | None = None
    gaps: Gaps | None = None
    same_run: str = ""

    def __post_init__(self) -> None:
        """Refuse impossible numbers, whatever reader, table or program made the point."""
        super().__post_init__()
        why = next(chain(_no_numbers(self), _no_shares(self), _no_clock(self)), "")
        if why:
            raise ImpossiblePoint(why)

    @property
    def finished(self) -> float | None:
        """Rate of requests that finished, including failures [1/s]; None if it is not known.

        Examples
        --------
        >>> Point("vegeta", throughput=60.0, errors=100, samples=400, duration=2.0).finished
        110.0
        """
        if not self.errors:
            return self.throughput
        if self.duration:
            return (self.throughput or 0.0) + self.errors / self.duration
        good = (self.samples or 0.0) - self.errors * self.with_failures
        if self.throughput is None or good <= 0:
            return None
        return self.throughput * (1 + self.errors / good)

    @property
    def inside(self) -> float | None:
        """Mean number of requests inside, by Little's law X R; None if X or R is missing.

        Rate and time refer to the same requests: all that finished if times include failures,
        otherwise those that succeeded.
        """
        rate = self.finished if self.with_failures else self.throughput
        if rate is None or self.response_time is None:
            return None
        return rate * self.response_time

    @property
    def is_monitor(self) -> bool:
        """Whether it has the utilisation of a machine and no requests."""
        return bool(self.utilisation) and self.throughput is None and self.response_time is None

    @property
    def load(self) -> float:
        """The key that orders points: the offered rate, else the population, else the throughput.

        An open test of unknown rate is ordered by throughput.
        """
        return next((value for value, _ in self._loads() if value is not None), math.inf)

    @property
    def load_unit(self) -> str:
        """The unit of the load: clients, or operations per second."""
        return next((counted for value, counted in self._loads() if value is not None), "")

    def _loads(self) -> tuple[tuple[float | None, str], ...]:
        """Possible loads in order of preference, each with its unit."""
        own = (self.population, "clients")
        others = (self.throughput, "op/s") if self.loop is Loop.OPEN else own
        return (self.offered_rate, "op/s"), others, (self.throughput, "op/s")

    def document(self) -> dict[str, Any]:
        """A point as an entry of the JSON contract."""
        common = {50.0, 90.0, 95.0, 99.0}
        return {
            "file": self.file,
            "tool": self.tool,
            "name": self.name or None,
            "loop": self.loop.value if self.loop else None,
            "offered_rate": self.offered_rate,
            "population": self.population,
            "think_time": self.think_time,
            "throughput": self.throughput,
            "response_time": self.response_time,
            **{
                f"response_time_p{digits(percent)}": self.percentiles.get(percent)
                for percent in sorted(common | self.percentiles.keys())
            },
            "errors": self.errors,
            "samples": self.samples,
            "duration": self.duration,
            "dropped": self.dropped,
            "lateness": self.lateness,
            "arrival_scv": self.arrival_scv,
            "mean_of_rate": self.mean_of_rate,
            "with_failures": self.with_failures,
            "utilisation": dict(self.utilisation) or None,
            **self.more,
            "notes": list(self.notes),
        }


SHORTEST, LONGEST = "response_time_min_s", "response_time_max_s"
"""Names of the shortest and longest response time in `Point.more`."""

DRAIN = "drain_s"
"""Name in `Point.more` of the time from the last request sent to the last answer."""

LAG = "schedule_lag_s"
"""Name in `Point.more` of a mean wait for a free client that response times include."""

QUEUE = "queue"
"""Name in `Point.more` of the mean number of requests in a device."""

_NUMBERS = (
    "offered_rate", "population", "think_time", "throughput", "response_time", "errors", "samples",
    "duration", "dropped", "lateness", "arrival_scv",
)  # fmt: skip
_ROUNDED = 1.05  # monitors print up to 105% for a resource that is full


def _no_numbers(point: Point) -> Iterator[str]:
    """Numbers that are negative or not finite."""
    for name, value in _named(point):
        if not math.isfinite(value):
            yield f"{name} is {value}, which is not a number"
        if value < 0:
            yield f"{name} is {digits(value)}; it cannot be negative"


def _no_shares(point: Point) -> Iterator[str]:
    """Shares above 1, and percentages above 100."""
    if any(not 0 <= percent <= 100 for percent in point.percentiles):
        yield "a percentile needs a percentage from 0 to 100"
    if (point.dropped or 0.0) > 1:
        yield f"dropped is {digits(point.dropped or 0.0)}; a share cannot exceed 1"
    most = max(1.0, point.more.get("cores", 1.0))
    for name, share in point.utilisation.items():
        if share > _ROUNDED * most:
            yield f"utilisation of {name} is {four_digits(share)}; it cannot exceed {digits(most)}"


def _no_clock(point: Point) -> Iterator[str]:
    """Requests that were answered in zero or infinite time."""
    answered = (point.samples or 0.0) - (point.errors or 0.0)
    if point.throughput == 0 and answered > 0:
        yield (
            f"throughput is 0 although {digits(answered)} requests were answered: the clock of the "
            "measurement is broken; measure again"
        )


def _named(point: Point) -> Iterator[tuple[str, float]]:
    """All known numbers of a point, with their names."""
    single = ((name, getattr(point, name)) for name in _NUMBERS)
    yield from ((name.replace("_", " "), value) for name, value in single if value is not None)
    yield from ((f"p{digits(percent)}", value) for percent, value in point.percentiles.items())
    yield from ((f"utilisation of {name}", value) for name, value in point.utilisation.items())
    yield from point.more.items()


TITLES = {role.part: role.written for role in ROLES if role.part}
"""Titles of the columns of points, by field."""


def placed_points(
    make: Callable[[Given, str], Sequence[Point]], given: Given, source: str
) -> list[Point]:
    """The points of a file, each with its name; an impossible one is refused with the file's.

    Parameters
    ----------
    make
        A function that makes points from a text or lines, and from their name for messages.
    given, source
        The text or lines, and their name.

    Raises
    ------
    MeasurementError
        As for `make`, and for a point with an impossible number.

    Examples
    --------
    >>> placed_points(lambda text, _: [Point("beat", throughput=float(text))], "-12", "a.txt")
    Traceback (most recent call last):
        ...
    headway.errors.MeasurementError: a.txt: throughput is -12; it cannot be negative
    """
    try:
        return [replace(point, file=source) for point in make(given, source)]
    except ImpossiblePoint as error:
        msg = f"{source}: {error}"
        raise MeasurementError(msg) from None


def measurements_of(points: Sequence[Point], source: str) -> Measurements:
    """Make a table of points, one row each, without columns that no point fills.

    Parameters
    ----------
    points
        At least one.
    source
        Their name, for messages.

    Raises
    ------
    MeasurementError
        If there are no points.

    Examples
    --------
    >>> one = Point("wrk", throughput=800.0, response_time=0.08, percentiles={99.0: 0.2})
    >>> list(measurements_of([one], "runs").columns)
    ['throughput_ops_s', 'response_s', 'p99_s']
    """
    if not points:
        msg = f"{source}: it contains no measured point"
        raise MeasurementError(msg)
    columns = dict(_columns(points))
    kept = {t: cells for t, cells in columns.items() if any(c is not None for c in cells)}
    rows = [[_cell(cell) for cell in row] for row in zip(*kept.values(), strict=True)]
    text = "\n".join(",".join(row) for row in [list(kept), *rows])
    table = Measurements.parse(text, source)
    return replace(table, made_of=tuple(points)) if len(table) == len(points) else table


def _columns(points: Sequence[Point]) -> Iterator[tuple[str, list[float | None]]]:
    """Titles and cells: numbers of each point, percentiles, utilisations, and further numbers."""
    for name, title in TITLES.items():
        yield title, [getattr(p, name) for p in points]
    for percent in sorted({percent for p in points for percent in p.percentiles}):
        title = ColumnRole(PERCENTILE, f"{digits(percent)}").written
        yield title, [p.percentiles.get(percent) for p in points]
    for resource in _names(p.utilisation for p in points):
        title = ColumnRole(UTILISATION, resource).written
        yield title, [p.utilisation.get(resource) for p in points]
    for name in _names(p.more for p in points):
        yield name, [p.more.get(name) for p in points]


def _names(tables: Iterable[Mapping[str, float]]) -> list[str]:
    return list(dict.fromkeys(name for table in tables for name in table))


def _cell(value: float | None) -> str:
    """A number without its rounding error: 0.02108 if 21.08 ms was read."""
    return "" if value is None or not math.isfinite(value) else f"{value:.15g}"
