"""Tables as text: CSV, or cells parted by semicolons or tabs where the header is."""

import io

from headway.errors import MeasurementError


def rows_of(text: str, source: str) -> list[tuple[int, list[str]]]:
    r"""The rows of a table with their lines; blank ones and ``#`` comments are left out.

    Parameters
    ----------
    text
        The whole table; its first row tells what parts the cells.
    source
        What to call the text in errors.

    Raises
    ------
    MeasurementError
        For text that is not CSV; names the line.

    Examples
    --------
    >>> rows_of("# measured in May\nload;time\n100;3.4\n", "curve.csv")
    [(2, ['load', 'time']), (3, ['100', '3.4'])]
    """
    import csv

    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text))
    try:
        return [(reader.line_num, row) for row in reader if _tells(row)]
    except csv.Error as error:
        msg = f"{source}:{reader.line_num}: not a CSV file ({error})"
        raise MeasurementError(msg) from None


def _separator(text: str) -> str:
    """Tell what parts the cells: commas, or what the header has in their place."""
    first = next((s for s in text.splitlines() if s.strip() and not s.startswith("#")), "")
    return next((mark for mark in (",", ";", "\t") if mark in first), ",")


def _tells(row: list[str]) -> bool:
    """Whether a line holds anything but blanks or a comment."""
    return any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#")
