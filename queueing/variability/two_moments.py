"""Response times of visits to stations with arrivals known by two moments.

The wait of jobs that wait is as with Poisson arrivals of the same load and services
(Pollaczek-Khinchine), stretched to the mean that two moments give. The probability of waiting is

    P(W > 0) = U + (c - 1) U (1 - U) h,
    h = (1 + c + U x) / (1 + U (x - 1) + U**2 (4 c + x))  where c is 1 or less,
    h = 4 U / (c + U**2 (4 c + x))                        where it is more,

with U the utilisation and c and x the scvs of the times between arrivals and of services. With
c = 1 and the mean of M/G/1 this is M/G/1.

Source: Kraemer and Langenbach-Belz, "Approximate formulae for the delay in the queueing system
GI/G/1", 8th International Teletraffic Congress, 1976.
"""

from dataclasses import replace

import numpy as np

from headway.queueing.stations.abilities import Abilities
from headway.queueing.stations.base import Station
from headway.queueing.times.feedback import STEADIEST
from headway.queueing.times.laws import (
    GAMMA,
    ComplexArray,
    Piece,
    TimeLaw,
    constant,
    gamma,
    in_series,
    poisson_wait,
    pooled,
)
from headway.queueing.times.tagged_job.station import TaggedStation
from headway.records import dataclass

_SAME = 1e-9  # relative, of a mean wait that is the station's own except for rounding
_NOTHING = 1e-9  # of a service: a shorter wait is left out
_LEAST = 1e-3  # least P(W > 0): the formula can give 0 though the mean wait is above 0


@dataclass(frozen=True)
class MetStation:
    """A station with its own numbers, whatever its arrivals are.

    Parameters
    ----------
    station
        Its kind, with numbers.

    Examples
    --------
    >>> from headway.queueing import MMm
    >>> MetStation(MMm(1.0, 3)).plain_count
    3.0
    """

    station: Station

    @property
    def can(self) -> Abilities:
        """Abilities of its kind."""
        return self.station.can

    @property
    def mean_service(self) -> float:
        """Mean service time [s]."""
        return self.station.mean_service

    @property
    def plain_count(self) -> float:
        """Number of servers."""
        return self.station.plain_count

    @property
    def plain_scv(self) -> float | None:
        """Squared coefficient of variation of its service times."""
        return self.station.plain_scv


@dataclass(frozen=True)
class TwoMomentStation(MetStation):
    """A station, its mean wait and the scv of its arrivals.

    Parameters
    ----------
    station
        Its kind, with numbers.
    wait
        Mean wait of a visit [s].
    coming
        Squared coefficient of variation of the times between arrivals.

    Examples
    --------
    >>> from headway.queueing import MD1, MG1
    >>> TwoMomentStation(MD1(1.0), 0.0, 0.2).time_law(0.8).pieces[0].shift  # behind a slower one
    1.0
    >>> round(TwoMomentStation(MG1(1.0, 2.0), 3.0, 0.5).time_law(0.8).mean, 9)
    4.0
    """

    wait: float
    coming: float

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """Law of a visit: a wait and a service, independent."""
        own = float(self.station.waiting_time(arrival_rate))
        if abs(self.wait - own) <= _SAME * own or not self.can.limits:
            return self.station.time_law(arrival_rate)
        if self.plain_count > 1:
            return self._pooled(arrival_rate)
        time, scv = self.mean_service, self._scv
        service = constant(time) if scv == 0 else TimeLaw((Piece(0.0, gamma(time, scv)),), time)
        notes = () if self._scv in (0.0, 1.0) else (GAMMA,)
        if self.wait <= _NOTHING * self.mean_service:
            return replace(service, notes=notes)
        return replace(in_series(self._wait(arrival_rate), service), notes=notes)

    def looped_law(self, arrival_rate: float) -> TimeLaw:
        """As `time_law`."""
        return self.time_law(arrival_rate)

    def feedback_law(self, arrival_rate: float, chance: float) -> TimeLaw | None:
        """The station's own law, stretched to the mean that two moments give for all visits."""
        law = self.station.feedback_law(arrival_rate, chance)
        if law is None:
            return None

        mean = (self.wait + self.mean_service) / (1 - chance)
        factor = mean / law.mean if law.mean > 0 else 1.0
        pieces = tuple(replace(p.stretched(factor), shift=p.shift * factor) for p in law.pieces)
        return TimeLaw(pieces, mean, law.notes)

    def stop(self, arrival_rate: float, again: float) -> TaggedStation | None:
        """The station's own form, with the mean time of a visit that two moments give."""
        stop = self.station.stop(arrival_rate, again)
        return None if stop is None else replace(stop, stay=self.wait + self.mean_service)

    @property
    def _scv(self) -> float:
        return self.plain_scv or 0.0

    def _pooled(self, arrival_rate: float) -> TimeLaw:
        """M/M/m's law with the wait stretched; the station refuses other services."""
        law = self.station.time_law(arrival_rate)
        poisson = law.mean - self.mean_service
        last = self.mean_service / (self.plain_count - arrival_rate * self.mean_service)
        return pooled(self.mean_service, poisson / last, last * self.wait / poisson)

    def _wait(self, arrival_rate: float) -> TimeLaw:
        time, scv = self.mean_service, max(self._scv, STEADIEST)
        busy = arrival_rate * time
        poisson, chance = poisson_wait(arrival_rate, gamma(time, scv), time, scv), self._waits(busy)
        whole, factor = poisson.pieces[0].transform, self.wait * busy / (chance * poisson.mean)

        def law(s: ComplexArray) -> ComplexArray:
            behind = (whole(s * factor) - (1 - busy)) / busy
            return np.asarray(1 - chance + chance * behind)

        return TimeLaw((Piece(0.0, law),), self.wait)

    def _waits(self, busy: float) -> float:
        """P(W > 0)."""
        coming, scv = self.coming, self._scv
        if coming <= 1:
            ratio = 1 + coming + busy * scv
            height = ratio / (1 + busy * (scv - 1) + busy**2 * (4 * coming + scv))
        else:
            height = 4 * busy / (coming + busy**2 * (4 * coming + scv))
        return float(np.clip(busy + (coming - 1) * busy * (1 - busy) * height, _LEAST, 1.0))
