"""How requests arrived: the squared coefficient of variation of the times between them.

A load generator that sends at equal intervals makes a server wait less than independent users
would. Taken for Poisson arrivals, the flat rise of its curve looks like spare capacity.
"""

from collections.abc import Iterable
from math import inf

from headway.errors import InvalidParameter, quoted
from headway.numerals import digits

CONSTANT, POISSON = 0.0, 1.0
"""Squared coefficients of variation of the times between arrivals, of generators and of users."""

NAMED = {"constant": CONSTANT, "poisson": POISSON}
"""Words for them."""


def arrival_scv_of(text: str | float) -> float:
    """The squared coefficient of variation that a word or a number says.

    Parameters
    ----------
    text
        ``constant``, ``poisson`` or a number of 0 or more.

    Raises
    ------
    InvalidParameter
        For anything else.

    Examples
    --------
    >>> arrival_scv_of("constant"), arrival_scv_of("poisson"), arrival_scv_of("4")
    (0.0, 1.0, 4.0)
    """
    word = str(text).strip().lower()
    try:
        scv = NAMED[word] if word in NAMED else float(word)
    except ValueError:
        scv = -1.0
    if not 0 <= scv < inf:
        msg = (
            f"arrivals are {quoted(str(text))}; write constant, poisson, or the squared "
            "coefficient of variation of the times between them"
        )
        raise InvalidParameter(msg)
    return scv


def arrivals_in_words(scv: float) -> str:
    """How requests arrived, as a sentence says it.

    Examples
    --------
    >>> arrivals_in_words(0.0), arrivals_in_words(4.0)
    ('at constant intervals', 'with an scv of 4')
    """
    named = {CONSTANT: "at constant intervals", POISSON: "at random (Poisson)"}
    return named.get(scv, f"with an scv of {digits(scv)}")


def same_arrivals(scvs: Iterable[float | None]) -> float | None:
    """The one squared coefficient of variation of all; None where they differ or are not known.

    Examples
    --------
    >>> same_arrivals([0.0, 0.0]), same_arrivals([0.0, None]), same_arrivals([])
    (0.0, None, None)
    """
    every = set(scvs)
    return every.pop() if len(every) == 1 else None
