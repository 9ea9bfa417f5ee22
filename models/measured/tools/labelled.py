"""Numbers found in a tool's text by the words around them, each with its file and line."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headway.errors import MeasurementError
from headway.models.measured.tools.writing import NOTHING, number

_NONE = frozenset({"nan", "-nan", "inf", "-inf", "n/a", "-", ""})
CELL = r"(-?[\w.,+-]+)"
"""A pattern of what may be a number: one that is spoilt is to be refused, not passed over."""


@dataclass(frozen=True)
class Labelled:
    r"""A text in which numbers stand beside words, and its name.

    Examples
    --------
    >>> found = Labelled("clients: 16\nlatency: 2.5 ms\n", "run.txt")
    >>> found.number(r"^latency: CELL ms", 1e-3)
    0.0025
    >>> found.number("^errors: CELL") is None
    True
    """

    text: str
    source: str

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Lines, each after its place: the file and the number of the line."""
        for count, line in enumerate(self.text.splitlines(), 1):
            yield f"{self.source}:{count}", line

    def find(self, pattern: str) -> re.Match[str] | None:
        """The first match of a pattern, in which CELL is a number and ^ the start of a line."""
        return re.search(pattern.replace("CELL", CELL), self.text, re.MULTILINE)

    def place(self, found: re.Match[str]) -> str:
        """Where a match stands: the file and the number of the line."""
        return f"{self.source}:{self.text.count(chr(10), 0, found.start(1)) + 1}"

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
        return broken(f"{self.source}:{max(len(self.text.splitlines()), 1)}", f"there is no {what}")


def cell(text: str, place: str, scale: float = 1.0) -> float | None:
    """Read a cell in SI; None where it says "none".

    Examples
    --------
    >>> cell("2.5", "a.txt:1", 1e-3), cell("-nan", "a.txt:1")
    (0.0025, None)
    """
    if text.strip().lower() in _NONE:
        return None
    value = number(text, place)
    return None if value in NOTHING else value * scale


def filled(cells: Mapping[str, float | None]) -> dict[str, float]:
    """Cells that a tool filled.

    Examples
    --------
    >>> filled({"bandwidth_bytes_s": 5.0, "jitter_s": None})
    {'bandwidth_bytes_s': 5.0}
    """
    return {name: value for name, value in cells.items() if value is not None}


def bytes_words(size: float | None) -> str:
    """A message size in words; nothing where there is none.

    Examples
    --------
    >>> bytes_words(4194304.0)
    '4194304 bytes'
    """
    return "" if size is None else f"{size:.15g} bytes"


def percentile_cells(name: str, percentiles: Mapping[float, float]) -> dict[str, float]:
    """Name percentiles [s] of one kind of request, for the further numbers of a point.

    Examples
    --------
    >>> percentile_cells("read", {99.9: 0.004})
    {'read_p99_9_s': 0.004}
    """
    return {f"{name}_p{p:g}_s".replace(".", "_"): value for p, value in percentiles.items()}


def broken(place: str, what: str) -> MeasurementError:
    """What refuses a text that was cut or spoilt.

    Examples
    --------
    >>> print(broken("a.txt:7", "3 cells stand under 4 titles"))
    a.txt:7: 3 cells stand under 4 titles; is the file whole, and did the run end well?
    """
    return MeasurementError(f"{place}: {what}; is the file whole, and did the run end well?")


def nothing(source: str, what: str) -> MeasurementError:
    """What refuses a run in which nothing succeeded.

    Examples
    --------
    >>> print(nothing("a.json:1", "no transaction"))
    a.json:1: no transaction succeeded, so there is no point in it; mend the test or leave it out
    """
    msg = f"{source}: {what} succeeded, so there is no point in it"
    return MeasurementError(f"{msg}; mend the test or leave it out")
