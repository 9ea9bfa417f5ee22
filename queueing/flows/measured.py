"""Errors where flows between stations are taken as Poisson, and the label that states them.

``python -m tests.campaigns.loss_errors`` measures them against whole chains and stores its rows;
the tests recompute these labels from the rows.
"""

from collections.abc import Collection, Sequence

from headway.numerals import digits

LOSS, TIME, QUEUE = 17.8, 13.4, 16.9
"""Largest errors of loss probabilities, response times and numbers of jobs [%]."""

TAILS = (16.0, 17.0)
"""Largest errors of percentiles of answered jobs up to the 99th, and of the 99.9th [%]."""


def assumed_poisson(names: Sequence[str], losing: Collection[str]) -> str:
    """The note on stations whose arrivals and departures are taken as Poisson.

    Parameters
    ----------
    names
        Names of these stations.
    losing
        Names of the stations that lose jobs.

    Examples
    --------
    >>> assumed_poisson(["disk"], [])
    'arrivals at and departures from disk are assumed Poisson'
    """
    note = f"arrivals at and departures from {', '.join(names)} are assumed Poisson"
    if not set(names) & set(losing):
        return note
    return (
        f"{note}; largest error measured with exponential service: chance of loss {digits(LOSS)}%, "
        f"response time {digits(TIME)}%, queue length {digits(QUEUE)}%"
    )
