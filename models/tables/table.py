"""Tables: neutral rows and columns, shown as text, HTML or CSV."""

import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from headway.errors import visible
from headway.kinds import FloatArray
from headway.models.language.digits import shown_unit
from headway.models.language.scales import Scale
from headway.models.language.titles import header
from headway.models.language.units import ONE, Unit
from headway.models.tables.layout import (
    ColumnLayout,
    aligned,
    blocks,
    folded,
    grid,
    is_narrow,
    is_value,
    paragraph,
    records,
    widths,
)
from headway.numerals import MANY, four_digits, grouped, is_whole, power_of_ten, settled
from headway.records import dataclass

Cell: TypeAlias = float | str | None


_NUMBER = re.compile(r"[-+]?[\d.,]+%?|-|∞")
_WIDE = 30  # characters of a text that may wrap on a page

_HUNDRED = 100.0

_LEAST = 1e-3
"""If no value of a column reaches this, all would need powers of ten."""

LITTLE = 0.1
"""Values below this have a fourth decimal."""

MOST_ROWS = 400
"""Most rows of a printed table; a longer table shows half of them from each end."""

_NATURAL = "table-layout: auto; width: auto; margin-left: 0"
"""How notebooks show a table: otherwise they give all columns one width, in the middle of the page.
"""

_AT_LEFT = "text-align: left; font-weight: bold; white-space: nowrap"

WIDTH = 80
"""Width of text that is not written to a terminal."""


