"""Stations with general service times, or general arrivals."""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from headway.kinds import Amount, Quantity, apply, check_count, check_not_negative, number
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.numbers.embedded import embedded
from headway.queueing.numbers.laws import NumberLaw
from headway.queueing.numbers.waits import WaitLaw, poisson_waits
from headway.queueing.stations.abilities import Abilities
from headway.queueing.stations.base import Station, idle, while_stable
from headway.queueing.stations.shared import SharedMG1, SharedMGm
from headway.queueing.times.feedback import NEARLY_CONSTANT, STEADIEST, feedback_law
from headway.queueing.times.laws import (
    GAMMA,
    TimeLaw,
    after_constants,
    after_waiting,
    constant,
    gamma,
    poisson_wait,
)
from headway.queueing.times.phase_type import IN_PHASES, STAGES, in_phases
from headway.queueing.times.tagged_job.kinds import FcfsQueue
from headway.queueing.times.tagged_job.station import TaggedStation
from headway.records import dataclass

# scv above which a hundred terms invert a law; smaller ones take thousands: speed only
_VARIES = 1e-2
_MOST_GAMMA = 0.24  # largest gamma of Cosmetatos: Tijms 1994, section 4.5
_LEAST_BUSY = 1e-12  # least utilisation, against division by 0


@dataclass(frozen=True)
class MG1(Station):
    """One server, Poisson arrivals, any service (Pollaczek-Khinchine).

    W = U S (1 + c**2) / (2 (1 - U)) with c**2 the squared coefficient of variation.

    Parameters
    ----------
    service_time
        Mean service time S [s], 0 or more.
    scv
        Variance of the service time over its square, 0 or more.

    Raises
    ------
    InvalidParameter
        For a service time that is negative or not finite, or a negative `scv`.

    Examples
    --------
    >>> MG1(service_time=0.5, scv=3.0).response_time(1.0)
    1.5

    References
    ----------
    Kleinrock, *Queueing Systems* I, 1975, section 5.6.
    """

    can: ClassVar[Abilities] = Abilities(
        shared=True, spread=True, returns=True, smooth=True, scv="scv", shares=True, orders=True
    )
    shared_as: ClassVar[type[Station] | None] = SharedMG1

    service_time: Quantity | str
    scv: Quantity | str

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)
        check_not_negative("scv", self.scv)

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """W = U S (1 + scv) / (2 (1 - U)) [s]."""
        service_time, scv = number("service_time", self.service_time), number("scv", self.scv)
        return while_stable(
            self.utilisation(arrival_rate),
            lambda busy: busy * service_time * (1 + scv) / (2 * (1 - busy)),
        )

    def mixed_to(self, mean: Amount, scv: Amount) -> Station:
        """The station of all classes' jobs together: their service time is a mixture."""
        return MG1(mean, scv)

    def returning(self, share: Quantity) -> "MG1":
        """M/G/1 with all visits of a job as one service: S / (1 - p), and scv (1 - p) + p."""
        service_time, scv = number("service_time", self.service_time), number("scv", self.scv)
        return MG1(service_time / (1 - share), scv * (1 - share) + share)

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without requests: 1 - U, for any distribution."""
        return idle(self.utilisation(arrival_rate))

    @property
    def _plain_scv(self) -> float:
        return float(np.asarray(number("scv", self.scv), float))

    @property
    def smooth(self) -> bool:
        """Whether service varies enough; if it is nearly constant, its law has jumps and kinks."""
        varies = np.asarray(number("scv", self.scv), float) >= _VARIES
        some = np.asarray(number("service_time", self.service_time), float) > 0
        return bool(np.all(varies & some))

    def spread(self) -> Self:
        """The station with an scv of at least 0.01."""
        scv = number("scv", self.scv)
        return replace(self, scv=np.maximum(np.asarray(scv, float), _VARIES))

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """The Pollaczek-Khinchine law, with gamma-distributed service; that of M/D/1 at scv = 0."""
        time, scv = self._number(self.service_time), self._number(self.scv)
        if np.all(scv == 0) or np.all(time == 0):
            return MD1(time).time_law(arrival_rate)
        service = gamma(time, scv)
        law = after_waiting(poisson_wait(arrival_rate, service, time, scv), service, time)
        return replace(law, notes=(GAMMA,))

    def number_law(self, arrival_rate: float, again: float = 0.0) -> NumberLaw:
        """From the embedded chain, with gamma-distributed service; that of M/D/1 at scv = 0."""
        return embedded(arrival_rate * self.mean_service / (1 - again), self._plain_scv, again)

    def wait_law(self, arrival_rate: float) -> WaitLaw:
        """The Pollaczek-Khinchine law, with gamma-distributed service; that of M/D/1 at scv = 0."""
        time, scv = self.mean_service, self._plain_scv
        return poisson_waits(arrival_rate, time, scv)

    def feedback_law(self, arrival_rate: float, chance: float) -> TimeLaw:
        """The law of Takács, with gamma-distributed service."""
        time, scv = self.mean_service, self._plain_scv
        return feedback_law(arrival_rate, chance, time, scv)

    def stop(self, arrival_rate: float, again: float) -> TaggedStation:
        """A single queue with phase-type services."""
        service, rate = in_phases(self.mean_service, self._plain_scv), arrival_rate * (1 - again)
        stay = (1 - again) * float(self.returning(again).response_time(rate))
        notes = (GAMMA,) if self._plain_scv * STAGES >= 1 else (IN_PHASES,)
        return FcfsQueue(arrival_rate, service, service, stay, again=again, notes=notes)


@dataclass(frozen=True)
class MD1(Station):
    """One server, Poisson arrivals, constant service: W = U S / (2 (1 - U)).

    Parameters
    ----------
    service_time
        Service time S of every request [s], 0 or more.

    Raises
    ------
    InvalidParameter
        For a service time that is negative or not finite.

    Examples
    --------
    >>> MD1(service_time=0.5).response_time(1.0)
    0.75

    References
    ----------
    Kleinrock, *Queueing Systems* I, 1975, section 5.6.
    """

    can: ClassVar[Abilities] = Abilities(
        shared=True, spread=True, returns=True, scv=0.0, shares=True, orders=True
    )
    shared_as: ClassVar[type[Station] | None] = SharedMG1

    service_time: Quantity | str

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """W = U S / (2 (1 - U)) [s]."""
        return MG1(self.service_time, 0).waiting_time(arrival_rate)

    @property
    def scv(self) -> float:
        """0: service times are constant."""
        return 0.0

    def mixed_to(self, mean: Amount, scv: Amount) -> Station:
        """M/G/1: constant times that differ by class are a mixture."""
        return MG1(mean, scv)

    def returning(self, share: Quantity) -> Station:
        """M/G/1 with all visits of a job as one service: S / (1 - p), and an scv of p."""
        return MG1(self.service_time, 0).returning(share)

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without requests: 1 - U."""
        return idle(self.utilisation(arrival_rate))

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """The law of Crommelin."""
        time = self.mean_service
        return after_constants(arrival_rate, time) if time > 0 else constant(0.0)

    def number_law(self, arrival_rate: float, again: float = 0.0) -> NumberLaw:
        """From the embedded chain, with constant service."""
        return embedded(arrival_rate * self.mean_service / (1 - again), 0.0, again)

    def wait_law(self, arrival_rate: float) -> WaitLaw:
        """The law of Crommelin, without the service."""
        return poisson_waits(arrival_rate, self.mean_service, 0.0)

    def looped_law(self, arrival_rate: float) -> TimeLaw:
        """The law with nearly constant service: sums of constant times would have endless jumps."""
        law = MG1(self.service_time, STEADIEST).time_law(arrival_rate)
        return replace(law, notes=(NEARLY_CONSTANT,))

    def feedback_law(self, arrival_rate: float, chance: float) -> TimeLaw:
        """The law of Takács, with nearly constant service."""
        time = self.mean_service
        return feedback_law(arrival_rate, chance, time, 0.0)

    def stop(self, arrival_rate: float, again: float) -> TaggedStation:
        """A single queue with services of many phases."""
        return MG1(self.mean_service, 0.0).stop(arrival_rate, again)


