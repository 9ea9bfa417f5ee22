"""Read the cells of a column as numbers: decimal points or commas, thousands, per cent.

The decimal mark is never guessed: a cell that is a number either way is read as
the rest of its column, or else of its table, must be.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from headway.errors import InvalidParameter, MeasurementError, quoted
from headway.kinds import FloatArray, number_of, resolution
from headway.models.language.titles import split_header
from headway.models.language.units import ONE, Unit, unit
from headway.records import dataclass

DECIMALS = (".", ",")
"""Possible decimal marks."""

_GROUPS = "\u00a0\u202f '’"
_GROUPED = {
    decimal: re.compile(
        rf"[+-]?[1-9][0-9]{{0,2}}([{re.escape(other)}{_GROUPS}])[0-9]{{3}}(?:\1[0-9]{{3}})*"
        rf"(?:{re.escape(decimal)}[0-9]*)?",
    )
    for decimal, other in zip(DECIMALS, reversed(DECIMALS), strict=True)
}
_MARKS = re.compile(rf"[,{_GROUPS}]|\..*\.")


@dataclass(frozen=True)
class Observed:
    """One measured quantity over all observations.

    Parameters
    ----------
    header
        The column's name in the file.
    name
        That name without its unit.
    unit
        The unit in the file.
    values
        SI values, one per observation; NaN where the cell is empty.
    resolution
        Half a unit of the last printed digit, in SI: how well a value is known.
    complaint
        What is wrong with one of its cells, reported only if the column is used; otherwise empty.
    role
        The role that the user gives it; empty if its title decides.
    stated
        Whether the user stated it for a whole curve, rather than having measured it.
    """

    header: str
    name: str
    unit: Unit
    values: FloatArray
    resolution: FloatArray
    complaint: str = ""
    role: str = ""
    stated: bool = False

    def usable(self) -> "Observed":
        r"""Give this column back, if it can be used.

        Raises
        ------
        MeasurementError
            For a cell that is not a number of this column; names file and line.

        Examples
        --------
        >>> from headway.models import Measurements
        >>> curve = Measurements.parse("load_ops_s,note_ms\n100,see below\n", "curve.csv")
        >>> curve.spoilt["note_ms"].usable()
        Traceback (most recent call last):
            ...
        headway.errors.MeasurementError: curve.csv:2: note_ms is 'see below', not a number
        """
        if self.complaint:
            raise MeasurementError(self.complaint)
        return self


def check_decimal(decimal: str) -> None:
    """Refuse anything that is not a decimal mark.

    Raises
    ------
    InvalidParameter
        Naming it and the two possible marks.
    """
    if decimal not in ("", *DECIMALS):
        msg = f"decimal is {quoted(decimal)}; it must be . or ,"
        raise InvalidParameter(msg)


def decimals(columns: Mapping[str, Sequence[str]], given: str = "") -> dict[str, str]:
    """Find the decimal mark of each column; empty if the cells leave it open.

    Parameters
    ----------
    columns
        Cells by title.
    given
        The user's choice; empty to detect it.

    Examples
    --------
    >>> decimals({"load": ["1.500", "2.500"], "ms": ["3,25", "4"]})
    {'load': ',', 'ms': ','}
    >>> decimals({"load": ["1,500", "900"]}), decimals({"load": ["1.500", "900"]})
    ({'load': ''}, {'load': '.'})
    """
    check_decimal(given)
    marked = any(_MARKS.search(cell) for cells in columns.values() for cell in cells)
    if given or not marked:
        return dict.fromkeys(columns, given or ".")
    ways = {title: _ways(cells) for title, cells in columns.items()}
    whole = [title for title, cells in columns.items() if not any(map(_is_other, cells))]
    decided = {way for title in whole if len(ways[title]) == 1 for way in ways[title]}
    return {title: _mark(columns[title], ways[title], decided) for title in columns}


def _ways(cells: Iterable[str]) -> set[str]:
    """The decimal marks with which every cell is a number, ignoring cells that are words."""
    bare = [_bare(cell) for cell in cells if cell and is_number(cell, "")]
    return {mark for mark in DECIMALS if all(_number(cell, mark) is not None for cell in bare)}


def _mark(cells: Sequence[str], ways: set[str], known: set[str]) -> str:
    """The mark of one column: its own, else the table's, else the point if no cell has a comma."""
    if len(ways) == 1:
        return next(iter(ways))
    if not ways:
        return next(iter(known)) if len(known) == 1 else "."
    if len(known) == 1:
        return next(iter(known))
    differing = [cell for cell in cells if _number(cell, ".") != _number(cell, ",")]
    return "." if not differing or not (known or "," in "".join(differing)) else ""


