"""How far the service times of closed classes in order of arrival are apart, and what that costs.

The further the mean times of a station's classes are apart, and the more their times vary, the
more approximate mean value analysis misses. ``python -m tests.spread_regions`` measures it, and so
does ``python -m tests.spread_errors``: the larger of both is said.
"""

from dataclasses import dataclass

from headway.numerals import digits
from headway.queueing.closed.demands import Method

RATIOS, SCVS = (2.0, 5.0, 32.0), (1.0, 2.0, 4.0)
"""Where the regions end: longest over shortest mean time at a station, and largest scv."""

WITHIN = {
    Method.LINEARIZER: (
        ((9.3, 14.0), (13.0, 31.3), (31.8, 73.1)),
        ((20.1, 36.2), (31.4, 68.4), (45.4, 108.3)),
        ((64.3, 404.5), (64.3, 404.5), (78.9, 423.0)),
    ),
    Method.SCHWEITZER: (
        ((15.6, 27.2), (19.0, 42.8), (35.2, 91.8)),
        ((22.7, 48.4), (36.7, 88.5), (54.4, 155.5)),
        ((66.3, 440.7), (66.3, 440.7), (79.4, 440.7)),
    ),
}
"""Largest errors of throughputs and response times [%] by ratio (rows) and scv, of all networks
whose times are at most so far apart."""


@dataclass(frozen=True)
class Apart:
    """How far the times of classes are apart where they wait in order of arrival.

    Parameters
    ----------
    ratio
        Longest over shortest mean time of the classes at a station, the largest of all stations.
    scv
        Largest squared coefficient of variation of their times.

    Examples
    --------
    >>> str(Apart(1.6, 1.4))
    'with mean times up to 2 times apart and scv up to 2'
    """

    ratio: float
    scv: float

    @property
    def region(self) -> tuple[int, int]:
        """Row and column of the smallest region that holds it, or of the largest there is."""
        return _first(RATIOS, self.ratio), _first(SCVS, self.scv)

    def errors(self, method: Method) -> tuple[float, float]:
        """Largest errors measured of throughputs and of response times [%]."""
        row, column = self.region
        return WITHIN[method][row][column]

    def __str__(self) -> str:
        row, column = self.region
        beyond = self.ratio > RATIOS[-1] * _ROUNDING or self.scv > SCVS[-1] * _ROUNDING
        ends = digits(RATIOS[row]), digits(SCVS[column])
        text = f"with mean times up to {ends[0]} times apart and scv up to {ends[1]}"
        return f"{text} (these are beyond that)" if beyond else text


_ROUNDING = 1 + 1e-9  # of ratios that are at the end of a region


def _first(ends: tuple[float, ...], value: float) -> int:
    last = len(ends) - 1
    return next((k for k, end in enumerate(ends) if value <= end * _ROUNDING), last)
