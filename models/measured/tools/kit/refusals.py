"""One-line errors that readers share."""

from headway.errors import MeasurementError


def broken(place: str, what: str) -> MeasurementError:
    """The error of a truncated or corrupt text.

    Examples
    --------
    >>> print(broken("a.txt:7", "3 cells stand under 4 titles"))
    a.txt:7: 3 cells stand under 4 titles; check that the file is complete and that the run finished
    """
    advice = "check that the file is complete and that the run finished"
    return MeasurementError(f"{place}: {what}; {advice}")


def nothing(source: str, what: str) -> MeasurementError:
    """The error of a run in which nothing succeeded.

    Examples
    --------
    >>> print(nothing("a.json:1", "no transaction"))
    a.json:1: no transaction succeeded, so it has no measured point; fix the test or leave it out
    """
    msg = f"{source}: {what} succeeded, so it has no measured point"
    return MeasurementError(f"{msg}; fix the test or leave it out")
