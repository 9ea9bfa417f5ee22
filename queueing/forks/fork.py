"""Requests that fork to different stations, and join when enough of the parts are done."""

from dataclasses import replace
from functools import reduce
from typing import ClassVar

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import (
    Amount,
    FloatArray,
    Quantity,
    check_count,
    is_symbolic,
    number,
    plain,
)
from headway.numerals import digits
from headway.queueing.forks.along import FEWEST, interpolated
from headway.queueing.forks.branches import (
    BranchTime,
    branch_time,
    check_branch,
    service_of,
    waiting,
)
from headway.queueing.forks.kth import kth
from headway.queueing.forks.line import collinear_points
from headway.queueing.forks.sharing import kth_with_common_factor, similarity
from headway.queueing.order_statistics.alike import power_exponential
from headway.queueing.order_statistics.branch_times import Wait
from headway.queueing.stations.abilities import Abilities
from headway.queueing.stations.base import Station
from headway.queueing.stations.rows import arrays_in
from headway.queueing.times.laws import TimeLaw
from headway.records import dataclass

_ABOUT = (
    "percentiles of a fork with unlike branches: the 99th within 8% of simulations, the median "
    "within 7%, the 99.9th within 13%"
)
BEHIND = (
    "of a station behind a fork the mean response is within 12% of simulations where service is "
    "exponential and all branches are needed, else within 53% (measured up to 32 branches, scv "
    "0.25 to 2 and 90% busy)"
)
"""The error of taking the requests that join as a Poisson process."""

_LAWLESS = (
    "the response time of a Fork with unlike branches has no known distribution where half of them "
    "or fewer are needed: only its mean is approximated"
)
_JUMPS = (
    "the response time of a Fork with unlike branches has no known distribution where service at "
    "one is constant: only its mean is approximated; give a branch with an scv"
)
# tolerances of interpolated means, and of those with branches that change
_SAME, _SWEPT = 1e-10, 1e-7
# Percentiles are refused below this scv of service: two moments do not describe a law with jumps.
# Chosen; tests.campaigns.unlike_forks has scvs of 0, where it jumps, and from 0.25 on.
_STEADIEST = 0.1
# Exponents of `spread_of`, measured: over 120 forks (``python -m tests.campaigns.constants fork
# spread``; 2 to 8 branches, scv 0.25 to 2, 30 to 90% busy) the median errs by 2.4% and the 99th
# percentile by 3.2%, root mean squares; from 2 to 5 and from 0.5 to 0.7 by at most 2.6% and 3.5%.
_NEARER, _FACTOR = 4.0, 0.6
_LEAST = 1e-6  # least coefficient of variation of a law, against division by 0; digits only


