"""What a reader of a kind of file is: how it knows its files, and how it reads them."""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Point, measurements_of


@dataclass(frozen=True)
class Reader:
    r"""Reads one kind of file into measurements.

    Parameters
    ----------
    kind
        What its files are called.
    recognises
        Whether a text is of this kind: something true if it is. Asked of every file, so it
        must be quick and must not fail.
    read
        Makes measurements of such a text and of its name for messages; raises
        `headway.errors.MeasurementError` for a spoilt one.
    points
        Makes points of them, of what a tool wrote; None of what is a table as it stands.
    tells
        What its files tell, for the list of formats.
    stream
        Makes points of a file line by line, however long it is; None of what is read whole.

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
    tells: str = ""
    stream: "Stream | None" = None


Points = Callable[[str, str], Sequence[Point]]
"""Makes the points of a text, of its name for messages."""

Stream = Callable[[Iterable[str], str], Sequence[Point]]
"""Makes the points of lines as a file gives them, of its name for messages."""


def tool_reader(
    kind: str, recognises: Callable[[str], object], points: Points, tells: str
) -> Reader:
    """Make the reader of what a tool writes.

    Parameters
    ----------
    kind, recognises, tells
        As for `Reader`.
    points
        One point or several, in the order of the file.

    Examples
    --------
    >>> def points(text, source):
    ...     return [Point("beat", throughput=float(text.split()[1]))]
    >>> beat = tool_reader("beat", lambda text: text.startswith("beat"), points, "a rate")
    >>> beat.read("beat 12", "a.txt").column("throughput").values.tolist()
    [12.0]
    """

    def read(text: str, source: str) -> Measurements:
        return measurements_of(points(text, source), source)

    return Reader(kind, recognises, read, points, tells)


def line_reader(
    kind: str, recognises: Callable[[str], object], stream: Stream, tells: str
) -> Reader:
    """Make the reader of what a tool writes line by line: its files may be of any length.

    Parameters
    ----------
    kind, recognises, tells
        As for `Reader`; what it recognises shows in the first lines.
    stream
        As for `Reader`; each line is asked for once.

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

    return replace(tool_reader(kind, recognises, points, tells), stream=stream)
