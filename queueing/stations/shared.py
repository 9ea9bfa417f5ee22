"""Stations of any service times whose servers are shared: numbers of jobs as if exponential.

Under processor sharing, probabilities of numbers and mean times depend on the means of service
times only, so these stations have a product form. The distribution of times depends on more.

Source: Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975 (single servers); Kelly,
*Reversibility and Stochastic Networks*, 1979, section 3.3 (symmetric queues, several servers).
"""

from typing import ClassVar

import numpy as np

from headway.errors import GraphError
from headway.kinds import Quantity, check_not_negative, number
from headway.queueing.stations.abilities import SERVERS, Abilities, ServiceKind
from headway.queueing.stations.base import MM1, MMm, Station
from headway.queueing.times.laws import TimeLaw
from headway.queueing.times.processor_sharing.exponential import exponential_sharing_law
from headway.queueing.times.processor_sharing.general import (
    SharingClasses,
    alone_law,
    general_sharing_law,
)
from headway.records import dataclass

SEVERAL = (
    "response times at several shared servers have a known distribution for exponential times "
    "only; simulate it"
)
"""Why there is no law for several servers with another scv."""


@dataclass(frozen=True)
class SharedMG1(MM1):
    """One server that all present share, Poisson arrivals, any service: R = S / (1 - U).

    Parameters
    ----------
    service_time
        Mean service time S [s], 0 or more.
    scv
        Variance of the service time over its square, 0 or more: matters to percentiles only.

    Raises
    ------
    InvalidParameter
        For a service time that is negative or not finite, or a negative `scv`.

    Examples
    --------
    >>> SharedMG1(service_time=1.0, scv=4.0).response_time(0.5)
    2.0
    """

    can: ClassVar[Abilities] = Abilities(ServiceKind.QUEUE, shared=True, insensitive=True)
    followed: ClassVar[str] = ""

    scv: Quantity | str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative("scv", self.scv)

    def shared_law(self, arrival_rate: float) -> TimeLaw:
        """The law of Yashkov and Ott, with gamma-distributed service."""
        return _law(arrival_rate, self.mean_service, self.scv, 1)

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """The same: its servers are shared."""
        return self.shared_law(arrival_rate)

    def feedback_law(self, arrival_rate: float, chance: float) -> None:  # type: ignore[override]
        """Not known."""


@dataclass(frozen=True)
class SharedMGm(MMm):
    """m servers that all present share, each with one at most: R of M/M/m for any service.

    Parameters
    ----------
    service_time
        Mean service time S of one server [s], 0 or more.
    servers
        Number of servers m, a whole number of 1 or more.
    scv
        Variance of the service time over its square, 0 or more: matters to percentiles only.

    Raises
    ------
    InvalidParameter
        For a parameter outside its domain.

    Examples
    --------
    >>> shared = SharedMGm(service_time=1.0, servers=2, scv=4.0)
    >>> round(shared.response_time(1.0), 6) == round(MMm(1.0, 2).response_time(1.0), 6)
    True
    """

    can: ClassVar[Abilities] = Abilities(
        ServiceKind.QUEUE, shared=True, insensitive=True, counts=SERVERS, eased_by=SERVERS
    )
    followed: ClassVar[str] = ""

    scv: Quantity | str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative("scv", self.scv)

    def shared_law(self, arrival_rate: float) -> TimeLaw:
        """The law of a single server, or of exponential times."""
        return _law(arrival_rate, self.mean_service, self.scv, int(self.plain_count))

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """The same: its servers are shared."""
        return self.shared_law(arrival_rate)


def is_general(station: Station) -> bool:
    """Whether its servers are shared and its service times are not exponential.

    Examples
    --------
    >>> is_general(SharedMG1(1.0, scv=4.0)), is_general(SharedMG1(1.0, scv=1.0))
    (True, False)
    """
    return isinstance(station, SharedMG1 | SharedMGm) and _plain(station.scv) != 1


def _plain(scv: Quantity | str) -> float:
    return float(np.asarray(number("scv", scv), float))


def _law(rate: float, time: float, scv: Quantity | str, servers: int) -> TimeLaw:
    spread = _plain(scv)
    return visit_law(SharingClasses((rate,), (time,), (spread,)), time, spread, servers)


def visit_law(others: SharingClasses, own: float, scv: float, servers: int) -> TimeLaw:
    """Law of a visit's response time at shared servers, with one class of jobs or several.

    Parameters
    ----------
    others
        Classes of jobs with Poisson arrivals, together below saturation.
    own, scv
        Mean service time of the job [s], and its scv.
    servers
        Number of servers.

    Raises
    ------
    GraphError
        For several servers with times that are not exponential.

    Examples
    --------
    >>> visit_law(SharingClasses((0.5,), (1.0,), (4.0,)), 1.0, 4.0, servers=1).mean
    2.0
    """
    here = others.alike()
    if own == 0 or not here.rates:
        return alone_law(own, scv if own > 0 else 0.0)
    if {scv, *here.scvs} == {1.0}:
        return exponential_sharing_law(np.array(here.rates), np.array(here.times), own, servers)
    if servers > 1:
        raise GraphError(SEVERAL)
    return general_sharing_law(here, own, scv)
