"""What readers of tools share: numbers glued to units, JSON looked into, percentiles named."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from headway.errors import MeasurementError, quoted

NOTHING = (-1.0,)
"""What tools write for "none", beside NaN and blanks."""

SECONDS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "usec": 1e-6, "usecs": 1e-6, "ms": 1e-3,
    "msec": 1e-3, "msecs": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0, "m": 60.0, "min": 60.0,
    "h": 3600.0,
}  # fmt: skip
"""Seconds in a unit of time, as tools write it."""

_GLUED = re.compile(r"([-+]?[0-9][0-9,]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?)\s*([a-zA-Zµμ]*)")
_SCALES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


def seconds(text: str, place: str, unit: str = "") -> float:
    """Read a time whose unit is glued to it, such as ``36.00s``, ``0.90m`` or ``635.91us`` [s].

    Parameters
    ----------
    text, place
        The cell, and where it stands, for messages.
    unit
        What it is in where nothing is glued to it.

    Raises
    ------
    MeasurementError
        For what is no time.

    Examples
    --------
    >>> seconds("0.90m", "here"), seconds("12", "here", "ms")
    (54.0, 0.012)
    """
    found = _GLUED.fullmatch(text.strip())
    if found is None or (found[2] or unit) not in SECONDS:
        msg = f"{place}: {quoted(text)} is no time such as 1.5ms"
        raise MeasurementError(msg)
    return number(found[1], place) * SECONDS[found[2] or unit]


def count(text: str, place: str) -> float:
    """Read a number that may end in k, M or G, such as ``12.5k``.

    Examples
    --------
    >>> count("12.5k", "here"), count("1,234", "here")
    (12500.0, 1234.0)
    """
    found = _GLUED.fullmatch(text.strip())
    if found is None or found[2] not in _SCALES:
        msg = f"{place}: {quoted(text)} is no number"
        raise MeasurementError(msg)
    return number(found[1], place) * _SCALES[found[2]]


def number(text: str, place: str) -> float:
    """Read a plain number; thousands may be parted by commas.

    Raises
    ------
    MeasurementError
        For anything else, NaN and infinity among it.
    """
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        msg = f"{place}: {quoted(text)} is no number"
        raise MeasurementError(msg)
    return value


def document(text: str, source: str) -> Mapping[str, Any]:
    """Read JSON whose outermost is an object.

    Raises
    ------
    MeasurementError
        For JSON that ends too early or is none, with the line; for another outermost.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        msg = f"{source}:{line}: this JSON is broken or ends too early"
        raise MeasurementError(msg) from None
    if not isinstance(found, dict):
        msg = f"{source}: its JSON is no object"
        raise MeasurementError(msg)
    return found


def at(found: Any, *path: str, source: str) -> Any:
    """What stands under a path of keys.

    Raises
    ------
    MeasurementError
        Where it is not there, with the path.
    """
    for key in path:
        if not isinstance(found, Mapping) or key not in found:
            msg = f"{source}: there is no {'.'.join(path)} in it"
            raise MeasurementError(msg)
        found = found[key]
    return found


def amount(found: Any, *path: str, source: str, scale: float = 1.0) -> float | None:
    """The number under a path of keys in SI; None where it is not there or says "none".

    Parameters
    ----------
    found, path
        An object, and the keys to follow.
    source
        For messages.
    scale
        SI units in one of the tool's.

    Raises
    ------
    MeasurementError
        For something else than a number.

    Examples
    --------
    >>> amount({"lat": {"mean": 12.0}}, "lat", "mean", source="run", scale=1e-3)
    0.012
    >>> amount({"lat": {}}, "lat", "mean", source="run") is None
    True
    """
    for key in path:
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
    if found is None or found == "" or found == "NaN":
        return None
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        msg = f"{source}: {'.'.join(path)} is no number"
        raise MeasurementError(msg)
    try:
        value = float(found)
    except (ValueError, OverflowError):
        msg = f"{source}: {'.'.join(path)} is {quoted(str(found))}, not a number"
        raise MeasurementError(msg) from None
    return value * scale if math.isfinite(value) and value not in NOTHING else None


def lines_of(text: str) -> list[tuple[int, str]]:
    """Lines with their numbers, from 1."""
    return list(enumerate(text.splitlines(), 1))
