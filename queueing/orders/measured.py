"""The measured errors of approximations for disciplines, and the labels that state them.

``python -m tests.campaigns.order_errors`` measures them (docs/accuracy.md).
"""

from collections.abc import Sequence

from headway.numerals import digits
from headway.queueing.network.turns import OrderedStations, different_times

ALONE = (101.0, 120.0)
"""Closed and mixed networks with priorities, each station solved state by state: largest errors
of throughputs and response times by ``python -m tests.brute.rows`` [%].
"""

TURNS = (32.0, 47.0)
"""The same for order of arrival or random order, with service times that differ by class."""

MEAN = (40.0, 39.0)
"""Mean value analysis only: median errors with 5 to 15 jobs of two classes [%]."""

UNBOUNDED = "the largest has no bound"
"""Its largest error: classes of low priority were off by 577% and more, starved ones by any
factor.
"""

OPEN = 20.0
"""Open classes: largest error of response times at several servers, or behind other queues [%]."""

LAST = (24.0, 86.0)
"""Errors of last come, first served at several servers with times that differ by class."""


def priority_note(
    names: Sequence[str],
    *,
    closed: bool,
    local: bool = False,
    starved: Sequence[str] = (),
    beside: Sequence[str] = (),
) -> str:
    """The note on priorities: what is approximate.

    Parameters
    ----------
    names
        Names of the stations with priorities.
    closed
        Whether some classes are closed.
    local
        Whether each such station was solved state by state.
    starved
        Names of classes that are nearly starved.
    beside
        Names of other stations with waiting that jobs reach from such stations: they are
        approximate too.

    Examples
    --------
    >>> priority_note(["cpu"], closed=False)
    'cpu: by priority; largest error measured: response time 20%'
    """
    note = f"{', '.join(names)}: by priority"
    note += f", and what comes from there to {', '.join(beside)}" if beside else ""
    if not closed:
        return f"{note}; largest error measured: response time {digits(OPEN)}%"
    rate, time = ALONE if local else MEAN
    errors = f"throughput {digits(rate)}%, response time {digits(time)}%"
    if local:
        return f"{note}, times between visits assumed exponential; largest error measured: {errors}"
    note = f"{note}, approximate mean value analysis; median error measured: {errors}; {UNBOUNDED}"
    return f"{note}: class {', '.join(starved)} is starved" if starved else note


def turns_note(turns: OrderedStations) -> str:
    """The note on stations in order of arrival or random order, each solved in isolation.

    Examples
    --------
    >>> turns_note(OrderedStations(at_random=("cpu",)))[:64]
    'cpu: served in random order with times that differ by class, tim'
    """
    rate, time = TURNS
    return (
        f"{different_times(turns)}, times between visits assumed exponential; largest error "
        f"measured: throughput {digits(rate)}%, response time {digits(time)}%"
    )


def last_note(names: Sequence[str]) -> str:
    """The note on pools with last come, first served; empty without such pools."""
    if not names:
        return ""
    rate, time = LAST
    return (
        f"{', '.join(names)}: last come first served by several servers is approximated as "
        f"processor sharing; largest error measured: throughput {digits(rate)}%, response time "
        f"{digits(time)}%"
    )
