"""Requests that fork to several servers at once, and are done when enough branches are."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import (
    Amount,
    Quantity,
    check_count,
    check_domain,
    check_not_negative,
    is_symbolic,
    number,
    plain,
)
from headway.queueing.order_statistics.alike import moments, order_statistic_law
from headway.queueing.order_statistics.gamma_mixture import ForkCase, has_mixture, mixture_law
from headway.queueing.stations.abilities import Abilities
from headway.queueing.stations.base import Station, while_stable
from headway.queueing.stations.general import MD1, MG1
from headway.queueing.times.laws import GAMMA, TimeLaw, by_points, constant
from headway.records import dataclass

_NONE, _ONE, _MIXED, _MOMENTS = range(4)  # laws: a time of 0, one branch, a mixture, two moments
_CONSTANT = 1e-9  # scv below which a time is constant except for rounding
_ABOUT = "percentiles of a fork: the 99th within 8% of simulations, the median within 6%"
_LAWLESS = (
    "the response time of ForkJoin has no known distribution where fewer than half of its branches "
    "are needed: only its mean is approximated"
)


@dataclass(frozen=True)
class ForkJoin(Station):
    """n servers, each with its own queue, that all serve each request; done when k have finished.

    Poisson arrivals; what a request left to do elsewhere when it is done is done all the same. Of
    one server, of two exponential ones and of constant times R is exact. Else

        R = R1 x(k, n; g),  g = scv / (1 + scv (1 / h - 1)),

    with R1 the mean response of one branch (M/G/1), x(k, n; g) the mean of the k-th of n gamma
    times of mean 1 and variance g, and h of U what makes it exact for two exponential servers,
    x(2, 2; h) = 3/2 - U/8. So it is exact at light loads (order statistics of the services).

    Parameters
    ----------
    service_time
        Mean service time S at a branch [s], 0 or more.
    branches
        Number of servers n, a whole number of 1 or more.
    needed
        Branches k that have to be done, a whole number of 1 to n.
    scv
        Variance of the service time over its square, 0 or more.

    Raises
    ------
    InvalidParameter
        For a parameter outside its domain.

    Examples
    --------
    >>> mirror = ForkJoin(service_time=0.01, branches=2, needed=2, scv=1.0)
    >>> round(mirror.response_time(50.0), 12)  # (12 - U) / 8 S / (1 - U)
    0.02875
    >>> stripe = ForkJoin(service_time=0.01, branches=16, needed=16, scv=1.0)
    >>> round(stripe.response_time(50.0), 4)
    0.0592

    References
    ----------
    Nelson and Tantawi, "Approximate analysis of fork/join synchronization in parallel queues",
    IEEE Trans. Computers 37(6), 1988; Varma and Makowski, "Interpolation approximations for
    symmetric fork-join queues", Performance Evaluation 20, 1994, for the limits at light and
    heavy loads.
    """

    can: ClassVar[Abilities] = Abilities(
        counts=frozenset({"branches", "needed"}), smooth=True, forks=True
    )
    approximation: ClassVar[str] = (
        "branches of a fork share arrivals, which is approximated (exact for 1, for "
        "2 exponential and for "
        "constant ones): mean response within 4% of simulations, of the first few of many within "
        "4% of one branch's (measured up to 64 branches, scv 2 and 95% busy)"
    )

    service_time: Quantity | str
    branches: Quantity | str
    needed: Quantity | str
    scv: Quantity | str = 1.0

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)
        check_count("branches", self.branches)
        check_count("needed", self.needed)
        check_not_negative("scv", self.scv)
        counts: list[Any] = [self.needed, self.branches]
        if not any(isinstance(n, str) or is_symbolic(n) for n in counts):
            needed, most = np.broadcast_arrays(*counts)
            check_domain("needed", needed, lambda k: k <= most, "branches or fewer")

    @property
    def _branch(self) -> MG1:
        return MG1(self.service_time, self.scv)

    @property
    def alone(self) -> Amount:
        """Mean time until k of n services are done [s]."""
        return self.response_time(0.0)

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time in the queue of one branch [s], exact."""
        return self._branch.waiting_time(arrival_rate)

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time until k of n branches are done [s]."""
        time, parts = number("service_time", self.service_time), self._numbers()

        def taken(busy: Amount) -> Amount:
            one = time * (1 + busy * (parts[2] - 1) / 2) / (1 - busy)
            return one * moments(*parts, busy)[0]

        return while_stable(self.utilisation(arrival_rate), taken)

    @property
    def smooth(self) -> bool:
        """Whether service varies enough, so that it is not constant or nearly so."""
        return self._branch.smooth

    def spread(self) -> Self:
        """The station with an scv of at least 0.01."""
        return replace(self, scv=self._branch.spread().scv)

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """A mixture of gamma times, for waits with common arrivals: an approximation.

        For an scv below 0.05 or above 8, and for over 128 branches, a common wait and a rest.

        Raises
        ------
        GraphError
            If fewer than half of the branches are needed.
        """
        time = self._number(self.service_time)
        branches, needed, scv = (np.asarray(part, float) for part in self._numbers())
        if np.all(scv < _CONSTANT):
            return MD1(self.service_time).time_law(arrival_rate)
        if np.all(branches == 1):
            return self._branch.time_law(arrival_rate)
        if np.any(2 * needed < branches):
            raise GraphError(_LAWLESS)
        law = _law((branches, needed, scv), arrival_rate, time)
        return replace(law, notes=(_ABOUT,) if np.all(scv == 1) else (GAMMA, _ABOUT))

    def _numbers(self) -> tuple[Amount, Amount, Amount]:
        """Branches, needed and scv as numbers, as the formulas require."""
        names = "branches", "needed", "scv"
        numbers: list[Amount] = [number(name, getattr(self, name)) for name in names]
        for name, part in zip(names, numbers, strict=True):
            if is_symbolic(part) and not part.is_number:
                msg = f"{name} must be a number in a formula of ForkJoin"
                raise InvalidParameter(msg)
        branches, needed, scv = (float(p) if is_symbolic(p) else p for p in numbers)
        return branches, needed, scv


def _law(kind: ForkCase, rate: Amount, time: Amount) -> TimeLaw:
    """Law for n, k and scv at points with the same kind of law, or point by point."""
    branches, _, scv = kind
    others = np.where(branches == 1, _ONE, np.where(has_mixture(branches, scv), _MIXED, _MOMENTS))
    chosen = np.where(np.asarray(time) == 0, _NONE, others)
    if chosen.ndim > 0 and np.ptp(chosen) > 0:
        rows = np.array(np.broadcast_arrays(*kind, rate, time, chosen), float)
        parts = [part for k in range(4) if (part := np.flatnonzero(rows[-1] == k)).size]
        each = [rows[:-1, part] for part in parts]
        return by_points([_law((n, k, c), r, t) for n, k, c, r, t in each], parts)
    law = int(chosen.flat[0])
    if law == _NONE:
        return constant(time)
    if law == _ONE:
        return MG1(time, scv).time_law(rate)
    pair = moments(*kind, rate * time)
    if law == _MIXED:
        return mixture_law(kind, rate * time, pair[0] * MG1(time, scv).response_time(rate))
    return order_statistic_law(rate, time, plain(scv), pair)