@dataclass(frozen=True)
class _ByMoments(Station):
    """m servers with one queue, whose wait is that of M/M/m times a factor of two moments."""

    can: ClassVar[Abilities] = Abilities(shared=True, spread=True, counts=frozenset({"servers"}))

    service_time: Quantity | str
    servers: Quantity | str

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)
        check_count("servers", self.servers)

    @property
    def count(self) -> Quantity:
        """Number of servers m."""
        return number("servers", self.servers)

    def _wait(self, arrival_rate: Quantity, spread: Callable[[Amount], Amount]) -> Amount:
        """Half of the wait of M/M/m, times a factor that may depend on the utilisation."""
        service_time, servers = number("service_time", self.service_time), self.count
        return while_stable(
            self.utilisation(arrival_rate),
            lambda busy: (
                erlang_c(servers, servers * busy)
                * service_time
                * spread(busy)
                / (2 * servers * (1 - busy))
            ),
        )


@dataclass(frozen=True)
class MGm(_ByMoments):
    """m servers, Poisson arrivals, any service, by mean and variation: an approximation.

    W = scv W(M/M/m) + (1 - scv) W(M/D/m), with constant times by Cosmetatos's formula,
    W(M/D/m) = W(M/M/m) (1 + gamma) / 2. Exact for M/M/m and for M/G/1.

    Parameters
    ----------
    service_time
        Mean service time S of one server [s], 0 or more.
    servers
        Number of servers m, a whole number of 1 or more.
    scv
        Variance of the service time over its square, 0 or more.

    Raises
    ------
    InvalidParameter
        For a parameter outside its domain.

    Examples
    --------
    >>> MGm(service_time=0.5, servers=1, scv=3.0).response_time(1.0)
    1.5
    >>> round(MGm(service_time=1.0, servers=4, scv=0.0).waiting_time(3.2), 4)
    0.3854

    References
    ----------
    Cosmetatos, "Some approximate equilibrium results for the multi-server queue (M/G/r)",
    Operational Research Quarterly 27(3), 1976; Tijms, *Stochastic Models*, 1994, section 4.5.
    """

    lawless: ClassVar[str] = "two moments of service do not determine it with several servers"
    approximation: ClassVar[str] = (
        "mean and variation of service determine the wait at several servers only "
        "approximately: response time "
        "within 13% of simulations, 95 of 100 within 4.8%"
    )
    can: ClassVar[Abilities] = Abilities(
        shared=True,
        spread=True,
        returns=True,
        counts=frozenset({"servers"}),
        scv="scv",
        shares=True,
    )
    shared_as: ClassVar[type[Station] | None] = SharedMGm

    scv: Quantity | str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative("scv", self.scv)

    def mixed_to(self, mean: Amount, scv: Amount) -> Station:
        """The station of all classes' jobs together: their service time is a mixture."""
        return replace(self, service_time=mean, scv=scv)

    def returning(self, share: Quantity) -> Station:
        """M/G/m with all visits of a job as one service, as in `MG1.returning`: the same queue."""
        stay = MG1(self.service_time, self.scv).returning(share)
        return replace(self, service_time=stay.service_time, scv=stay.scv)

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """W = C(m, a) S / (m - a) * ((1 + scv) + (1 - scv) gamma) / 2 [s]."""
        scv, servers = number("scv", self.scv), self.count
        return self._wait(
            arrival_rate, lambda busy: 1 + scv + (1 - scv) * _cosmetatos(servers, busy)
        )


