"""The reader of a kind of file: how it recognises its files, and how it reads them."""

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Point, measurements_of, placed_points
from headway.models.measured.window import WHOLE, RunWindow
from headway.records import dataclass

HEAD = 64_000
"""Characters at the start of a file in which its kind shows."""


@dataclass(frozen=True)
class Reader:
    r"""Reads one kind of file into measurements.

    Parameters
    ----------
    kind
        The name of its kind of file.
    recognises
        Whether a text is of this kind: any true value if it is. Called with the first lines of
        every file, 64,000 characters at most, so it must be quick and must not fail.
    read
        Makes measurements from such a text and its name for messages; raises
        `headway.errors.MeasurementError` for a corrupt one.
    points
        Makes points from the output of a tool; None if the file is a table as it is.
    contents
        What its files contain, for the list of formats.
    stream
        Makes points from a file of any length line by line; None if it is read as a whole.
    log
        Makes points of a part of the run, if every request has its time; None if requests have no
        times.
    join
        Makes points from all files of a run, if the tool writes one for each thread; otherwise
        None.

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
    log: "Log | None" = None
    join: "Join | None" = None

    def cut(self, window: RunWindow, source: str) -> "Reader":
        """Read a part of each run only.

        Parameters
        ----------
        window
            The part.
        source
            What is read with it, for messages.

        Raises
        ------
        MeasurementError
            If its files do not have a time for each request.
        """
        if window.is_whole:
            return self
        if self.log is None:
            raise window.refuse(self.kind, source)
        part = partial(self.log, window=window)
        return line_reader(self.kind, self.recognises, part, self.contents)


Points = Callable[[str, str], Sequence[Point]]
"""Makes points from a text and its name for messages."""

Stream = Callable[[Iterable[str], str], Sequence[Point]]
"""Makes points from the lines of a file and its name for messages."""

LinesOf = tuple[str, Iterable[str]]
"""The name of a file, and its lines."""

Join = Callable[[Sequence[LinesOf], RunWindow], Sequence[Point]]
"""Makes points from the files of one run, of which only a part counts."""


class Log(Protocol):
    """Makes points from the lines of a log, of the requests sent within a window."""

    def __call__(self, lines: Iterable[str], source: str, window: RunWindow) -> Sequence[Point]:
        """Make points.

        Parameters
        ----------
        lines, source
            The lines of a file, and its name for messages.
        window
            The part of the run that counts.
        """
        ...


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


def log_reader(kind: str, recognises: Callable[[str], object], log: Log, contents: str) -> Reader:
    r"""Make a reader of a log in which every request has its time: it can be cut.

    Parameters
    ----------
    kind, recognises, contents
        As for `line_reader`.
    log
        As for `Reader`.

    Examples
    --------
    >>> def points(lines, source, window):
    ...     times = [float(line) for line in lines]
    ...     return [Point("beat", samples=sum(window.start <= t < window.end for t in times))]
    >>> beat = log_reader("beat", lambda text: text.startswith("0"), points, "times")
    >>> late = beat.cut(RunWindow(4.0), "")
    >>> [each.points("0\n5\n9", "a.txt")[0].samples for each in (beat, late)]
    [3, 2]
    """
    whole = line_reader(kind, recognises, partial(log, window=WHOLE), contents)
    return replace(whole, log=log)
