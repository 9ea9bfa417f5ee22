"""The measured errors if classes of one chain have different service times.

``python -m tests.campaigns.chain_errors`` measures them against whole chains, by the ratio of mean
times at a station, and stores its rows; the tests recompute these labels from them.
"""

from collections.abc import Sequence

import numpy as np

from headway.kinds import FloatArray
from headway.numerals import digits
from headway.queueing.methods.method import EXACT, Error
from headway.queueing.network.turns import OrderedStations, different_times
from headway.records import dataclass

RATIOS = (2.0, 10.0, 100.0)
"""Ends of the regions: longest over shortest mean time of a chain's classes at a station."""

IN_TURN = ((3.4, 21.5), (15.6, 68.9), (23.7, 97.8))
"""Largest errors of throughputs, and of response times of a visit by class [%], by region.

For order of arrival and random order.
"""

LAST = ((0.7, 38.2), (1.1, 146.4), (1.1, 196.1))
"""The same for last come, first served at several servers."""


_COMMAND = "python -m tests.campaigns.chain_errors"

BEGUN = 12.5
"""Largest error of response times of cycles by the class in which they begin [%].

For whole chains of stations without a product form (``python -m tests.campaigns.begun_classes``).
"""

BEGUN_NOTE = (
    "response times by class take a visit to last the same in whatever class its cycle began: "
    f"largest error measured {digits(BEGUN)}%; all else is exact"
)


def begun_error(visits: FloatArray, shares: FloatArray) -> Error:
    """The error of response times of cycles by class from a whole chain, whose states forget it.

    Parameters
    ----------
    visits
        Visits of a cycle that begins in a class (rows), shape (points, classes, classes, stations).
    shares
        Share of a chain's cycles that begin in each class, shape (classes, points).

    Examples
    --------
    >>> mixed, half = np.ones((1, 2, 2, 1)), np.full((2, 1), 0.5)
    >>> begun_error(np.eye(2)[None, :, :, None], half).exact, begun_error(mixed, half).exact
    (True, False)
    """
    begin = np.moveaxis(shares, -1, 0)[:, :, None, None] > 0
    # classes whose cycles visit each class and station
    sources = ((visits > 0) & begin).sum(axis=1)
    if (sources < 2).all():
        return EXACT
    return Error(0.0, BEGUN, "", "python -m tests.campaigns.begun_classes")


@dataclass(frozen=True)
class MergedStations:
    """Stations where classes of a chain meet without a product form, treated as one class.

    Parameters
    ----------
    turns
        Names of those in order of arrival and in random order.
    last
        Names of those with last come, first served at several servers.
    ratio
        Longest over shortest mean time of a chain's classes at one of them, 1 or more.

    Examples
    --------
    >>> MergedStations(OrderedStations(("cpu",)), (), 8.0).note[:66]
    'cpu: first come first served with times that differ by class of a '
    """

    turns: OrderedStations
    last: Sequence[str]
    ratio: float

    @property
    def note(self) -> str:
        """What is approximate about that; empty if no classes meet like this."""
        beyond = " (these are beyond that)" if self.ratio > RATIOS[-1] * _ROUNDING else ""
        notes = []
        if self.turns:
            words = f"{different_times(self.turns)} of a chain, treated as one class there"
            notes.append((words, IN_TURN[self._row]))
        if self.last:
            words = f"{', '.join(self.last)}: last come first served by several servers, with times"
            words = f"{words} that differ by class of a chain, approximated as shared"
            notes.append((words, LAST[self._row]))
        return "; ".join(
            f"{words}; largest error measured with {self._region}{beyond}: "
            f"throughput {digits(rate)}%, response time of a visit {digits(time)}%"
            for words, (rate, time) in notes
        )

    @property
    def error(self) -> Error:
        """The largest measured error."""
        found = EXACT
        for there, errors in ((self.turns, IN_TURN), (self.last, LAST)):
            if there:
                found = found.beside(Error(*errors[self._row], f"with {self._region}", _COMMAND))
        return found

    @property
    def _row(self) -> int:
        """The region that the ratio is in, or the last one."""
        ends = enumerate(RATIOS)
        return next((k for k, end in ends if self.ratio <= end * _ROUNDING), len(RATIOS) - 1)

    @property
    def _region(self) -> str:
        return f"mean times up to {digits(RATIOS[self._row])} times apart"


_ROUNDING = 1 + 1e-9  # of ratios at the end of a region: changes no answer
