"""Tables: neutral rows and columns, shown as text, HTML or CSV. Presentation lives here."""

import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from headway.errors import visible
from headway.kinds import FloatArray, is_whole, power_of_ten, settled
from headway.models.language.digits import MANY, four_digits, grouped, shown_unit
from headway.models.language.scales import Scale
from headway.models.language.titles import header
from headway.models.language.units import ONE, Unit
from headway.models.tables.layout import (
    Shape,
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

Cell: TypeAlias = float | str | None


_NUMBER = re.compile(r"[-+]?[\d.,]+%?|-|∞")
_WIDE = 30  # characters of a text that may wrap on a page

_HUNDRED = 100.0

LITTLE = 0.1
"""Below this a fourth decimal is shown."""

MOST_ROWS = 400
"""Rows that a printed table shows; of a longer one the first and the last half of them."""

WIDTH = 80
"""Columns of text that does not go to a terminal."""


def scale_of(values: FloatArray, meant: Unit) -> Unit:
    """The unit in which the median of values takes few digits."""
    finite = np.abs(values[np.isfinite(values)])
    if not finite.size:
        return meant
    return shown_unit(meant, float(np.sort(finite, axis=None)[finite.size // 2]))


@dataclass(frozen=True)
class Column:
    """A column: its name, the unit its numbers are in, and a cell a row (in SI).

    Parameters
    ----------
    name
        Heading.
    cells
        SI numbers, text, or None where there is nothing to say.
    unit
        Unit to show; its dimension for CSV.
    """

    name: str
    cells: tuple[Cell, ...]
    unit: Unit = ONE

    @classmethod
    def of(cls, name: str, values: Any, unit: Unit = ONE, scale: Scale | None = None) -> "Column":
        """Make a column of an array, in the unit of an answer, else in one that suits its size."""
        numbers = np.atleast_1d(np.asarray(values, float)).ravel()
        known = scale is not None and scale.covers(unit)
        shown = scale.unit(unit) if known else scale_of(numbers, unit)  # type: ignore[union-attr]
        return cls(name, tuple(numbers.tolist()), shown)

    @property
    def heading(self) -> str:
        """Name and unit."""
        name = visible(self.name, "\n")
        return f"{name} [{self.unit}]" if self.unit.text else name

    @property
    def texts(self) -> list[str]:
        """The cells as people read them, with one number of decimals throughout."""
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
        """What a page sets it as: a number, also one that is written as text, or text."""
        return "number" if all(_NUMBER.fullmatch(text) for text in self.texts) else "text"

    @property
    def kinds(self) -> list[str]:
        """What a page sets each cell as: as its column, or as wide, for words that may wrap.

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
    """Decimals that show the largest number with three digits or four; None for powers of ten.

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
    if not 1e-3 <= largest < 1e7:
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
        May be empty.
    columns
        All of one length.
    notes
        Lines under it.
    keys
        Columns that say what a row is; they stand again where others must move below.
    """

    title: str
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    keys: int = 1

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = WIDTH) -> str:
        """The table as plain text.

        Words wrap, and columns move below the others, until the width holds them; a number is
        never cut. Where not even two columns fit, each row is a list.
        """
        bodies = (x if isinstance(x, str) else _plain(x, width) for x in self.laid(width))
        parts = (paragraph(self.title, width), *bodies, self.noted(width))
        return "\n\n".join(part for part in parts if part)

    def noted(self, width: int) -> str:
        """The notes, wrapped; the first says how many rows are not shown."""
        hidden = len(self.columns[0].cells) - MOST_ROWS if self.columns else 0
        more = [f"{hidden:,} rows in between are not shown; --csv and --json have all"]
        notes = (*(more if hidden > 0 else []), *self.notes)
        return "\n".join(paragraph(note, width) for note in notes)

    def grids(self, width: int) -> list[Any]:
        """What a rich console prints below the title: blocks of columns, or lists of rows."""
        return [x if isinstance(x, str) else _grid(x, width) for x in self.laid(width)]

    def laid(self, width: int) -> list[list[Shape] | str]:
        """What stands below the title: columns side by side, block by block, or lists of rows."""
        if not self.columns:
            return []
        shapes = [_shortened(_shape(column)) for column in self.columns]
        found = blocks(shapes, min(self.keys, len(shapes)), width)
        if found is None:
            return ["\n\n".join(records(shapes, width))]
        return [[shapes[place] for place in block] for block in found]

    def to_html(self) -> str:
        """The table with its notes as HTML, for notebooks."""
        return self.grid_html() + self.notes_html()

    def grid_html(self) -> str:
        """Title, headings and rows as HTML; numbers, words and long texts are told apart."""
        heads = "".join(
            f'<th scope="col" class="{c.kind}">{_escaped(c.heading)}</th>' for c in self.columns
        )
        rows = "".join(f"<tr>{''.join(row)}</tr>\n" for row in zip(*self._cells(), strict=True))
        caption = f"<caption>{_escaped(visible(self.title))}</caption>"
        return (
            f"<table>{caption}\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>\n"
        )

    def _cells(self) -> Iterator[list[str]]:
        """The cells as HTML, column by column; the first names what a row is."""
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
        """The table as CSV in SI, the unit at the end of each column's name."""
        import csv

        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([header(c.name.replace(" ", "_"), c.unit.dimension) for c in self.columns])
        writer.writerows(zip(*(map(_csv, c.cells) for c in self.columns), strict=True))
        return stream.getvalue()


def _shape(column: Column) -> Shape:
    """What a column needs; written values are set with their decimal points in line."""
    written = column.is_text and all(map(is_value, column.texts))
    texts = aligned(column.texts) if written else column.texts
    return Shape(column.heading, texts, column.is_text)


def _shortened(shape: Shape) -> Shape:
    """The first and last texts of a column that is too long to be read."""
    if len(shape.texts) <= MOST_ROWS:
        return shape
    half = MOST_ROWS // 2
    texts = [*shape.texts[:half], "…", *shape.texts[-half:]]
    return Shape(shape.heading, texts, shape.is_text)


def _grid(shapes: Sequence[Shape], width: int) -> Any:
    """Columns side by side for a rich console; numbers to the right, words to the left."""
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


def _plain(shapes: Sequence[Shape], width: int) -> str:
    """Columns side by side without colour; rich knows how wide other scripts are."""
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
