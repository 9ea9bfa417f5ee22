"""Refusals that readers share, a line each."""

from headway.errors import MeasurementError


def broken(place: str, what: str) -> MeasurementError:
    """What refuses a text that was cut or spoilt.

    Examples
    --------
    >>> print(broken("a.txt:7", "3 cells stand under 4 titles"))
    a.txt:7: 3 cells stand under 4 titles; is the file whole, and did the run end well?
    """
    return MeasurementError(f"{place}: {what}; is the file whole, and did the run end well?")


def nothing(source: str, what: str) -> MeasurementError:
    """What refuses a run in which nothing succeeded.

    Examples
    --------
    >>> print(nothing("a.json:1", "no transaction"))
    a.json:1: no transaction succeeded, so there is no point in it; mend the test or leave it out
    """
    msg = f"{source}: {what} succeeded, so there is no point in it"
    return MeasurementError(f"{msg}; mend the test or leave it out")
