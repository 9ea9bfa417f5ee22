"""Numbers as tools write them: with units attached, thousands separated, or "none"."""

import math
import re
from collections.abc import Mapping
from typing import TypeVar

from headway.errors import MeasurementError, quoted
from headway.numerals import digits

SECONDS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "usec": 1e-6, "usecs": 1e-6, "ms": 1e-3,
    "msec": 1e-3, "msecs": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "m": 60.0, "min": 60.0,
    "h": 3600.0,
}  # fmt: skip
"""Seconds in a unit of time, as tools write it."""

_GLUED = re.compile(r"([-+]?[0-9][0-9,]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?)\s*([a-zA-Zµμ]*)")
_GO = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?")
_SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
_NONE = frozenset({"n/a", "-", ""})
_Key = TypeVar("_Key")


def seconds(text: str, place: str, unit: str = "") -> float:
    """Read a time with its unit attached, such as ``36.00s``, ``0.90m`` or ``635.91us`` [s].

    Parameters
    ----------
    text, place
        The cell, and its place for messages.
    unit
        Its unit if none is attached.

    Raises
    ------
    MeasurementError
        For anything but a time.

    Examples
    --------
    >>> seconds("0.90m", "here"), seconds("12", "here", "ms")
    (54.0, 0.012)
    """
    match = _GLUED.fullmatch(text.strip())
    if match is None or (match[2] or unit) not in SECONDS:
        msg = f"{place}: {quoted(text)} is not a time such as 1.5ms"
        raise MeasurementError(msg)
    return number(match[1], place) * SECONDS[match[2] or unit]


def go_seconds(text: str, place: str) -> float:
    """Read a time as Go writes it, such as ``1m30.5s`` [s].

    Examples
    --------
    >>> go_seconds("1h1m30.5s", "here"), go_seconds("12ms", "here")
    (3690.5, 0.012)
    """
    parts = _GO.fullmatch(text)
    if text and parts and any(parts.groups()):
        hours, minutes, rest = (number(cell or "0", place) for cell in parts.groups())
        return 3600 * hours + 60 * minutes + rest
    return seconds(text, place)


def count(text: str, place: str) -> float:
    """Read a number that may end in k, M or G, such as ``12.5k``.

    Examples
    --------
    >>> count("12.5k", "here"), count("1,234", "here")
    (12500.0, 1234.0)
    """
    match = _GLUED.fullmatch(text.strip())
    if match is None or match[2] not in _SCALES:
        msg = f"{place}: {quoted(text)} is not a number"
        raise MeasurementError(msg)
    return number(match[1], place) * _SCALES[match[2]]


def number(text: str, place: str, *, signed: bool = False) -> float:
    """Read a plain number; commas may separate thousands.

    Parameters
    ----------
    text, place
        The cell, and its place for messages.
    signed
        Whether it may be negative, as a fitted parameter.

    Raises
    ------
    MeasurementError
        For anything else, including NaN and infinity.
    """
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        msg = f"{place}: {quoted(text)} is not a number"
        raise MeasurementError(msg)
    if value < 0 and not signed:
        msg = f"{place}: {quoted(text)} is negative, which no measured number can be"
        raise MeasurementError(msg)
    return value


def cell(text: str, place: str, scale: float = 1.0) -> float | None:
    """Read a cell in SI; None if it says "none".

    Examples
    --------
    >>> cell("2.5", "a.txt:1", 1e-3), cell("n/a", "a.txt:1")
    (0.0025, None)
    """
    return None if text.strip().lower() in _NONE else number(text, place) * scale


def filled(cells: Mapping[_Key, float | None]) -> dict[_Key, float]:
    """Cells that a tool filled.

    Examples
    --------
    >>> filled({"bandwidth_bytes_s": 5.0, "jitter_s": None})
    {'bandwidth_bytes_s': 5.0}
    """
    return {name: value for name, value in cells.items() if value is not None}


def percentiles_of(cells: Mapping[float, float | None]) -> dict[float, float]:
    """Percentiles that a tool filled, by percentage.

    Examples
    --------
    >>> percentiles_of({99.0: 0.2, 50.0: 0.1, 90.0: None, 101.0: 7.0})
    {50.0: 0.1, 99.0: 0.2}
    """
    return {percent: cell for percent, cell in sorted(filled(cells).items()) if percent <= 100}


def bytes_words(size: float | None) -> str:
    """A message size in words; empty if there is none.

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
    return {f"{name}_p{digits(p)}_s".replace(".", "_"): value for p, value in percentiles.items()}