def observed(
    title: str, cells: Sequence[str], lines: Iterable[int], source: str, decimal: str = "."
) -> Observed:
    """Read a column of numbers; an error in it is stored until the column is used.

    Parameters
    ----------
    title, cells, lines, source
        The column, the line of each cell, and the file's name for messages.
    decimal
        Its decimal mark; empty if the cells leave it open.

    Examples
    --------
    >>> observed("errors", ["12%", "3%"], [2, 3], "own.csv").values.tolist()
    [0.12, 0.03]
    """
    name, title_unit = split_header(title)
    percent = (
        unit("%") if title_unit is None and any(cell.endswith("%") for cell in cells) else None
    )
    shown = title_unit or percent or ONE
    read = [_cell(cell, shown, decimal, bare=percent is None) for cell in cells]
    problems = (
        f"{source}:{line}: {title} is {_problem(cell, shown, decimal, title_unit is not None)}"
        for cell, line, (value, _) in zip(cells, lines, read, strict=True)
        if (cell and math.isnan(value)) or (value < 0 and shown.text)
    )
    values, known = np.array(read, float).reshape(-1, 2).T
    return Observed(title, name, shown, shown.si(values), shown.si(known), next(problems, ""))


def is_words(title: str, cells: Iterable[str], decimal: str) -> bool:
    """Whether a column holds words: its name has no unit, and one of its cells is not a number."""
    return split_header(title)[1] is None and any(c and not is_number(c, decimal) for c in cells)


def words_complaint(
    source: str, title: str, lines: Iterable[int], cells: Iterable[str]
) -> MeasurementError:
    """The error of a column of words that is used as numbers."""
    filled = [(line, cell) for line, cell in zip(lines, cells, strict=True) if cell]
    line, cell = next((pair for pair in filled if not is_number(pair[1], "")), filled[0])
    mark = "; use --decimal to change the decimal mark" if is_number(cell, "") else ""
    return MeasurementError(f"{source}:{line}: {title} is {quoted(cell)}, not a number{mark}")


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell is a number, with or without a per cent sign.

    Examples
    --------
    >>> is_number("12%"), is_number("3,4"), is_number("3,4", ","), is_number("raid")
    (True, False, True, False)
    """
    bare = _bare(cell)
    return any(_number(bare, mark) is not None for mark in decimal or DECIMALS)


def _cell(cell: str, shown: Unit, decimal: str, *, bare: bool) -> tuple[float, float]:
    """Value and resolution in the column's unit; NaN if the cell is not a number."""
    is_share = cell.endswith("%")
    text = _plain(_bare(cell), decimal) if is_share or bare else None
    value = None if text is None or (is_share and shown.text != "%") else number_of(text)
    if text is None or value is None:
        return math.nan, math.nan
    digits = resolution(text)
    if not (math.isfinite(shown.si(value)) and math.isfinite(shown.si(digits))):
        return math.nan, math.nan
    return value, digits


def _problem(cell: str, shown: Unit, decimal: str, titled: bool) -> str:  # noqa: FBT001
    """What is wrong with a cell that cannot be read."""
    text = _plain(_bare(cell), decimal or ".")
    value = None if text is None else number_of(text)
    if not decimal:
        ways = " or ".join(f"{_number(cell, mark):g}" for mark in DECIMALS)
        return f"{quoted(cell)}, which may be {ways}; use --decimal . or --decimal ,"
    if value is None:
        other = "," if decimal == "." else "."
        comma = _number(_bare(cell), other) is not None
        point = f"; the decimal mark here is {decimal!r} (see --decimal)" if comma else ""
        return f"{quoted(cell)}, not a number{point}"
    if shown.text == "%" and not titled and not cell.endswith("%"):
        return (
            f"{quoted(cell)}, but other cells are in %; write % in every cell, or in the column's "
            "title"
        )
    if cell.endswith("%") and shown.text != "%":
        return f"{quoted(cell)}, but the column is {f'in {shown}' if shown.text else 'not in %'}"
    if value < 0:
        return f"{cell}; it cannot be negative"
    return f"{quoted(cell)}, not a finite number"


def _is_other(cell: str) -> bool:
    return bool(cell) and not is_number(cell, "")


def _bare(cell: str) -> str:
    return cell[:-1].rstrip() if cell.endswith("%") else cell


def _number(cell: str, decimal: str) -> float | None:
    text = _plain(cell, decimal)
    return None if text is None else number_of(text)


def _plain(cell: str, decimal: str) -> str | None:
    """A cell with a point and without thousands, as `number_of` reads it; otherwise None."""
    if not decimal:
        ways = {_number(cell, mark) for mark in DECIMALS}
        return _plain(cell, ".") if len(ways) == 1 else None
    grouped = _GROUPED[decimal].fullmatch(cell)
    if grouped is not None:
        cell = cell.replace(grouped[1], "")
    if decimal == ".":
        return cell
    return None if "." in cell else cell.replace(",", ".")
