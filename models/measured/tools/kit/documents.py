"""Look up values in the JSON of tools: objects under paths of keys, numbers in SI."""

import json
import math
from collections.abc import Mapping
from typing import Any

from headway.errors import MeasurementError, quoted
from headway.models.measured.tools.kit.numbers import percentiles_of
from headway.numerals import digits


def document(text: str, source: str) -> Mapping[str, Any]:
    """Read JSON with an object at the top.

    Raises
    ------
    MeasurementError
        For invalid or truncated JSON, with the line, and for anything but an object at the top.
    """
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        msg = f"{source}:{line}: this JSON is invalid or truncated"
        raise MeasurementError(msg) from None
    if not isinstance(parsed, dict):
        msg = f"{source}: its JSON is not an object"
        raise MeasurementError(msg)
    return parsed


def at(document: Any, *path: str, source: str) -> Any:
    """The value under a path of keys.

    Raises
    ------
    MeasurementError
        If it is missing, with the path.
    """
    for key in path:
        if not isinstance(document, Mapping) or key not in document:
            msg = f"{source}: {'.'.join(path)} is missing; use the complete file"
            raise MeasurementError(msg)
        document = document[key]
    return document


def under(document: Any, *path: str) -> Mapping[str, Any]:
    """The object under a path of keys; empty if it is missing.

    Examples
    --------
    >>> under({"lat": {"mean": 12.0}}, "lat"), under({"lat": 3}, "lat", "mean")
    ({'mean': 12.0}, {})
    """
    for key in path:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document if isinstance(document, Mapping) else {}


def amount(document: Any, *path: str, source: str, scale: float = 1.0) -> float | None:
    """The number under a path of keys in SI; None if it is missing or says "none".

    Parameters
    ----------
    document, path
        An object, and the keys to follow.
    source
        For messages.
    scale
        The tool's unit, in SI units.

    Raises
    ------
    MeasurementError
        For anything but a number.

    Examples
    --------
    >>> amount({"lat": {"mean": 12.0}}, "lat", "mean", source="run", scale=1e-3)
    0.012
    >>> amount({"lat": {}}, "lat", "mean", source="run") is None
    True
    """
    for key in path:
        if not isinstance(document, Mapping) or key not in document:
            return None
        document = document[key]
    if document is None or document == "":
        return None
    if isinstance(document, bool) or not isinstance(document, int | float | str):
        msg = f"{source}: {'.'.join(path)} is not a number"
        raise MeasurementError(msg)
    try:
        value = float(document)
    except (ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        msg = f"{source}: {'.'.join(path)} is {quoted(str(document))}, not a number"
        raise MeasurementError(msg)
    if value < 0:
        msg = f"{source}: {'.'.join(path)} is {digits(value)}; it cannot be negative"
        raise MeasurementError(msg)
    return value * scale


def needed(document: Any, *path: str, source: str, scale: float = 1.0) -> float:
    """The number under a path of keys in SI.

    Raises
    ------
    MeasurementError
        If it is missing or says "none".

    Examples
    --------
    >>> needed({"rate": 12}, "rate", source="run")
    12.0
    """
    value = amount(document, *path, source=source, scale=scale)
    if value is None:
        msg = f"{source}: the number {'.'.join(path)} is missing; use the complete file"
        raise MeasurementError(msg)
    return value


def counts_of(document: Any, name: str, source: str) -> Mapping[str, float]:
    """Counts by status or by error, from an object.

    Raises
    ------
    MeasurementError
        For anything but an object of numbers.

    Examples
    --------
    >>> counts_of({"200": 9}, "status_codes", "run")
    {'200': 9.0}
    """
    if not isinstance(document, Mapping):
        msg = f"{source}: {name} is not an object; use the complete file"
        raise MeasurementError(msg)
    return {key: needed(document, key, source=f"{source}: {name}") for key in document}


def named_percentiles(
    document: Mapping[str, Any], source: str, scale: float = 1.0
) -> dict[float, float]:
    """Percentiles from an object with keys such as ``p99.9`` and ``median``.

    Examples
    --------
    >>> named_percentiles({"mean": 3.0, "median": 2.0, "p99": 9.0}, "run")
    {50.0: 2.0, 99.0: 9.0}
    """
    named = {percent: key for key in document if (percent := _percent(key)) is not None}
    return percentiles_of(
        {
            percent: amount(document, key, source=source, scale=scale)
            for percent, key in named.items()
        }
    )


def _percent(key: str) -> float | None:
    """The percentage that a key names; None if it names none."""
    if key == "median":
        return 50.0
    digits = key[1:].replace(".", "", 1)
    return float(key[1:]) if key[:1] == "p" and digits.isascii() and digits.isdigit() else None