def scale_of(values: FloatArray, own_unit: Unit, scale: Scale | None = None) -> Unit:
    """The unit of the answer, or else one in which the median of the values needs few digits."""
    finite = np.abs(values[np.isfinite(values)])
    if scale is not None and scale.covers(own_unit):
        return scale.suited(own_unit, float(finite.max(initial=0.0)), _LEAST)
    if not finite.size:
        return own_unit
    return shown_unit(own_unit, float(np.sort(finite, axis=None)[finite.size // 2]))


@dataclass(frozen=True)
class Column:
    """A column: its name, the unit of its numbers, and one cell per row, in SI.

    Parameters
    ----------
    name
        Its heading.
    cells
        SI numbers, text, or None for an empty cell.
    unit
        The unit to show; CSV uses its dimension.
    """

    name: str
    cells: tuple[Cell, ...]
    unit: Unit = ONE

    @classmethod
    def of(cls, name: str, values: Any, unit: Unit = ONE, scale: Scale | None = None) -> "Column":
        """Make a column of an array, in the unit of the answer or one that suits its values."""
        numbers = np.atleast_1d(np.asarray(values, float)).ravel()
        return cls(name, tuple(numbers.tolist()), scale_of(numbers, unit, scale))

    @property
    def heading(self) -> str:
        """Name and unit."""
        name = visible(self.name, "\n")
        return f"{name} [{self.unit}]" if self.unit.text not in ("", name) else name

    @property
    def texts(self) -> list[str]:
        """The cells as text, all with the same number of decimals."""
        scaled = [_scaled(cell, self.unit.scale) for cell in self.cells]
        numbers = [cell for cell in scaled if isinstance(cell, float)]
        places, largest = decimals(numbers), _largest(numbers)
        return [_text(cell, places, largest) for cell in scaled]

    @property
    def is_text(self) -> bool:
        """Whether it holds words rather than numbers."""
        return any(isinstance(cell, str) for cell in self.cells)

    @property
    def kind(self) -> str:
        """How a page formats it: as a number, even if it is already text, or as text."""
        return "number" if all(_NUMBER.fullmatch(text) for text in self.texts) else "text"

    @property
    def kinds(self) -> list[str]:
        """How a page formats each cell: like its column, or as wide text that may wrap.

        Examples
        --------
        >>> Column("share", ("12%", "-")).kinds, Column("of", ("x", "words " * 9)).kinds
        (['number', 'number'], ['text', 'wide'])
        """
        kind = self.kind
        return ["wide" if self.is_text and len(text) > _WIDE else kind for text in self.texts]


def _scaled(cell: Cell, scale: float) -> Cell:
    return cell if cell is None or isinstance(cell, str) else float(cell) / scale


def decimals(numbers: Sequence[float]) -> int | None:
    """Decimals that show the largest number with three or four digits; None for powers of ten.

    Examples
    --------
    >>> decimals([8.74, 39.51]), decimals([1538.46]), decimals([1.0, 2.0]), decimals([3e-9])
    (2, 1, 0, None)
    >>> decimals([0.0074489]), decimals([640.0, 800.0000000001])
    (5, 0)
    """
    largest = settled(_largest(numbers))
    finite = [settled(abs(x), largest) for x in numbers if math.isfinite(x)]
    if all(map(is_whole, finite)) and largest < 1e7:
        return 0
    if not _LEAST <= largest < 1e7:
        return None
    size = power_of_ten(largest)
    if largest >= MANY and min(x for x in finite if x) >= _HUNDRED:
        return 0
    if largest >= 1:
        return max(1, 3 - size)
    return 3 if largest >= LITTLE else max(4, 2 - size)


def _largest(numbers: Sequence[float]) -> float:
    return max((abs(x) for x in numbers if math.isfinite(x)), default=0.0)


def _text(cell: Cell, places: int | None, largest: float) -> str:
    if cell is None or isinstance(cell, str):
        return visible(cell, "\n") if cell else "-"
    if not math.isfinite(cell):
        return "-" if math.isnan(cell) else "∞"
    number = settled(cell, largest)
    return four_digits(number) if places is None else grouped(f"{number:z.{places}f}")


@dataclass(frozen=True)
class Table:
    """A titled table with notes under it.

    Parameters
    ----------
    title
        The title; may be empty.
    columns
        The columns, all of one length.
    notes
        Lines below the table.
    keys
        Columns that identify a row; they are repeated if other columns move below.
    """

    title: str
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    keys: int = 1

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = WIDTH) -> str:
        """The table as plain text.

        Text wraps, and columns move below others, until they fit the width; numbers are never cut.
        If not even two columns fit, each row becomes a list.
        """
        bodies = (x if isinstance(x, str) else _plain(x, width) for x in self.laid(width))
        parts = (paragraph(self.title, width), *bodies, self.noted(width))
        return "\n\n".join(part for part in parts if part)

    def filled(self) -> "Table":
        """The table without columns that are empty in every row.

        Examples
        --------
        >>> table = Table("", (Column("at", (1.0,)), Column("p99", (None,))))
        >>> [column.name for column in table.filled().columns]
        ['at']
        """
        columns = (c for c in self.columns if any(cell is not None for cell in c.cells))
        return replace(self, columns=tuple(columns))

    def noted(self, width: int) -> str:
        """The notes, wrapped; the first says how many rows are not shown."""
        hidden = len(self.columns[0].cells) - MOST_ROWS if self.columns else 0
        more = [f"{hidden:,} rows in between are not shown; --csv and --json have all"]
        notes = (*(more if hidden > 0 else []), *self.notes)
        return "\n".join(paragraph(note, width) for note in notes)

    def grids(self, width: int) -> list[Any]:
        """The table without its title for a rich console: blocks of columns, or lists of rows."""
        return [x if isinstance(x, str) else _grid(x, width) for x in self.laid(width)]

    def laid(self, width: int) -> list[list[ColumnLayout] | str]:
        """The table without its title: columns side by side, in blocks, or lists of rows."""
        if not self.columns:
            return []
        shapes = [_shortened(_shape(column)) for column in self.columns]
        groups = blocks(shapes, min(self.keys, len(shapes)), width)
        if groups is None:
            return ["\n\n".join(records(shapes, width))]
        return [[shapes[place] for place in block] for block in groups]

    def to_html(self) -> str:
        """The table with its notes as HTML, for notebooks, each column as wide as it needs to be.

        A table without columns, such as an equation, keeps its line breaks and spaces.

        Examples
        --------
        >>> Table("R", (), ("R = D", "  + S")).to_html().splitlines()
        ['<p><b>R</b></p>', '<pre>R = D', '  + S</pre>']
        """
        if self.columns:
            return self.grid_html(_NATURAL) + self.notes_html()
        title = f"<p><b>{_escaped(visible(self.title))}</b></p>\n" if self.title else ""
        lines = "\n".join(_escaped(visible(note)) for note in self.notes)
        return title + (f"<pre>{lines}</pre>\n" if lines else "")

    def grid_html(self, style: str = "") -> str:
        """Title, headings and rows as HTML; numbers, words and long texts have CSS classes."""
        heads = "".join(
            f'<th scope="col" class="{c.kind}">{_escaped(c.heading)}</th>' for c in self.columns
        )
        rows = "".join(f"<tr>{''.join(row)}</tr>\n" for row in zip(*self._cells(), strict=True))
        caption = self._opening_html(style)
        return f"{caption}\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>\n"

    def _opening_html(self, style: str) -> str:
        """The beginning of a table with its caption; an empty title has none in a given style."""
        title = _escaped(visible(self.title))
        if not style:
            return f"<table><caption>{title}</caption>"
        caption = f'<caption style="{_AT_LEFT}">{title}</caption>' if title else ""
        return f'<table style="{style}">{caption}'

    def _cells(self) -> Iterator[list[str]]:
        """The cells as HTML, by column; the first column heads the rows."""
        for place, column in enumerate(self.columns):
            opening, end = ("td", "td") if place else ('th scope="row"', "th")
            yield [
                f'<{opening} class="{kind}">{_escaped(text)}</{end}>'
                for kind, text in zip(column.kinds, column.texts, strict=True)
            ]

    def notes_html(self) -> str:
        """The notes as HTML, a paragraph each."""
        notes = (_escaped(visible(note)) for note in self.notes)
        return "".join(f'<p class="note">{note}</p>\n' for note in notes)

    def to_csv(self) -> str:
        """The table as CSV in SI units, with the unit at the end of each column name."""
        import csv

        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([header(c.name.replace(" ", "_"), c.unit.dimension) for c in self.columns])
        writer.writerows(zip(*(map(_csv, c.cells) for c in self.columns), strict=True))
        return stream.getvalue()


def _shape(column: Column) -> ColumnLayout:
    """The layout of a column; formatted values are aligned at their decimal points."""
    written = column.is_text and all(map(is_value, column.texts))
    texts = aligned(column.texts) if written else column.texts
    return ColumnLayout(column.heading, texts, column.is_text)


def _shortened(shape: ColumnLayout) -> ColumnLayout:
    """The first and last texts of a column that is too long to show."""
    if len(shape.texts) <= MOST_ROWS:
        return shape
    half = MOST_ROWS // 2
    texts = [*shape.texts[:half], "…", *shape.texts[-half:]]
    return ColumnLayout(shape.heading, texts, shape.is_text)


def _grid(shapes: Sequence[ColumnLayout], width: int) -> Any:
    """Columns side by side for a rich console: numbers aligned right, words left."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    shares = widths(shapes, width)
    for shape, share in zip(shapes, shares, strict=True):
        heading = Text(folded(shape.heading, share))
        shown.add_column(heading, justify="left" if shape.is_text else "right", width=share)
    for row in zip(*(shape.texts for shape in shapes), strict=True):
        shown.add_row(*(Text(folded(t, share)) for t, share in zip(row, shares, strict=True)))
    return shown


def _plain(shapes: Sequence[ColumnLayout], width: int) -> str:
    """Columns side by side without colour; rich knows the width of other scripts."""
    if is_narrow(shapes):
        return grid(shapes, width).strip("\n")
    from rich.console import Console

    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(_grid(shapes, width))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n")


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)


def _csv(cell: Cell) -> str:
    if cell is None or isinstance(cell, str):
        return visible(cell, "\n") if cell else ""
    return repr(float(cell)) if math.isfinite(cell) else ""
