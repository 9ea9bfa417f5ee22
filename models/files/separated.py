"""Tables as text: CSV, cells separated by semicolons, tabs or blanks, or Markdown."""

import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice, takewhile

from headway.errors import MeasurementError, is_hidden, quoted
from headway.kinds import number_of
from headway.numerals import counted

_MARKS = (",", ";", "\t")

MOST_ROWS = 1_000_000
"""Most rows; a curve has some dozens, repeats some thousands."""

MOST_COLUMNS = 1000
"""Most columns; a benchmark reports some dozens for a run."""


def rows_of(text: str, source: str) -> list[tuple[int, list[str]]]:
    r"""The rows of a table with their line numbers, without blank lines and ``#`` comments.

    A comment is the header if numbers follow directly, one cell for each of its titles.

    Parameters
    ----------
    text
        The whole table; its first rows show the separator.
    source
        The name of the text in errors.

    Raises
    ------
    MeasurementError
        For text that is not CSV; names the line.

    Examples
    --------
    >>> rows_of("# measured in May\nload;time\n100;3.4\n", "curve.csv")
    [(2, ['load', 'time']), (3, ['100', '3.4'])]
    >>> rows_of("# clients;time, mean\n1;3.4\n", "curve.csv")
    [(1, ['clients', 'time, mean']), (2, ['1', '3.4'])]
    >>> rows_of("Load (op/s)   Time (ms)\n   100   3.4\n  2000   9.1\n", "typed")[:2]
    [(1, ['Load (op/s)', 'Time (ms)']), (2, ['100', '3.4'])]
    """
    import csv

    if is_markdown(text):
        return _of_markdown(text)
    typed = _typed(text, source)
    if typed:
        return typed
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text))
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        msg = f"{source}:{reader.line_num}: not a CSV file ({error})"
        raise MeasurementError(msg) from None
    above = list(takewhile(lambda row: _is_comment(row[1][0]), rows))
    data = [row for row in rows[len(above) :] if not _is_comment(row[1][0])]
    heads = [(line, _titles(row)) for line, row in above[-1:] if data]
    return [head for head in heads if _names(head[1], data[0][1])] + data


_BAR = re.compile(r"\s*\|.*\|\s*")
_RULE = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*")


def is_markdown(text: str) -> bool:
    r"""Whether the first two lines of a text are the head of a Markdown table.

    Examples
    --------
    >>> is_markdown("| load | ms |\n|------|---:|\n| 100 | 3.4 |\n"), is_markdown("a|b\n1|2\n")
    (True, False)
    """
    first = list(islice((line for line in text.splitlines() if line.strip()), 2))
    return len(first) == 2 and bool(_BAR.fullmatch(first[0]) and _RULE.fullmatch(first[1]))


def _of_markdown(text: str) -> list[tuple[int, list[str]]]:
    """The rows of a Markdown table, up to the first line that is not part of it."""
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    rows = takewhile(lambda row: _BAR.fullmatch(row[1]), lines)
    kept = ((n, line) for n, line in rows if not _RULE.fullmatch(line))
    return [(n, [cell.strip(" `*") for cell in line.strip()[1:-1].split("|")]) for n, line in kept]


_GAP, _WIDE = re.compile(r" +"), re.compile(r" {2,}|(?<=[])]) +")
"""Gaps between the columns of a typed table, and between titles that contain single blanks."""


def _typed(text: str, source: str) -> list[tuple[int, list[str]]]:
    """The titles and rows of a table of numbers that blanks alone separate; none for any other."""
    lines = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    below = [row for row in lines if not _is_comment(row[1])]
    first = next((row for row in below[:2] if _is_numbers(row[1])), None)
    if first is None:
        return []
    rows = [(n, _GAP.split(line)) for n, line in below if n >= first[0]]
    width = len(rows[0][1])
    if any(len(row) != width for _, row in rows) or not all(_is_numbers(s) for _, s in below[1:]):
        return []
    head = [row for row in lines if row[0] < first[0]][-1:]
    return [*(_titled(n, line.lstrip("# "), width, source) for n, line in head), *rows]


def _titled(line: int, text: str, width: int, source: str) -> tuple[int, list[str]]:
    """The line above the numbers, as a title for each column."""
    ways = [gap.split(text) for gap in (_WIDE, _GAP)]
    titles = next((way for way in ways if len(way) == width), None)
    if titles is None:
        msg = f"{source}:{line}: {width} columns need {width} titles; separate these by two blanks"
        raise MeasurementError(msg)
    return line, titles


