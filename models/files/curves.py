"""Curves of misses over cache sizes, from CSV files beside a model file."""

import re
from math import isfinite
from pathlib import Path

import numpy as np

from headway.errors import MeasurementError, UnitError
from headway.models.files.intake import read_text
from headway.models.language.units import unit
from headway.queueing.caches.curves import first_fault

LARGEST_CURVE = 1_000_000
"""Most bytes of a curve."""

_FEWEST = 2
"""Fewest rows of a curve."""

_HEAD = re.compile(
    r"(size|miss_ratio|hit_ratio)(?:_([\w%]+)|\s*\[(.*)\]|\s*\((.*)\))?", re.IGNORECASE
)
"""A column and its unit: ``size_MB``, ``size [MB]`` or ``size (MB)``."""


def miss_curve(file: str, model: str) -> dict[str, list[float]]:
    """Read sizes and miss ratios.

    Parameters
    ----------
    file
        Path from the folder of the model file.
    model
        Path of the model file.

    Returns
    -------
    Columns ``sizes``, in SI units, and ``miss_ratios``.

    Raises
    ------
    MeasurementError
        For a file that cannot be read, or is not such a curve, with the line.
    """
    path = Path(model).parent / file
    rows = [
        (number, [cell.strip().strip('"') for cell in row])
        for number, line in enumerate(read_text(path, LARGEST_CURVE).splitlines(), 1)
        if (row := line.split(",")) and line.strip() and not line.lstrip().startswith("#")
    ]
    if not rows:
        msg = f"{file}: the file is empty; it needs columns size and miss_ratio"
        raise MeasurementError(msg)
    columns = _columns(file, rows[0][1])
    size, (ratio, hits) = columns["size"], _ratio(file, columns)
    given = np.array([_number(file, line, row, size[0]) for line, row in rows[1:]])
    ratios = np.array([_number(file, line, row, ratio[0]) for line, row in rows[1:]]) * ratio[1]
    misses = 1 - ratios if hits else ratios
    if len(given) < _FEWEST:
        msg = f"{file}: a curve needs two rows or more below its header; it has {len(given)}"
        raise MeasurementError(msg)
    fault = first_fault(given, misses)
    if fault is not None:
        msg = f"{file}:{rows[1 + fault[0]][0]}: {fault[1]}"
        raise MeasurementError(msg)
    return {"sizes": (given * size[1]).tolist(), "miss_ratios": misses.tolist()}


_Column = tuple[int, float]


def _columns(file: str, head: list[str]) -> dict[str, _Column]:
    """The positions of the named columns, and the factors of their units."""
    columns = {}
    for place, cell in enumerate(head):
        if match := _HEAD.fullmatch(cell):
            text = match[2] or match[3] or match[4] or ""
            columns[match[1].lower()] = place, _scale(file, cell, text)
    if "size" not in columns:
        msg = f"{file}: there is no column size; name the columns size and miss_ratio"
        raise MeasurementError(msg)
    return columns


def _scale(file: str, cell: str, text: str) -> float:
    try:
        return unit(text).scale
    except UnitError as error:
        msg = f"{file}: column {cell!r}: {error}"
        raise MeasurementError(msg) from None


def _ratio(file: str, columns: dict[str, _Column]) -> tuple[_Column, bool]:
    """The column of misses, or of hits, and which of the two it is."""
    given = [name for name in ("miss_ratio", "hit_ratio") if name in columns]
    if len(given) != 1:
        msg = f"{file}: needs exactly one column miss_ratio or hit_ratio"
        raise MeasurementError(msg)
    return columns[given[0]], given[0] == "hit_ratio"


def _number(file: str, line: int, row: list[str], place: int) -> float:
    text = row[place] if place < len(row) else ""
    try:
        number = float(text)
    except ValueError:
        msg = f"{file}:{line}: {text!r} is not a number; write it in digits, such as 0.05"
        raise MeasurementError(msg) from None
    if not isfinite(number):
        msg = f"{file}:{line}: {text!r} is not a finite number; correct the cell or remove the row"
        raise MeasurementError(msg)
    return number
