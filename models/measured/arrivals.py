"""How requests arrived: the squared coefficient of variation of their interarrival times.

A load generator that sends at equal intervals makes a server wait less than independent users
would. Taken for Poisson arrivals, the flat rise of its curve looks like spare capacity.
"""

from collections.abc import Iterable
from math import inf

from headway.errors import InvalidParameter, MeasurementError, quoted
from headway.numerals import digits, four_digits
from headway.records import dataclass

CONSTANT, POISSON = 0.0, 1.0
"""Squared coefficients of variation of the interarrival times of generators, and of independent
users."""

NAMED = {"constant": CONSTANT, "poisson": POISSON}
"""Words for them."""


TRACE = "trace"
"""The word for arrivals as a log of requests shows them."""


@dataclass(frozen=True)
class Gaps:
    """The times between consecutive requests as they were sent, or due.

    Parameters
    ----------
    count
        Number of times.
    scv
        Their squared coefficient of variation, to four decimals.
    error
        Standard error of the scv, if the times are independent.
    correlation
        Correlation of each time with the next.
    rounding
        How much the resolution d of the log's clock can raise the scv: d^2 / (6 m^2) with the mean
        m, as the error of each of two stamps is uniform over d.

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
        """Why the times do not show how requests arrived; empty if they do."""
        if self.count + 1 < _FEWEST:
            return f"it has {self.count + 1} requests, but an scv needs {_FEWEST}"
        if self.rounding > _COARSE:
            return "its clock is too coarse for requests so near to each other"
        return ""

    @property
    def is_correlated(self) -> bool:
        """Whether short times tend to follow short ones, which an scv does not show."""
        chance = _SURE / self.count**0.5
        return self.scv > _EVEN and self.correlation > max(chance, _RELATED)


_FEWEST = 100
"""Fewest requests of a log: the scv of 1 of independent users then has a standard error of 0.2."""

_COARSE = _ALIKE = 0.1
"""Difference of two scvs that is ignored: for services of an scv of 1 it changes the wait by 5%."""

_SURE, _RELATED, _EVEN = 4.0, 0.1, 0.01
"""Standard errors of a correlation by chance, the least correlation that counts, and the least scv
of times that vary."""


def arrival_scv_of(text: str | float) -> float:
    """The squared coefficient of variation that a word or a number stands for.

    Parameters
    ----------
    text
        ``constant``, ``poisson`` or a number of 0 or more.

    Raises
    ------
    InvalidParameter
        For any other text.

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
    """How requests arrived, as part of a sentence.

    Examples
    --------
    >>> arrivals_in_words(0.0), arrivals_in_words(4.0)
    ('at constant intervals', 'with an scv of 4')
    """
    named = {CONSTANT: "at constant intervals", POISSON: "at random (Poisson)"}
    return named.get(scv, f"with an scv of {digits(scv)}")


def same_arrivals(scvs: Iterable[float | None]) -> float | None:
    """The common squared coefficient of variation of all; None if they differ or it is unknown.

    Examples
    --------
    >>> same_arrivals([0.0, 0.0]), same_arrivals([0.0, None]), same_arrivals([])
    (0.0, None, None)
    """
    every = set(scvs)
    return every.pop() if len(every) == 1 else None


def pooled_arrivals(logged: Iterable[Gaps], source: str) -> float:
    """The common squared coefficient of variation of several logs, weighted by numbers of requests.

    Raises
    ------
    MeasurementError
        If they differ by more than 0.1, and by more than four standard errors.

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
            f"{source}: requests arrived differently at different loads, with an scv of {low} to "
            f"{high}; use points of one kind (--from, --to), or state one scv with --arrivals"
        )
        raise MeasurementError(msg)
    return round(pooled, 4)
