"""Find numbers in the texts of tools by the words around them, with file and line."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from headway.errors import MeasurementError
from headway.models.measured.tools.kit.numbers import cell, number, seconds
from headway.models.measured.tools.kit.refusals import broken
from headway.records import dataclass

HEAD = 4096
"""Characters at the start of a text in which its kind shows."""

CELL = r"(-?[\w.,+-]+)"
"""Matches anything in the place of a number: a corrupt one is refused, not skipped."""


def placed(lines: str | Iterable[str], source: str, first: int = 1) -> Iterator[tuple[str, str]]:
    r"""Lines of a text, each after its place: the file and the number of the line.

    Parameters
    ----------
    lines
        A text, or the lines of a file.
    source, first
        The file, and the number of the first line in it.

    Examples
    --------
    >>> list(placed("a\nb\n", "x.txt"))
    [('x.txt:1', 'a'), ('x.txt:2', 'b')]
    """
    parted = lines.splitlines() if isinstance(lines, str) else lines
    for count, line in enumerate(parted, first):
        yield f"{source}:{count}", line.rstrip("\r\n")


@dataclass(frozen=True)
class MatchedLine:
    """The groups of a matched line, and its place."""

    groups: tuple[str, ...]
    place: str

    def number(self, group: int = 0) -> float:
        """A group as a number."""
        return number(self.groups[group], self.place)

    def seconds(self, unit: str = "", group: int = 0) -> float:
        """A group as a time [s]; `unit` applies if none is attached."""
        return seconds(self.groups[group], self.place, unit)


@dataclass(frozen=True)
class ToolText:
    r"""A text, or part of one, with numbers beside words.

    Parameters
    ----------
    text, source
        A tool's output, and its file.
    first
        The number of its first line in the file.

    Examples
    --------
    >>> result = ToolText("clients: 16\nlatency: 2.5 ms\n", "run.txt")
    >>> result.number(r"^latency: CELL ms", 1e-3)
    0.0025
    >>> result.number("^errors: CELL") is None
    True
    >>> result.needs(r"clients:\s+(\S+)", "clients: 9")
    MatchedLine(groups=('16',), place='run.txt:1')
    """

    text: str
    source: str
    first: int = 1

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Lines, each after its place."""
        return placed(self.text, self.source, self.first)

    @property
    def end(self) -> str:
        """The place of its last line."""
        return f"{self.source}:{self.first + max(len(self.text.splitlines()), 1) - 1}"

    def find(self, pattern: str) -> re.Match[str] | None:
        """The first match of a pattern, where CELL is a number and ^ the start of a line."""
        return re.search(pattern.replace("CELL", CELL), self.text, re.MULTILINE)

    def place(self, match: re.Match[str]) -> str:
        """The place of a match: file and line."""
        return f"{self.source}:{self.text.count(chr(10), 0, match.start(1)) + self.first}"

    def number(self, pattern: str, scale: float = 1.0) -> float | None:
        """The number in a pattern's first group, in SI; None if it is missing or "none".

        Raises
        ------
        MeasurementError
            For anything but a number in its place.
        """
        match = self.find(pattern)
        return None if match is None else cell(match[1], self.place(match), scale)

    def needed(self, pattern: str, what: str, scale: float = 1.0) -> float:
        """The same for a number that the file must contain.

        Raises
        ------
        MeasurementError
            If it is missing, with its name and the remedy.
        """
        value = self.number(pattern, scale)
        if value is None:
            raise self.missing(what)
        return value

    def missing(self, what: str) -> MeasurementError:
        """The error of a text that ends without a necessary part; names the last line."""
        return broken(self.end, f"there is no {what}")

    def all(self, pattern: str) -> list[MatchedLine]:
        """The rest of every line with this beginning."""
        known = re.compile(pattern)
        matches = ((place, known.match(line)) for place, line in self)
        return [MatchedLine(match.groups(), place) for place, match in matches if match]

    def needs(self, pattern: str, shape: str) -> MatchedLine:
        """The rest of the first such line.

        Raises
        ------
        MeasurementError
            If there is none, with the last line of the text and an example of the missing one.
        """
        lines = self.all(pattern)
        if not lines:
            msg = f"{self.end}: no line such as '{shape}' up to here; use the complete output"
            raise MeasurementError(msg)
        return lines[0]

    def until(self, mark: str) -> "ToolText":
        """The same text up to the first line that contains a mark."""
        lines = self.text.splitlines(keepends=True)
        ends = (index for index, line in enumerate(lines) if mark in line)
        return ToolText("".join(lines[: next(ends, len(lines))]), self.source, self.first)


def runs(text: str, source: str, start: str) -> list[ToolText]:
    r"""Split a text into runs, each from a line that begins with ``start``.

    Raises
    ------
    MeasurementError
        If no line does.

    Examples
    --------
    >>> [run.end for run in runs("noise\nRunning 1\na\nRunning 2\n", "a.txt", "Running")]
    ['a.txt:3', 'a.txt:4']
    """
    lines, known = text.splitlines(keepends=True), re.compile(start)
    starts = [index for index, line in enumerate(lines) if known.match(line)]
    if not starts:
        msg = f"{source}:1: no line begins with '{start}', so there is no run"
        raise MeasurementError(msg)
    ends = [*starts[1:], len(lines)]
    return [ToolText("".join(lines[a:b]), source, a + 1) for a, b in zip(starts, ends, strict=True)]


def cells_of(line: str, place: str) -> list[str]:
    """Cells of a line separated by commas, except within quotes.

    Raises
    ------
    MeasurementError
        For an unclosed quote.

    Examples
    --------
    >>> cells_of('"GET, all",9', "a.csv:2")
    ['GET, all', '9']
    """
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        raise broken(place, "a quote is not closed") from None


def by_title(titles: Sequence[str], cells: Sequence[str], place: str) -> dict[str, str]:
    """The cells of a row by title.

    Raises
    ------
    MeasurementError
        For more or fewer cells than titles: the file may be truncated.

    Examples
    --------
    >>> by_title(["rate", "mean"], ["9", "0.1"], "a.txt:2")
    {'rate': '9', 'mean': '0.1'}
    """
    if len(cells) != len(titles):
        raise broken(place, f"{len(cells)} cells under {len(titles)} titles")
    return dict(zip(titles, cells, strict=True))


def begins(*heads: str) -> Callable[[str], bool]:
    """Make a function that recognises texts by their beginning.

    Examples
    --------
    >>> begins("Type,Name,")("Type,Name,Requests")
    True
    """
    return lambda text: text.startswith(heads)


def recognised_by(*marks: str) -> Callable[[str], bool]:
    """Make a function that recognises a JSON object by keys near its start.

    Examples
    --------
    >>> recognised_by('"latencies"')('{"latencies": {}}')
    True
    """

    def recognises(text: str) -> bool:
        head = text[:HEAD]
        return head.lstrip().startswith("{") and all(mark in head for mark in marks)

    return recognises
