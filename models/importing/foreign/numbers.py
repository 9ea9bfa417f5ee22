"""Numbers and names of XML files, each refused with its place."""

import math
from collections.abc import Iterable
from xml.etree.ElementTree import Element

from headway.errors import ModelFileError, quoted
from headway.models.language.names import LONGEST_NAME

MOST_STATIONS = 5_000
"""Stations, and classes, of a network."""

MOST_WHOLE = 1e9
"""Servers, jobs, places: no machine has more."""


def number(text: str | None, place: str, least: float = 0.0) -> float:
    """Read a finite number.

    Raises
    ------
    ModelFileError
        With its place, for what is missing, no number, endless or too small.

    Examples
    --------
    >>> number("0.5", "cpu: visits")
    0.5
    """
    try:
        found = float((text or "").strip())
    except ValueError:
        found = math.nan
    if not (math.isfinite(found) and found >= least):
        told = quoted(text) if text else "missing"
        msg = f"{place} is {told}; it must be a number of {least:g} or more"
        raise ModelFileError(msg)
    return found


def positive(text: str | None, place: str) -> float:
    """Read a number above 0."""
    found = number(text, place)
    if found == 0:
        msg = f"{place} is 0; it must be more"
        raise ModelFileError(msg)
    return found


def whole(text: str | None, place: str, least: int = 0) -> int:
    """Read a whole number."""
    found = number(text, place, least)
    if found != int(found) or found > MOST_WHOLE:
        msg = f"{place} is {found:g}; it must be a whole number of {MOST_WHOLE:g} or less"
        raise ModelFileError(msg)
    return int(found)


def unique(names: Iterable[str], what: str, source: str) -> None:
    """Refuse names that are empty or given twice, and more of them than a model may have."""
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            why = f"{quoted(name)} is there twice" if name else "has no name"
            msg = f"{source}: {what} {why}; give each a name of its own"
            raise ModelFileError(msg)
        if len(name) > LONGEST_NAME:
            msg = f"{source}: {what} {quoted(name)} has more than {LONGEST_NAME} characters"
            raise ModelFileError(msg)
        seen.add(name)
        if len(seen) > MOST_STATIONS:
            msg = f"{source}: more than {MOST_STATIONS} of {what}; a model is smaller"
            raise ModelFileError(msg)


def name_of(element: Element) -> str:
    """The name that an element bears; empty if none."""
    return (element.get("name") or "").strip()
