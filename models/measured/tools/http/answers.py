"""What readers of HTTP load generators share: answers that are errors."""

from collections.abc import Mapping

from headway.errors import MeasurementError


def answered(rate: float, bad: float, total: float) -> float | None:
    """The rate of answers that are no errors, of the rate of all; None where all are.

    Examples
    --------
    >>> answered(100.0, 5, 50), answered(100.0, 50, 50)
    (90.0, None)
    """
    if bad == 0:
        return rate if total > 0 else None
    return rate * ((total - bad) / total) if bad < total else None


def of_errors(bad: float, total: float) -> tuple[str, ...]:
    """What is to be known where answers are errors; nothing where none is.

    Examples
    --------
    >>> of_errors(0, 50)
    ()
    """
    if bad == 0:
        return ()
    if bad >= total:
        return ("no request succeeded: there is no throughput, and times are those of errors",)
    return (
        f"{bad:g} of {total:g} requests failed: the throughput leaves them out,"
        " the times hold those that were answered",
    )


def refuse_empty(answers: float, errors: float, place: str) -> None:
    """Refuse a run in which nothing came back and nothing failed.

    Raises
    ------
    MeasurementError
        With what to do.
    """
    if answers <= 0 and errors <= 0:
        msg = f"{place}: no request was answered; is the server up, the run long enough?"
        raise MeasurementError(msg)


def statuses(counts: Mapping[str, float]) -> tuple[float, float]:
    """Answers with a status that is an error, and all answers, of a count by status.

    Examples
    --------
    >>> statuses({"200": 90, "302": 5, "503": 5})
    (5, 100)
    """
    return sum(n for code, n in counts.items() if code[:1] not in "123"), sum(counts.values())
