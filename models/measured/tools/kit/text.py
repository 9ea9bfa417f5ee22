"""Texts of tools, asked by the words around numbers; each line with its file and number."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from headway.errors import MeasurementError
from headway.models.measured.tools.kit.numbers import cell, number, seconds
from headway.models.measured.tools.kit.refusals import broken

HEAD = 4096
"""Characters in which a text shows whose it is."""

CELL = r"(-?[\w.,+-]+)"
"""A pattern of what may be a number: one that is spoilt is to be refused, not passed over."""


def placed(lines: str | Iterable[str], source: str, first: int = 1) -> Iterator[tuple[str, str]]:
    r"""Lines of a text, each after its place: the file and the number of the line.

    Parameters
    ----------
    lines
        A text, or its lines as a file gives them.
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
    """What a line says, and where it stands."""

    groups: tuple[str, ...]
    place: str

    def number(self, group: int = 0) -> float:
        """A part of it as a number."""
        return number(self.groups[group], self.place)

    def seconds(self, unit: str = "", group: int = 0) -> float:
        """A part of it as a time, in a unit where none is glued to it [s]."""
        return seconds(self.groups[group], self.place, unit)


@dataclass(frozen=True)
class Text:
    r"""A text in which numbers stand beside words, or a part of one.

    Parameters
    ----------
    text, source
        What a tool wrote, and its file.
    first
        The number of its first line in the file.

    Examples
    --------
    >>> found = Text("clients: 16\nlatency: 2.5 ms\n", "run.txt")
    >>> found.number(r"^latency: CELL ms", 1e-3)
    0.0025
    >>> found.number("^errors: CELL") is None
    True
    >>> found.needs(r"clients:\s+(\S+)", "clients: 9")
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
        """The first match of a pattern, in which CELL is a number and ^ the start of a line."""
        return re.search(pattern.replace("CELL", CELL), self.text, re.MULTILINE)

    def place(self, match: re.Match[str]) -> str:
        """Where a match stands: the file and the number of the line."""
        return f"{self.source}:{self.text.count(chr(10), 0, match.start(1)) + self.first}"

    def number(self, pattern: str, scale: float = 1.0) -> float | None:
        """The number in a pattern's first group, in SI; None where it is not there or "none".

        Raises
        ------
        MeasurementError
            For something else than a number in its place.
        """
        found = self.find(pattern)
        return None if found is None else cell(found[1], self.place(found), scale)

    def needed(self, pattern: str, what: str, scale: float = 1.0) -> float:
        """The same of a number without which a file is of no use.

        Raises
        ------
        MeasurementError
            Where it is not there, with what is missing and how to mend it.
        """
        found = self.number(pattern, scale)
        if found is None:
            raise self.missing(what)
        return found

    def missing(self, what: str) -> MeasurementError:
        """What refuses a text that ends without what it should hold; it names the last line."""
        return broken(self.end, f"there is no {what}")

    def all(self, pattern: str) -> list[MatchedLine]:
        """What every line that begins like this says."""
        known = re.compile(pattern)
        matches = ((place, known.match(line)) for place, line in self)
        return [MatchedLine(match.groups(), place) for place, match in matches if match]

    def needs(self, pattern: str, shape: str) -> MatchedLine:
        """What the first such line says.

        Raises
        ------
        MeasurementError
            Where there is none, with the line where the text ends and one as it should be.
        """
        found = self.all(pattern)
        if not found:
            msg = f"{self.end}: there is no line such as '{shape}' up to here; give all of it"
            raise MeasurementError(msg)
        return found[0]

    def until(self, mark: str) -> "Text":
        """The same, cut before the first line that holds a mark."""
        lines = self.text.splitlines(keepends=True)
        ends = (index for index, line in enumerate(lines) if mark in line)
        return Text("".join(lines[: next(ends, len(lines))]), self.source, self.first)


def runs(text: str, source: str, start: str) -> list[Text]:
    r"""Part a text into runs, each from a line that begins like ``start``.

    Raises
    ------
    MeasurementError
        Where no line does.

    Examples
    --------
    >>> [run.end for run in runs("noise\nRunning 1\na\nRunning 2\n", "a.txt", "Running")]
    ['a.txt:3', 'a.txt:4']
    """
    lines, known = text.splitlines(keepends=True), re.compile(start)
    starts = [index for index, line in enumerate(lines) if known.match(line)]
    if not starts:
        msg = f"{source}:1: there is no line '{start} ...': it holds no run"
        raise MeasurementError(msg)
    ends = [*starts[1:], len(lines)]
    return [Text("".join(lines[a:b]), source, a + 1) for a, b in zip(starts, ends, strict=True)]


def cells_of(line: str, place: str) -> list[str]:
    """Cells of a line that commas part, those in quotes whole.

    Raises
    ------
    MeasurementError
        For quotes that do not end.

    Examples
    --------
    >>> cells_of('"GET, all",9', "a.csv:2")
    ['GET, all', '9']
    """
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        raise broken(place, "its quotes do not end") from None


def by_title(titles: Sequence[str], cells: Sequence[str], place: str) -> dict[str, str]:
    """A row of a table as its cells by title.

    Raises
    ------
    MeasurementError
        For more or fewer cells than titles: the file may be cut.

    Examples
    --------
    >>> by_title(["rate", "mean"], ["9", "0.1"], "a.txt:2")
    {'rate': '9', 'mean': '0.1'}
    """
    if len(cells) != len(titles):
        raise broken(place, f"{len(cells)} cells stand under {len(titles)} titles")
    return dict(zip(titles, cells, strict=True))


def begins(*heads: str) -> Callable[[str], bool]:
    """Make the recognition of texts by how they begin.

    Examples
    --------
    >>> begins("Type,Name,")("Type,Name,Requests")
    True
    """
    return lambda text: text.startswith(heads)


def recognised_by(*marks: str) -> Callable[[str], bool]:
    """Make the recognition of JSON that begins with an object and names some keys at its start.

    Examples
    --------
    >>> recognised_by('"latencies"')('{"latencies": {}}')
    True
    """

    def recognises(text: str) -> bool:
        head = text[:HEAD]
        return head.lstrip().startswith("{") and all(mark in head for mark in marks)

    return recognises
