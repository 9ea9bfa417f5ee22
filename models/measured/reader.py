"""The reader of a kind of file: how it recognises its files, and how it reads them."""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Point, measurements_of, placed_points


@dataclass(frozen=True)
class Reader:
    r"""Reads one kind of file into measurements.

    Parameters
    ----------
    kind
        The name of its kind of file.
    recognises
        Whether a text is of this kind: any true value if it is. Called with every file, so it
        must be quick and must not fail.
    read
        Makes measurements from such a text and its name for messages; raises
        `headway.errors.MeasurementError` for a corrupt one.
    points
        Makes points from the output of a tool; None if the file is a table as it is.
    contents
        What its files contain, for the list of formats.
    stream
        Makes points from a file of any length line by line; None if it is read as a whole.

    Examples
    --------
    >>> def read(text, source):
    ...     return Measurements.parse(text.replace("|", ","), source)
    >>> bars = Reader("bars", lambda text: "|" in text, read)
    >>> bars.read("load_ops_s|response_ms\n100|3.4\n", "a.bars").column("response").values.tolist()
    [0.0034]
    """

    kind: str
    recognises: Callable[[str], object]
    read: Callable[[str, str], Measurements]
    points: "Points | None" = None
    contents: str = ""
    stream: "Stream | None" = None


Points = Callable[[str, str], Sequence[Point]]
"""Makes points from a text and its name for messages."""

Stream = Callable[[Iterable[str], str], Sequence[Point]]
"""Makes points from the lines of a file and its name for messages."""


def tool_reader(
    kind: str, recognises: Callable[[str], object], points: Points, contents: str
) -> Reader:
    """Make a reader of a tool's output.

    Parameters
    ----------
    kind, recognises, contents
        As for `Reader`.
    points
        Makes one point or several, in the order of the file.

    Examples
    --------
    >>> def points(text, source):
    ...     return [Point("beat", throughput=float(text.split()[1]))]
    >>> beat = tool_reader("beat", lambda text: text.startswith("beat"), points, "a rate")
    >>> beat.read("beat 12", "a.txt").column("throughput").values.tolist()
    [12.0]
    """
    placed = partial(placed_points, points)

    def read(text: str, source: str) -> Measurements:
        return measurements_of(placed(text, source), source)

    return Reader(kind, recognises, read, placed, contents)


def line_reader(
    kind: str, recognises: Callable[[str], object], stream: Stream, contents: str
) -> Reader:
    """Make a reader of a tool's output, line by line: its files may have any length.

    Parameters
    ----------
    kind, recognises, contents
        As for `Reader`; it recognises a file by its first lines.
    stream
        As for `Reader`; it reads each line once.

    Examples
    --------
    >>> def points(lines, source):
    ...     return [Point("beat", samples=sum(1.0 for _ in lines))]
    >>> beat = line_reader("beat", lambda text: text.startswith("beat"), points, "a number")
    >>> beat.points("beat 12", "a.txt")[0].samples
    1.0
    """

    def points(text: str, source: str) -> Sequence[Point]:
        return stream(io.StringIO(text, newline=""), source)

    placed = partial(placed_points, stream)
    return replace(tool_reader(kind, recognises, points, contents), stream=placed)
