"""The measured errors of approximations for blocking and regions, and the labels that state them.

``python -m tests.campaigns.blocking_errors`` measures them: the largest relative errors over random
small networks whose whole Markov chains are solved too (docs/accuracy.md has medians and cases).
"""

from collections.abc import Sequence

from headway.numerals import digits

OPEN, CLOSED = "open", "closed"

DECOMPOSED = {OPEN: (5.4, 39.0), CLOSED: (37.9, 36.5)}
EQUIVALENT = {OPEN: (0.0, 23.1), CLOSED: (5.5, 6.9)}
"""Largest errors of throughputs (for open networks, saturation throughputs) and response times
[%].
"""

BEHIND = 2.2
"""Largest error of response times behind blocked stations or regions, whose output is not
Poisson.
"""

DELAYED = {OPEN: (0.0, 17.2), CLOSED: (1.1, 2.8)}
"""Largest errors if delays have squared coefficients of variation of 1/4 and 4."""


def decomposed_note(*, closed: bool) -> str:
    """The note on decomposed stations: what is approximate."""
    return (
        "networks that block are solved approximately, by decomposition; "
        f"{_largest(DECOMPOSED, closed=closed)}"
    )


def equivalent_note(*, closed: bool) -> str:
    """The note on regions solved as one server: what is approximate."""
    return (
        "regions are approximated as flow-equivalent servers; "
        f"{_largest(EQUIVALENT, closed=closed)}"
    )


def delayed_note(*, closed: bool) -> str:
    """The note on delays in a Markov chain: what is approximate."""
    errors = _largest(DELAYED, closed=closed)
    return f"times at delays are assumed exponential; {errors} with scv of 1/4 and 4"


def poisson_note(names: Sequence[str]) -> str:
    """The note on stations behind blocking ones: what is approximate.

    Examples
    --------
    >>> poisson_note(["disk"])[:35]
    'arrivals at disk are assumed Poisso'
    """
    note = f"arrivals at {', '.join(names)} are assumed Poisson"
    return f"{note}; largest error measured: response time {digits(BEHIND)}%"


def _largest(measured: dict[str, tuple[float, float]], *, closed: bool) -> str:
    rate, time = measured[CLOSED if closed else OPEN]
    which = "throughput" if closed else "saturation throughput"
    errors = (
        f"{which} {digits(rate)}%, response time {digits(time)}%"
        if rate
        else f"response time {digits(time)}%"
    )
    return f"largest error measured: {errors}"
