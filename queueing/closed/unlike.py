"""How far the service times of closed classes in order of arrival are apart, and what that costs.

The further the mean times of a station's classes are apart, and the more their times vary, the
more approximate mean value analysis misses. ``python -m tests.spread_regions`` measures it.
"""

from dataclasses import dataclass

from headway.queueing.closed.demands import Method

RATIOS, SCVS = (2.0, 5.0, 32.0), (1.0, 2.0, 4.0)
"""Where the regions end: longest over shortest mean time at a station, and largest scv."""


@dataclass(frozen=True)
class Apart:
    """How far the times of classes are apart where they wait in order of arrival.

    Parameters
    ----------
    ratio
        Longest over shortest mean time of the classes at a station, the largest of all stations.
    scv
        Largest squared coefficient of variation of their times.
    """

    ratio: float
    scv: float