def _is_numbers(line: str) -> bool:
    """Whether a line has several numbers with blanks between them, and nothing else."""
    cells = _GAP.split(line)
    marked = any(cell.endswith(",") or "\t" in cell for cell in cells)
    return len(cells) > 1 and not marked and all(map(_is_number, cells))


def _is_number(cell: str) -> bool:
    return number_of(cell.replace(",", ".")) is not None


def _names(titles: Sequence[str], first: Sequence[str]) -> bool:
    """Whether a comment is the names of the columns of the numbers below it."""
    words, numbers = ([number_of(cell) is None for cell in row] for row in (titles, first))
    return len(titles) == len(first) > 1 and all(titles) and all(words) and not all(numbers)


def _titles(comment: Sequence[str]) -> list[str]:
    return [comment[0].lstrip("# \t"), *comment[1:]]


def _is_comment(text: str) -> bool:
    return text.lstrip().startswith("#")


def _separator(text: str) -> str:
    """Find the separator: the one that gives the first rows most equal cells, or the header."""
    telling = (s for s in text.splitlines() if s.strip() and not _is_comment(s))
    first = list(islice(telling, 2))
    # If several do, decimal commas are likelier than words separated by semicolons.
    counts = {mark: [_cells(line, mark) for line in first] for mark in _MARKS[::-1]}
    alike = {mark: n[0] for mark, n in counts.items() if len(n) > 1 and n[0] == n[1] > 1}
    if alike:
        return max(alike, key=alike.__getitem__)
    return next((mark for mark in _MARKS if first and mark in first[0]), ",")


class UnevenRows(MeasurementError):
    """A row of a table has more or fewer cells than its header."""


def _cells(line: str, mark: str) -> int:
    """Number of cells of a line with a given separator; none for unclosed quotes."""
    import csv

    try:
        return len(next(csv.reader([line], delimiter=mark, strict=True), []))
    except csv.Error:
        return 0


EXAMPLE = "throughput_ops_s,response_ms"
"""A header of measured points, as refusals show it."""


def header_and_rows(
    text: str, source: str, example: str = EXAMPLE
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Split CSV text into its header and its rows with their line numbers."""
    if not text.strip():
        msg = f"{source}: the file is empty; it needs a header such as {example}"
        raise MeasurementError(msg)
    rows = rows_of(text, source)
    if not rows:
        msg = f"{source}: has no rows; it needs a header such as {example}"
        raise MeasurementError(msg)
    return [title.strip() for title in rows[0][1]], rows[1:]


def check_cells(
    header: Sequence[str],
    rows: Sequence[tuple[int, Sequence[str]]],
    source: str,
    example: str = EXAMPLE,
) -> None:
    """Refuse a table that is too long, has a bad header, or has rows of another length."""
    if len(rows) >= MOST_ROWS:
        msg = f"{source}: more rows than the limit of {MOST_ROWS:,}; average them first"
        raise MeasurementError(msg)
    _check_header(header, source, example)
    for line, row in rows:
        if len(row) != len(header):
            cells, columns = counted(len(row), "cell"), counted(len(header), "column")
            msg = f"{source}:{line}: {cells}, but the header names {columns}"
            raise UnevenRows(msg)
    if not rows:
        msg = f"{source}: has a header but no rows; add one row for each measured point"
        raise MeasurementError(msg)


def _check_header(header: Sequence[str], source: str, example: str) -> None:
    if all(number_of(title) is not None for title in header):
        msg = f"{source}:1: no header; begin with titles, such as {example}"
        raise MeasurementError(msg)
    if len(header) > MOST_COLUMNS:
        msg = (
            f"{source}:1: {len(header)} columns are more than the limit of "
            f"{MOST_COLUMNS:,}; keep those you need"
        )
        raise MeasurementError(msg)
    counts = Counter(header)
    problem = next(filter(None, (_title_problem(title, counts[title]) for title in header)), "")
    if problem:
        msg = f"{source}:1: {problem}"
        raise MeasurementError(msg)


def _title_problem(title: str, count: int) -> str:
    """What is wrong with the name of a column; empty if nothing is."""
    if not title:
        return "a column has no name; add one to the header"
    if any(map(is_hidden, title)):
        return f"column {quoted(title)} has a control character in its name; rename it"
    return f"column {quoted(title)} appears twice; rename or delete one" if count > 1 else ""
