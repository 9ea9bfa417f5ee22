"""The measured errors of approximations for closed networks, and the labels that state them.

``python -m tests.campaigns.approximation_errors`` measures them: the largest relative errors over
random networks that are also solved exactly (docs/accuracy.md has distributions, medians and
numbers). Classes in order of arrival have errors by region: mean value analysis errs more, the
further the mean times of a station's classes are apart and the more their times vary. ``python -m
tests.campaigns.spread_regions``, ``python -m tests.campaigns.spread_errors`` and ``python -m
tests.brute.rows`` measure them; the largest of all is stated. For open classes ``python -m
tests.campaigns.open_class_errors`` simulates networks by region.
"""

from collections.abc import Sequence
from functools import cache

from headway.numerals import digits
from headway.queueing.network.names import Method
from headway.queueing.network.turns import OrderedStations, different_times
from headway.records import dataclass

_NAMES = {Method.SCHWEITZER: "Bard-Schweitzer", Method.LINEARIZER: "Linearizer"}

MEASURED = {
    (Method.SCHWEITZER, "single"): (28.2, 39.2),
    (Method.LINEARIZER, "single"): (2.4, 5.4),
    (Method.SCHWEITZER, "pools"): (16.3, 19.8),
    (Method.LINEARIZER, "pools"): (6.4, 6),
}
"""Largest errors of throughputs and response times [%]."""

CLOSED_IN_ORDER = {Method.SCHWEITZER: (69.4, 436), Method.LINEARIZER: (68.1, 436)}
"""Largest errors if times differ by class at a queue in order of arrival [%].

For throughputs and response times; both cover random order, and jobs that return at once with open
classes (``python -m tests.brute.rows``).
"""

OPEN_SCVS = (1.0, 4.0, 8.0)
"""Ends of the regions of open classes: largest scv of services."""

STEADY = 0.25
"""Scv of services below which departures are far from Poisson."""

IN_ROWS = (20.8, 112.8, 33.9, 33.9, 33.9)
IN_LOOPS = (20.8, 112.8, 33.9, 102.4, 164.5)
"""Largest errors of response times of open classes [%]: if all times are exponential, if some
have an scv below `STEADY`, and otherwise by `OPEN_SCVS`; without loops, and for all networks.
"""

OPEN_LIMITS = {"ratio": 10.0, "queues": 3, "visits": 5.0, "busy": 0.9}
"""Limits of what was measured: the ratio of times of classes at a station, and so on."""


RATIOS, SCVS = (2.0, 5.0, 32.0), (1.0, 2.0, 4.0)
"""Ends of the regions: longest over shortest mean time at a station, and largest scv."""

WITHIN = {
    Method.LINEARIZER: (
        ((15.2, 17.9), (15.2, 31.3), (31.8, 73.1)),
        ((30.2, 43.1), (31.4, 68.4), (45.4, 108.3)),
        ((64.3, 404.5), (64.3, 404.5), (78.9, 423.0)),
    ),
    Method.SCHWEITZER: (
        ((26.8, 36.6), (26.8, 42.8), (35.2, 91.8)),
        ((36.0, 56.1), (36.7, 88.5), (54.4, 155.5)),
        ((66.3, 440.7), (66.3, 440.7), (79.4, 440.7)),
    ),
}
"""Largest errors of throughputs and response times [%] by ratio (rows) and scv, over all
networks up to that ratio and scv.
"""