def _cosmetatos(servers: Quantity, busy: Amount) -> Amount:
    """gamma(m, U) = min(0.24, (1 - U) (m - 1) (sqrt(4 + 5 m) - 2) / (16 m U)).

    The wait of M/D/m over half of that of M/M/m, minus 1.
    """
    root = apply("sqrt", 4 + 5 * servers) - 2
    idle_share = (1 - busy) / (16 * servers * apply("max", busy, _LEAST_BUSY))
    return apply("min", _MOST_GAMMA, (servers - 1) * root * idle_share)


@dataclass(frozen=True)
class GGm(_ByMoments):
    """m servers, any arrivals and service, by two moments of each: an approximation.

    W = (M/M/m waiting time) (c_a**2 + c_s**2) / 2: Allen and Cunneen's formula, which with
    one server is Kingman's. Exact for M/M/m and for M/G/1.

    Parameters
    ----------
    service_time
        Mean service time S of one server [s], 0 or more.
    servers
        Number of servers m, a whole number of 1 or more.
    arrival_scv, scv
        Squared coefficients of variation of the times between arrivals and of service,
        0 or more.

    Raises
    ------
    InvalidParameter
        For a parameter outside its domain.

    Examples
    --------
    >>> GGm(service_time=0.5, servers=1, arrival_scv=0.5, scv=0.5).response_time(1.0)
    0.75

    References
    ----------
    Allen, *Probability, Statistics, and Queueing Theory*, 2nd ed., 1990; Kingman, "The
    single server queue in heavy traffic", Proc. Cambridge Phil. Soc. 57, 1961.
    """

    can: ClassVar[Abilities] = Abilities(
        shared=True, spread=True, counts=frozenset({"servers"}), general="scv"
    )
    lawless: ClassVar[str] = "two moments of arrivals and service do not determine it"
    approximation: ClassVar[str] = (
        "two-moment approximation (Allen-Cunneen; Kingman for 1 server): response time within "
        "22% of simulations, 95 of 100 within 14%"
    )

    arrival_scv: Quantity | str
    scv: Quantity | str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_not_negative("arrival_scv", self.arrival_scv)
        check_not_negative("scv", self.scv)

    def mixed_to(self, mean: Amount, scv: Amount) -> Station:
        """The station of all classes' jobs together: their service time is a mixture."""
        return replace(self, service_time=mean, scv=scv)

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """W = C(m, a) S / (m - a) * (arrival_scv + scv) / 2 [s]."""
        spread = number("arrival_scv", self.arrival_scv) + number("scv", self.scv)
        return self._wait(arrival_rate, lambda _: spread)
