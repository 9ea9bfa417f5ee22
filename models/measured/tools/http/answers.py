"""Errors among answers, for all readers of HTTP load generators."""

from collections.abc import Mapping

from headway.errors import MeasurementError
from headway.numerals import digits


def answered(rate: float, bad: float, total: float) -> float | None:
    """The rate of successful answers, given the rate of all; None if all are errors.

    Examples
    --------
    >>> answered(100.0, 5, 50), answered(100.0, 50, 50)
    (90.0, None)
    """
    if bad == 0:
        return rate if total > 0 else None
    return rate * ((total - bad) / total) if bad < total else None


def of_errors(bad: float, total: float) -> tuple[str, ...]:
    """A note about answers that are errors; empty if there are none.

    Examples
    --------
    >>> of_errors(0, 50)
    ()
    """
    if bad == 0:
        return ()
    if bad >= total:
        return ("no request succeeded: there is no throughput, and the times are those of errors",)
    return (
        f"{digits(bad)} of {digits(total)} requests failed: the throughput excludes them,"
        " but the times include those that got an answer",
    )


def refuse_empty(answers: float, errors: float, place: str) -> None:
    """Refuse a run without answers and without failures.

    Raises
    ------
    MeasurementError
        With the remedy.
    """
    if answers <= 0 and errors <= 0:
        msg = (
            f"{place}: no request was answered; check that the server is up and the run is long "
            "enough"
        )
        raise MeasurementError(msg)


def statuses(counts: Mapping[str, float]) -> tuple[float, float]:
    """Answers with an error status, and all answers, from counts by status.

    Examples
    --------
    >>> statuses({"200": 90, "302": 5, "503": 5})
    (5, 100)
    """
    return sum(n for code, n in counts.items() if code[:1] not in "123"), sum(counts.values())
