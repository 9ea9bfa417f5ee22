"""A load test: the points of all its files, by load, and what was left out."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from headway.errors import HeadwayError, MeasurementError
from headway.models.files.intake import read_bytes
from headway.models.measured.columns import DELIVERED, OFFERED, POPULATION, RESPONSE, find
from headway.models.measured.measurements import LARGEST_FILE, Measurements
from headway.models.measured.points import Loop, Point, measurements_of
from headway.models.reading.gather import gather
from headway.models.reading.long import Long
from headway.models.reading.prose import is_no_measurement
from headway.models.reading.recognise import CSV, decoded, recognised
from headway.models.tables.shown import Answer


@dataclass(frozen=True)
class LeftOut:
    """A file that was not read, and why."""

    file: str
    reason: str


@dataclass(frozen=True)
class LoadTest(Answer):
    """What load generators wrote: points in the order of their load.

    Parameters
    ----------
    points
        At least one; several of one load are repeats.
    left_out
        Files that hold no point.
    """

    points: tuple[Point, ...]
    left_out: tuple[LeftOut, ...] = ()

    def __repr__(self) -> str:
        return f"LoadTest({len(self.points)} points by {', '.join(self.tools)})"

    @property
    def tools(self) -> tuple[str, ...]:
        """What wrote its files."""
        return tuple(dict.fromkeys(point.tool for point in self.points))

    @property
    def source(self) -> str:
        """Its name for messages and titles: the file, or the first of several."""
        files = tuple(dict.fromkeys(point.file for point in self.points))
        return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"

    @property
    def measurements(self) -> Measurements:
        """The same as a table, a row a point.

        Examples
        --------
        >>> points = (Point("wrk", population=2, throughput=90.0, response_time=0.02),)
        >>> LoadTest(points).measurements.column("throughput").values.tolist()
        [90.0]
        """
        table = measurements_of(self.points, self.source)
        return replace(table, kind=", ".join(self.tools))


def _silent() -> None:
    """Show no progress."""


def read_load_test(
    places: Sequence[str],
    skip_bad: bool = False,  # noqa: FBT001, FBT002
    advance: Callable[[], None] = _silent,
) -> LoadTest:
    """Read every file that some places name into points.

    Files of a folder or an archive that are no measurements (a licence, notes, scripts) are left
    out; one that is named, or that a reader knows and cannot read, is refused.

    Parameters
    ----------
    places
        As for `headway.models.reading.gather.gather`.
    skip_bad
        Leave files out that cannot be read, in place of refusing them all.
    advance
        Called after each megabyte of a long file.

    Raises
    ------
    MeasurementError
        For a file that cannot be read, where it is not to be left out; where none has a point.
    """
    points: list[Point] = []
    left_out: list[LeftOut] = []
    named = {str(Path(place)) for place in places}
    for name, content in gather(places):
        try:
            points += _points_in(name, content, advance)
        except HeadwayError as error:
            passed_over = name not in named and _is_nothing(content)
            if not skip_bad and not passed_over:
                raise
            left_out.append(LeftOut(name, f"{name}: {_NOTHING}" if passed_over else str(error)))
    if not points:
        raise _nothing_in(places, left_out)
    return LoadTest(tuple(sorted(points, key=lambda point: point.load)), tuple(left_out))


_NOTHING = "holds no measurements: no reader knows it, and it is no table"
_SHOWN = 5  # names of files where nothing could be read


def _nothing_in(places: Sequence[str], left_out: Sequence[LeftOut]) -> MeasurementError:
    """What refuses places without a point: it lists what was seen."""
    files = [PurePath(each.file).name for each in left_out]
    further = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    reasons = [each.reason for each in left_out if not each.reason.endswith(_NOTHING)][:3]
    seen = "; ".join([f"seen: {', '.join(files[:_SHOWN])}{further}", *reasons])
    place = places[0] if places else "no file"
    return MeasurementError(f"{place}: holds no measured point ({seen})")


def _points_in(name: str, content: bytes | Long, advance: Callable[[], None]) -> list[Point]:
    """The points of a file, whole or line by line."""
    if isinstance(content, bytes):
        return points_of(decoded(content, name), name)
    reader, _ = recognised(decoded(content.head(), name))
    if reader.stream is None:
        read_bytes(content.path, LARGEST_FILE)  # says that it is too large to be read whole
        return []
    lines = content.lines(advance)
    return [replace(point, file=name) for point in reader.stream(lines, name)]


def _is_nothing(content: bytes | Long) -> bool:
    """Whether a file that cannot be read is none of measurements."""
    if not isinstance(content, bytes) or not is_no_measurement(content):
        return False
    try:
        return recognised(decoded(content, ""))[0] is CSV
    except MeasurementError:
        return True


def points_of(text: str, source: str) -> list[Point]:
    r"""Make the points of one file: what its tool says, else the rows of its table.

    Examples
    --------
    >>> [point.response_time for point in points_of("load_ops_s,response_ms\n1,3.5", "a.csv")]
    [0.0035]
    """
    reader, _ = recognised(text)
    if reader.points is not None:
        return [replace(point, file=source) for point in reader.points(text, source)]
    return points_of_table(replace(reader.read(text, source), kind=reader.kind))


def points_of_table(table: Measurements) -> list[Point]:
    r"""Rows of a table as points, by the roles of its columns.

    Examples
    --------
    >>> table = Measurements.parse("load_ops_s,response_ms\n10,3.5", "a.csv")
    >>> [point.offered_rate for point in points_of_table(table)]
    [10.0]
    """
    roles = {
        "throughput": find(table, DELIVERED),
        "offered_rate": find(table, OFFERED),
        "population": find(table, POPULATION),
        "response_time": find(table, RESPONSE),
    }
    known = {name: column.values for name, column in roles.items() if column is not None}
    loop = Loop.CLOSED if "population" in known else None

    def cell(name: str, row: int) -> float | None:
        value = float(known[name][row]) if name in known else math.nan
        return None if math.isnan(value) else value

    return [
        Point(
            table.kind,
            loop,
            offered_rate=cell("offered_rate", row),
            population=cell("population", row),
            throughput=cell("throughput", row),
            response_time=cell("response_time", row),
            file=table.source,
        )
        for row in range(len(table))
    ]
