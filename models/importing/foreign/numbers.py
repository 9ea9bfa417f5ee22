"""Numbers and names in XML files; errors name the place."""

import math
from collections.abc import Iterable
from xml.etree.ElementTree import Element

from headway.errors import ModelFileError, quoted
from headway.models.language.names import LONGEST_NAME
from headway.numerals import digits

MOST_STATIONS = 5_000
"""Most stations, and most classes, of a network."""

MOST_WHOLE = 1e9
"""Most servers, jobs or places; no machine has more."""


def number(text: str | None, place: str, least: float = 0.0) -> float:
    """Read a finite number.

    Raises
    ------
    ModelFileError
        For text that is missing, not a number, infinite or too small; names the place.

    Examples
    --------
    >>> number("0.5", "cpu: visits")
    0.5
    """
    try:
        value = float((text or "").strip())
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= least):
        shown = quoted(text) if text else "missing"
        msg = f"{place} is {shown}; it must be a number of {digits(least)} or more"
        raise ModelFileError(msg)
    return value


def positive(text: str | None, place: str) -> float:
    """Read a number above 0."""
    value = number(text, place)
    if value == 0:
        msg = f"{place} is 0; it must be positive"
        raise ModelFileError(msg)
    return value


def whole(text: str | None, place: str, least: int = 0) -> int:
    """Read a whole number."""
    value = number(text, place, least)
    if value != int(value) or value > MOST_WHOLE:
        msg = (
            f"{place} is {digits(value)}; it must be a whole number of {digits(MOST_WHOLE)} or less"
        )
        raise ModelFileError(msg)
    return int(value)


def unique(names: Iterable[str], what: str, source: str) -> None:
    """Refuse names that are empty or repeated, and too many of them."""
    earlier: set[str] = set()
    for name in names:
        if not name or name in earlier:
            why = f"{quoted(name)} appears twice" if name else "has no name"
            msg = f"{source}: {what} {why}; give each a unique name"
            raise ModelFileError(msg)
        if len(name) > LONGEST_NAME:
            msg = f"{source}: {what} {quoted(name)} has more than {LONGEST_NAME} characters"
            raise ModelFileError(msg)
        earlier.add(name)
        if len(earlier) > MOST_STATIONS:
            msg = f"{source}: a model may have at most {MOST_STATIONS} of: {what}; use fewer"
            raise ModelFileError(msg)


def name_of(element: Element) -> str:
    """The ``name`` of an element; empty if there is none."""
    return (element.get("name") or "").strip()
