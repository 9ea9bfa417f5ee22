"""Lay out a table in a given width: text wraps, columns move below, numbers stay whole."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain

from headway.errors import visible
from headway.records import dataclass

GAP = 3
"""Spaces between two columns."""

EDGE = 2
"""Spaces before the first column and after the last."""

_SHORT = 14  # characters that a column of words keeps on one line
_LONG = 30  # characters of a word that may stay unbroken in a cramped table
_VALUE = re.compile(r"([-+]?[\d,]*)((?:\.\d+)?(?:e[-+]?\d+)?)(.*)")
_NARROW = "\\n -~\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03c9\u2013-\u2026\u2070-\u209c\u2190-\u22ff"
_OTHERS = re.compile(f"[^{_NARROW}]")


@dataclass(frozen=True)
class ColumnLayout:
    """The heading and cells of a column, and the width they need.

    Parameters
    ----------
    heading
        Its heading.
    texts
        Its cells.
    is_text
        Whether it holds words or formatted values rather than numbers. Words may wrap; a column
        whose cells all begin with a number may not.
    """

    heading: str
    texts: Sequence[str]
    is_text: bool

    @property
    def is_whole(self) -> bool:
        """Whether every cell is a number, with or without a unit, which must not be cut."""
        return not self.is_text or all(map(is_value, self.texts))

    @property
    def most(self) -> int:
        """Width at which nothing wraps."""
        return max(map(len, (self.heading, *self.texts)))

    @property
    def least(self) -> int:
        """Width below which a number or a word would be cut."""
        heading = max(map(len, _pieces(self.heading)), default=0)
        if self.is_whole:
            return max(heading, *map(len, self.texts), 0)
        words = (len(word) for text in self.texts for word in text.split())
        return max(heading, min(self.most, _SHORT), min(max(words, default=0), _LONG))


def is_value(text: str) -> bool:
    """Whether text is a number, with or without a unit, or a mark for a missing one.

    Examples
    --------
    >>> is_value("3.4 ms"), is_value("-"), is_value("8 KB or more, by request, as they come")
    (True, True, False)
    """
    bare = text.strip()
    return bare == "-" or (len(bare) < _LONG and re.match(r"[-+]?[\d∞]", bare) is not None)


def aligned(texts: Sequence[str]) -> list[str]:
    """Align values at their decimal points, and their units.

    Examples
    --------
    >>> aligned(["3.4 ms", "650 us", "-"])
    ['  3.4 ms', '650   us', '  -']
    """
    parts = [_split(text) for text in texts]
    whole, fraction = (max((len(part[k]) for part in parts), default=0) for k in (0, 1))
    return [
        f"{a:>{whole}}" + (f"{b:<{fraction}}{rest}" if rest.startswith(" ") else b + rest)
        for a, b, rest in parts
    ]


def _split(text: str) -> tuple[str, str, str]:
    """Digits before the point, digits after it, and the rest."""
    match = _VALUE.fullmatch(text)
    return (text, "", "") if match is None or text == "-" else match.group(1, 2, 3)  # type: ignore[return-value]


def blocks(shapes: Sequence[ColumnLayout], keys: int, width: int) -> list[list[int]] | None:
    """Indices of the columns to set side by side, in blocks; each block begins with the keys.

    None if the keys with one more column are too wide.

    Examples
    --------
    >>> number = ColumnLayout("time [ms]", ["12345.6"], is_text=False)
    >>> blocks([number] * 4, 1, 34), blocks([number] * 4, 1, 12)
    ([[0, 1, 2], [0, 3]], None)
    """
    needs = [shape.least for shape in shapes]
    groups = [list(range(keys))]
    for place in range(keys, len(shapes)):
        if len(groups[-1]) > keys and _span([needs[k] for k in (*groups[-1], place)]) > width:
            groups.append(list(range(keys)))
        groups[-1].append(place)
    fits = all(_span([needs[k] for k in block]) <= width for block in groups)
    return groups if fits else None


def _span(widths: Sequence[int]) -> int:
    return EDGE + sum(widths) + GAP * (len(widths) - 1)


def widths(shapes: Sequence[ColumnLayout], width: int) -> list[int]:
    """Divide a width among columns: the widest shrink first.

    Examples
    --------
    >>> name = ColumnLayout("name", ["delay"], is_text=True)
    >>> words = ColumnLayout("meaning", ["time on the wire and in the client"], is_text=True)
    >>> widths([name, words], 80), widths([name, words], 30)
    ([5, 34], [5, 20])
    """
    ends = [(shape.least, shape.most) for shape in shapes]

    def shares(cap: int) -> list[int]:
        return [max(least, min(most, cap)) for least, most in ends]

    caps = range(max(most for _, most in ends) + 1)
    fitting = bisect_right(caps, width, key=lambda cap: _span(shares(cap)))
    return shares(max(fitting - 1, 0))


def folded(text: str, width: int) -> str:
    """Break text into lines at spaces, or else after an underscore; numbers and units stay whole.

    Examples
    --------
    >>> print(folded("saturation_throughput [op/s]", 12))
    saturation_
    throughput
    [op/s]
    """
    lines = [""]
    for piece in _pieces(text) if _has_long(text, width) else _words(text):
        if lines[-1] and len((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _has_long(text: str, width: int) -> bool:
    return any(len(word) > width for word in text.split())


def _words(text: str) -> list[str]:
    """Words, each with the space after it."""
    return re.findall(r"\S+\s*|^\s+", text)


def _pieces(text: str) -> list[str]:
    """Parts after which a line may end if necessary."""
    return [part for word in _words(text) for part in re.findall(r"[^_]*_+\s*|[^_]+$", word)]


def is_narrow(shapes: Sequence[ColumnLayout]) -> bool:
    """Whether every character of a table is certainly one column wide on a terminal.

    Examples
    --------
    >>> [is_narrow([ColumnLayout(title, ["∞"], False)]) for title in ("µ [1/s]", "磁盘")]
    [True, False]
    """
    texts = (text for shape in shapes for text in (shape.heading, *shape.texts))
    return not any(map(_OTHERS.search, texts))


def grid(shapes: Sequence[ColumnLayout], width: int) -> str:
    """Columns side by side with a rule: numbers aligned right, words left.

    Examples
    --------
    >>> station = ColumnLayout("station", ["cpu", "disks"], is_text=True)
    >>> print(grid([station, ColumnLayout("visits", ["1.0", "0.5"], is_text=False)], 80))
     station   visits
     ────────────────
     cpu          1.0
     disks        0.5
    """
    shares = widths(shapes, width)
    columns = [_cells(shape, share) for shape, share in zip(shapes, shares, strict=True)]
    head, *rows = zip(*columns, strict=True)
    rule = " " + "─" * (_span(shares) - EDGE)
    return "\n".join([*_beside(head, below=True), rule, *chain.from_iterable(map(_beside, rows))])


def _cells(shape: ColumnLayout, width: int) -> list[list[str]]:
    """Heading and texts of a column as lines, all of one width."""
    side = "<" if shape.is_text else ">"
    folds = (folded(text, width).split("\n") for text in (shape.heading, *shape.texts))
    return [[f"{_cut(line, width):{side}{width}}" for line in lines] for lines in folds]


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _beside(cells: Sequence[list[str]], *, below: bool = False) -> list[str]:
    """Lines of adjacent cells, padded to the same height."""
    height = max(map(len, cells))
    filled = []
    for cell in cells:
        blank = [" " * len(cell[0])] * (height - len(cell))
        filled.append([*blank, *cell] if below else [*cell, *blank])
    return [f" {(' ' * GAP).join(parts)}".rstrip() for parts in zip(*filled, strict=True)]


def records(shapes: Sequence[ColumnLayout], width: int) -> Iterator[str]:
    """Each row as lines of heading and cell, where no table fits the width."""
    for row in zip(*(shape.texts for shape in shapes), strict=True):
        entries = (f"{shape.heading}: {text}" for shape, text in zip(shapes, row, strict=True))
        yield "\n".join(_indented(entry, width) for entry in entries if not entry.endswith(": -"))


def _indented(text: str, width: int) -> str:
    """Text broken into lines, indented by two spaces after the first."""
    return folded(text, max(1, width - 2)).replace("\n", "\n  ")


def paragraph(text: str, width: int) -> str:
    """Prose broken into lines at spaces; keeps line breaks, removes control characters."""
    shown = visible(text.replace("\t", " "), "\n")
    return "\n".join(folded(line, width) for line in shown.split("\n"))
