"""What is missed where classes that turn into one another have times of their own.

``python -m tests.campaigns.chain_errors`` measures it against whole chains, by how far their mean
times at a station are apart, and stores its rows; the tests recompute these labels from them.
"""

from collections.abc import Sequence

from headway.numerals import digits
from headway.queueing.network.turns import Turns, different_times

RATIOS = (2.0, 10.0, 100.0)
"""Where the regions end: longest over shortest mean time of a chain's classes at a station."""

IN_TURN = ((3.4, 21.5), (15.6, 68.9), (23.7, 97.8))
"""Largest errors of throughputs, and of response times of a visit by class [%], by region.

In order of arrival or in random order.
"""

LAST = ((0.7, 38.2), (1.1, 146.4), (1.1, 196.1))
"""The same of the last first at several servers."""


def chain_note(turns: Turns, last: Sequence[str], ratio: float) -> str:
    """The note on stations where classes of a chain meet without a product form; empty if none do.

    Parameters
    ----------
    turns
        Those in order of arrival and in random order.
    last
        Names of those that serve the last first at several servers.
    ratio
        Longest over shortest mean time of a chain's classes at one of them, 1 or more.

    Examples
    --------
    >>> chain_note(Turns(("cpu",)), (), 8.0)[:66]
    'cpu: first come first served with times that differ by class of a '
    """
    row = next((k for k, end in enumerate(RATIOS) if ratio <= end * _ROUNDING), len(RATIOS) - 1)
    beyond = " (these are beyond that)" if ratio > RATIOS[-1] * _ROUNDING else ""
    notes = []
    if turns:
        words = f"{different_times(turns)} of a chain, treated as one class there"
        notes.append((words, IN_TURN[row]))
    if last:
        words = f"{', '.join(last)}: last come first served by several servers, with times that "
        notes.append((f"{words}differ by class of a chain, approximated as shared", LAST[row]))
    return "; ".join(
        f"{words}; largest error measured with mean times up to {digits(RATIOS[row])} times apart"
        f"{beyond}: throughput {digits(rate)}%, response time of a visit {digits(time)}%"
        for words, (rate, time) in notes
    )


_ROUNDING = 1 + 1e-9  # of ratios at the end of a region: decides no answer