@dataclass(frozen=True)
class Apart:
    """How far the times of classes differ at queues in order of arrival.

    Parameters
    ----------
    ratio
        Longest over shortest mean time of the classes at a station, the largest over all stations.
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
        """Row and column of the smallest region that contains it, or of the largest region."""
        return _first(RATIOS, self.ratio), _first(SCVS, self.scv)

    def errors(self, method: Method) -> tuple[float, float]:
        """Largest measured errors of throughputs and of response times [%]."""
        row, column = self.region
        return WITHIN[method][row][column]

    def __str__(self) -> str:
        row, column = self.region
        beyond = self.ratio > RATIOS[-1] * _ROUNDING or self.scv > SCVS[-1] * _ROUNDING
        ends = digits(RATIOS[row]), digits(SCVS[column])
        text = f"with mean times up to {ends[0]} times apart and scv up to {ends[1]}"
        return f"{text} (these are beyond that)" if beyond else text


_ROUNDING = 1 + 1e-9  # of ratios at the end of a region


def _first(ends: tuple[float, ...], value: float) -> int:
    last = len(ends) - 1
    return next((k for k, end in enumerate(ends) if value <= end * _ROUNDING), last)


def closed_note(
    method: Method,
    *,
    pools: bool,
    in_order: OrderedStations | Sequence[str] = (),
    spread: bool = False,
    apart: Apart | None = None,
) -> str:
    """The note on a closed network's approximation; empty for an exact method.

    Parameters
    ----------
    method
        The method that was used.
    pools
        Whether stations have several servers at one queue.
    in_order
        Stations that serve classes of different times in order of arrival or in random order.
    spread
        Whether some of these times are not exponential.
    apart
        How far times differ at stations in order of arrival, if all classes are closed.

    Examples
    --------
    >>> closed_note(Method.EXACT, pools=True)
    ''
    """
    if not method.approximate:
        return ""
    note = f"{_NAMES[method]} approximate mean value analysis"
    if not in_order:
        return f"{note}; {_largest(*MEASURED[method, 'pools' if pools else 'single'])}"
    note = f"{note} with {different_times(in_order, spread=spread)}"
    if apart is None:
        return f"{note}; {_largest(*CLOSED_IN_ORDER[method])}"
    return f"{note}; {_largest(*apart.errors(method), f' {apart}')}"


@dataclass(frozen=True)
class OpenRegion:
    """The region of a network of open classes, among those that were measured.

    Parameters
    ----------
    loops
        Whether jobs return to a station.
    scvs
        Smallest and largest scv of services at queues; None if all times are exponential.
    ratio
        Longest over shortest mean time of the classes at a station, the largest of all stations.
    queues, visits, busy
        Number of queues, most visits of a job to one of them, and largest utilisation.
    poisson
        Whether arrivals are Poisson.

    Examples
    --------
    >>> str(OpenRegion(False, (0.5, 2.0), 3.0, 2, 1.0, 0.8))
    'without loops, scv of services from 0.25 to 4'
    """

    loops: bool
    scvs: tuple[float, float] | None
    ratio: float
    queues: int
    visits: float
    busy: float
    poisson: bool = True

    @property
    def column(self) -> int:
        """The column of `IN_ROWS` and `IN_LOOPS`."""
        if self.scvs is None:
            return 0
        return 1 if self.scvs[0] < STEADY else 2 + _first(OPEN_SCVS, self.scvs[1])

    @property
    def error(self) -> float:
        """The largest measured error of response times [%]."""
        return (IN_LOOPS if self.loops else IN_ROWS)[self.column]

    @property
    def is_beyond(self) -> bool:
        """Whether it is outside of what was measured."""
        here = {k: getattr(self, k) for k in OPEN_LIMITS}
        far = any(here[k] > limit * _ROUNDING for k, limit in OPEN_LIMITS.items())
        spread = 1.0 if self.scvs is None else self.scvs[1]
        return far or spread > OPEN_SCVS[-1] * _ROUNDING or not self.poisson

    def __str__(self) -> str:
        end = digits(OPEN_SCVS[max(self.column - 2, 0)])
        scvs = (
            "exponential times",
            f"some scvs of services below {digits(STEADY)}",
            f"scv of services from {digits(STEADY)} to {end}",
        )[min(self.column, 2)]
        text = f"{'with' if self.loops else 'without'} loops, {scvs}"
        if not self.is_beyond:
            return text
        return (
            f"{text}; measured up to {digits(OPEN_LIMITS['queues'])} queues that are at most "
            f"{digits(100 * OPEN_LIMITS['busy'])}% busy, {digits(OPEN_LIMITS['visits'])} visits, "
            f"mean times {digits(OPEN_LIMITS['ratio'])} times apart, scv {digits(OPEN_SCVS[-1])} "
            "and Poisson arrivals, which this is beyond"
        )


def open_note(in_order: OrderedStations | Sequence[str], region: OpenRegion) -> str:
    """The note on open classes with different times in order of arrival: what is approximate."""
    note = different_times(in_order, spread=region.scvs is not None)
    return f"{note}; largest error measured: response time {digits(region.error)}% ({region})"


@cache
def _largest(rate: float, time: float, where: str = "") -> str:
    errors = f"throughput {digits(rate)}%, response time {digits(time)}%"
    return f"largest error measured{where}: {errors}"