@dataclass(frozen=True)
class Fork(Station):
    """Stations of any kind that all serve each request; done when k have finished.

    Arrivals are Poisson, and a branch may have further ones of its own. The fork takes the k-th of
    n independent gamma times, with the means R_b of the branches and squared coefficients of
    variation

        g_b = (1 - r) c_b**2 + r scv / (1 + scv (1 / h - 1)),

    with r the share of a branch's arrivals that fork, c_b**2 that of its response time, and h of U
    as for `ForkJoin`: the part of c_b**2 that the branch does not share with the others
    (docs/explanation/forks.md derives it). This is exact for constant times, for exponential ones
    while nobody waits, and for exponential response times of which next to none fork; for two like
    branches with one exponential server each it is Nelson and Tantawi's mean.

    Parameters
    ----------
    branches
        Stations, one or more.
    needed
        Branches k that have to be done, a whole number of 1 to n.
    others
        Further arrivals at each branch for each request that forks, 0 or more; none if left out.

    Raises
    ------
    GraphError
        For no branch, or a kind of station that cannot be one.
    InvalidParameter
        For `needed` outside its domain.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> written = Fork((MM1(0.008), MM1(0.002)), needed=2)  # to disk and log
    >>> round(written.response_time(60.0), 5), round(MM1(0.008).response_time(60.0), 5)
    (0.01557, 0.01538)

    References
    ----------
    Flatto and Hahn, "Two parallel queues created by arrivals with two demands I", SIAM J. Appl.
    Math. 44(5), 1984, for what is exact of two; Nelson and Tantawi, IEEE Trans. Computers 37(6),
    1988. How far it is from simulations is measured (docs/accuracy.md).
    """

    can: ClassVar[Abilities] = Abilities(
        counts=frozenset({"needed"}), smooth=True, forks=True, joins=True
    )
    approximation: ClassVar[str] = (
        "unlike branches of a fork share arrivals, which is approximated: mean "
        "response within 4% of "
        "simulations, of some of the branches within 4% and within 2% of the slowest's (measured "
        "up to 8 branches, scv 2 and 90% busy)"
    )

    branches: tuple[Station, ...]
    needed: Quantity | str
    others: tuple[Quantity, ...] = ()

    def __post_init__(self) -> None:
        if not self.branches:
            raise GraphError("a fork has no branches; name at least one station")
        for place, station in enumerate(self.branches):
            check_branch(f"branch {place + 1}", station)
        check_count("needed", self.needed)
        if not (isinstance(self.needed, str) or is_symbolic(self.needed)):
            check_needed(self.needed, len(self.branches))

    @property
    def service_time(self) -> Amount:  # type: ignore[override]
        """Mean time without waiting [s]."""
        self._check_numbers(self.needed)
        times, spreads = zip(*map(service_of, self.branches), strict=True)
        return self._kth([BranchTime(t, c, c) for t, c in zip(times, spreads, strict=True)])[0]

    @property
    def capacity(self) -> Amount:
        """Infinite: only its branches have a limit."""
        return np.inf

    @property
    def speedup(self) -> Amount:
        """Infinite: only its branches serve."""
        return np.inf

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Zero: its branches are busy, not the fork itself."""
        return arrival_rate * 0

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time in excess of that without waiting [s]."""
        return self.response_time(arrival_rate) - self.service_time

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time until k of n branches are done [s]; infinite if a branch is saturated.

        Many operating points on a line, as of a sweep, are interpolated from a few, to 1e-9 of the
        single results; to 1e-6 if k < n branches are needed and the branches change, as the
        integrals then use other grids.
        """
        self._check_numbers(arrival_rate)
        line = collinear_points(self, arrival_rate, FEWEST)
        if line is None:
            return self._response(arrival_rate)

        def scaled(places: FloatArray) -> FloatArray:
            """(1 - U) R, which is smooth up to saturation."""
            fork, rate = line.at(places)
            left = 1 - Fork._busiest(fork, rate)
            return np.asarray(np.where(left > 0, left * Fork._response(fork, rate), np.nan))

        fork, rate = line.at(line.places)
        left = 1 - Fork._busiest(fork, rate)
        some = (left > 0) & (rate > 0)
        swept = np.any(self.needed != len(self.branches)) and any(map(arrays_in, self.branches))
        found = np.empty(left.shape)
        found[~some] = Fork._response(*line.at(line.places[~some]))
        tolerance = _SWEPT if swept else _SAME
        found[some] = interpolated(scaled, line.places[some], tolerance) / left[some]
        return found.reshape(line.shape)

    def _busiest(self, rate: Amount) -> FloatArray:
        """Utilisation of the busiest branch."""
        shares = (np.asarray(b.utilisation(each), float) for b, each in self._loaded(rate))
        return reduce(np.maximum, shares)

    def _response(self, arrival_rate: Amount) -> Amount:
        """Point by point."""
        busy = self._busiest(arrival_rate)
        stable = busy < 1
        if not stable.any():
            return plain(np.where(np.isnan(busy), np.nan, np.inf))
        rate = arrival_rate if stable.all() else np.where(stable, arrival_rate, 0.0)
        mean = self._mean(self._kth(self._parts(rate))[0], rate)
        return plain(np.where(stable, mean, np.where(np.isnan(busy), np.nan, np.inf)))

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """A power of exponential times with the mean and spread of the k-th: an approximation.

        Raises
        ------
        GraphError
            If half of the branches or fewer are needed, and if service at one is constant, or
            nearly so (scv below 0.1).
        """
        if len(self.branches) > 1 and np.any(2 * np.asarray(self.needed) <= len(self.branches)):
            raise GraphError(_LAWLESS)
        if any(np.any(service_of(branch)[1] < _STEADIEST) for branch in self.branches):
            raise GraphError(_JUMPS)
        parts = self._parts(arrival_rate)
        own, square = (np.asarray(moment) for moment in self._kth(parts))
        mean = np.asarray(self._mean(own, arrival_rate))
        longer = mean / np.where(own > 0, own, 1.0)
        variance = np.maximum(spread_of(parts, own, square) * longer**2, (_LEAST * mean) ** 2)
        return TimeLaw((power_exponential(plain(mean), plain(variance)),), plain(mean), (_ABOUT,))

    def _parts(self, rate: Amount) -> list[BranchTime]:
        return [branch_time(branch, each, rate) for branch, each in self._loaded(rate)]

    def _mean(self, own: Amount, rate: Amount) -> Amount:
        """E[T] of the k-th; if k < n branches differ, with a common factor, at most the last's.

        Between equal and different branches the means are weighted by `similarity`.
        """
        count, branches = np.asarray(number("needed", self.needed), float), len(self.branches)
        if np.all(count == branches):
            return own
        rows = [waiting(branch, each, rate) for branch, each in self._loaded(rate)]
        last, _ = replace(self, needed=branches)._kth(self._parts(rate))
        shape = np.shape(own)

        def laid(value: Amount) -> FloatArray:
            return np.broadcast_to(np.asarray(value, float), shape).ravel()

        waits = Wait(*np.array([[laid(number) for number in row] for row in rows]).swapaxes(0, 1))
        found, needed = laid(own).copy(), laid(count)
        like = np.where(needed == branches, 1.0, similarity(waits))
        some = like < 1
        if some.any():
            factored = kth_with_common_factor(waits.at(some), needed[some])
            found[some] += (1 - like[some]) * (np.minimum(factored, laid(last)[some]) - found[some])
        return plain(found.reshape(shape))

    @property
    def _others(self) -> tuple[Quantity, ...]:
        return self.others or (0.0,) * len(self.branches)

    def _loaded(self, arrival_rate: Quantity) -> list[tuple[Station, Amount]]:
        """Branches, each with its total arrival rate."""
        return [
            (b, arrival_rate * (1 + o)) for b, o in zip(self.branches, self._others, strict=True)
        ]

    def _kth(self, parts: list[BranchTime]) -> tuple[Amount, Amount]:
        """First two moments of the k-th of independent times with the scvs g_b."""
        count = np.asarray(number("needed", self.needed), float)
        shape = np.broadcast_shapes(count.shape, *(np.shape(a) for p in parts for a in p))

        def rows(arrays: list[FloatArray]) -> FloatArray:
            return np.array([np.broadcast_to(a, shape).ravel() for a in arrays])

        needed = np.broadcast_to(count, shape).ravel()
        found = kth(rows([p.mean for p in parts]), rows([p.own for p in parts]), needed)
        first, second = (plain(moment.reshape(shape)) for moment in found)
        return first, second

    def _check_numbers(self, *values: Amount) -> None:
        fields = (v for b in self.branches for v in vars(b).values())
        if is_symbolic(*values, *self._others, *fields):
            raise GraphError("a fork with unlike branches has no closed form")


def check_needed(needed: Amount, branches: int) -> None:
    """Refuse to wait for more branches than there are.

    Raises
    ------
    InvalidParameter
        Naming both numbers.
    """
    most = float(np.max(np.asarray(number("needed", needed), float)))
    if most > branches:
        more = f"needed is {digits(most)}, more than the number of branches, {branches}"
        msg = f"{more}; reduce needed"
        raise InvalidParameter(msg)


def spread_of(parts: list[BranchTime], mean: FloatArray, square: FloatArray) -> FloatArray:
    """Variance of the k-th time: between that for a common term and that for a common factor.

    With x the k-th of the independent times, either T = x + Y, which adds the common variance
    m_b**2 (c_b**2 - g_b), or T = x Y, with E[Y**2] = (1 + c_b**2) / (1 + g_b). Both are averages
    over branches with the weights exp(-4 |log(m_b / E[x])|), as branches near the k-th matter most;
    the result is term**0.4 factor**0.6 (docs/explanation/forks.md).

    Parameters
    ----------
    parts
        The branches.
    mean, square
        First two moments of x.
    """
    logs = [np.log(np.maximum(p.mean, 1e-300) / np.maximum(mean, 1e-300)) for p in parts]
    weights = [np.exp(-_NEARER * np.abs(log)) for log in logs]
    total = sum(weights)
    own = square - mean**2
    both = list(zip(weights, parts, strict=True))
    term = own + sum(w * p.mean**2 * (p.scv - p.own) for w, p in both) / total
    common = sum(w * ((1 + p.scv) / (1 + p.own)) for w, p in both) / total
    factor = square * common - mean**2
    found: FloatArray = np.maximum(term, 0) ** (1 - _FACTOR) * np.maximum(factor, 0) ** _FACTOR
    return found
