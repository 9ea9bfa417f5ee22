"""How requests arrived: the squared coefficient of variation of the times between them.

A load generator that sends at equal intervals makes a server wait less than independent users
would. Taken for Poisson arrivals, the flat rise of its curve looks like spare capacity.
"""

from collections.abc import Iterable
from math import inf

from headway.errors import InvalidParameter, MeasurementError, quoted
from headway.numerals import digits, four_digits
from headway.records import dataclass

CONSTANT, POISSON = 0.0, 1.0
"""Squared coefficients of variation of the times between arrivals, of generators and of users."""

NAMED = {"constant": CONSTANT, "poisson": POISSON}
"""Words for them."""


TRACE = "trace"
"""The word for arrivals as a log of requests has them."""


@dataclass(frozen=True)
class Gaps:
    """The times between requests as they were sent, or were due.

    Parameters
    ----------
    count
        How many.
    scv
        Their squared coefficient of variation, to four decimals.
    error
        Its standard error, if they are independent of one another.
    correlation
        Of one with the next.
    rounding
        By how much the resolution d of the log's clock can raise the scv: d^2 / (6 m^2), with the
        mean m, as each time of two is off by an error that is uniform over d.

    Examples
    --------
    >>> Gaps(40, 1.3, 0.3, 0.0, 0.0).lacking
    'it has 41 requests, but an scv needs 100'
    """

    count: int
    scv: float
    error: float
    correlation: float
    rounding: float

    @property
    def lacking(self) -> str:
        """Why it does not tell how requests arrived; empty where it does."""
        if self.count + 1 < _FEWEST:
            return f"it has {self.count + 1} requests, but an scv needs {_FEWEST}"
        if self.rounding > _COARSE:
            return "its clock is too coarse for requests so near to each other"
        return ""

    @property
    def is_correlated(self) -> bool:
        """Whether short times follow one another, which an scv does not tell."""
        chance = _SURE / self.count**0.5
        return self.scv > _EVEN and self.correlation > max(chance, _RELATED)


_FEWEST = 100
"""Requests of a log: those of users give their scv of 1 with a standard error of 0.2 then."""

_COARSE = _ALIKE = 0.1
"""Difference of an scv that is let pass: with services of an scv of 1 it moves a wait by 5%."""

_SURE, _RELATED, _EVEN = 4.0, 0.1, 0.01
"""Standard errors of a correlation of chance, the least that counts, and of times that vary."""


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
            f"arrivals are {quoted(str(text))}; write constant, poisson, trace, or the squared "
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


def pooled_arrivals(logged: Iterable[Gaps], source: str) -> float:
    """The one squared coefficient of variation of several logs, each by its number of requests.

    Raises
    ------
    MeasurementError
        Where they differ by more than chance, which is four standard errors, and than 0.1.

    Examples
    --------
    >>> pooled_arrivals([Gaps(300, 1.1, 0.1, 0.0, 0.0), Gaps(900, 0.9, 0.05, 0.0, 0.0)], "runs")
    0.95
    """
    every = list(logged)
    pooled = sum(each.count * each.scv for each in every) / sum(each.count for each in every)
    unlike = [e.scv for e in every if abs(e.scv - pooled) > max(_SURE * e.error, _ALIKE)]
    if unlike:
        low, high = (four_digits(end(e.scv for e in every)) for end in (min, max))
        msg = (
            f"{source}: requests arrived unlike at different loads, with an scv of {low} to "
            f"{high}; use points of one kind (--from, --to), or state one scv with --arrivals"
        )
        raise MeasurementError(msg)
    return round(pooled, 4)
