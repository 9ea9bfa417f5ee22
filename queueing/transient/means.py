"""The results of a load over time: sums over each part of the time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.transient.forward import Numbers, dot, total
from headway.queueing.transient.service import Service

_LEAST = 1e-300  # expected arrivals that count as none


@dataclass(frozen=True)
class Met:
    """What the arrivals of a part of the time meet.

    Parameters
    ----------
    arrivals
        Expected arrivals by the number of jobs that they meet, without those that find no room.
    service
        How the queue serves at that time.
    """

    arrivals: Numbers
    service: Service


@dataclass(frozen=True)
class TimedMeans:
    """Sums over parts of the time, one number for each part.

    Parameters
    ----------
    arrivals, served, lost
        Jobs that arrive, that complete, and that find no room.
    number
        Mean number of jobs present.
    busy
        Mean utilisation; of several stations the largest.
    times
        Sum of the response times of jobs that enter and are served [s].
    met
        What the arrivals of each part meet at the only queue, under each service that it has in
        that part; empty if only means are known.
    delay
        Constant time of each job elsewhere [s].
    """

    arrivals: FloatArray
    served: FloatArray
    lost: FloatArray
    number: FloatArray
    busy: FloatArray
    times: FloatArray
    met: tuple[tuple[Met, ...], ...] = ()
    delay: float = 0.0

    @classmethod
    def of(
        cls,
        rows: Iterable[Sequence[float]],
        met: tuple[tuple[Met, ...], ...] = (),
        delay: float = 0.0,
    ) -> "TimedMeans":
        """The sums from rows, one for each part: arrivals, served, lost, number, busy, times."""
        columns = (np.array(column) for column in zip(*rows, strict=True))
        arrivals, served, lost, number, busy, times = columns
        return cls(arrivals, served, lost, number, busy, times, met, delay)

    def over(self, time: float, parts: Sequence[int]) -> float:
        """Expected arrivals in these parts whose response time exceeds ``time``."""
        return _expected_exceeding(self._together(parts), time - self.delay)

    def percentile(self, percent: float, parts: Sequence[int]) -> float:
        """The response time [s] not exceeded by so many of 100 arrivals; NaN without any."""
        from scipy.optimize import brentq

        met = self._together(parts)
        count = float(sum(one.arrivals.chances.sum() for one in met))
        if count <= 0:
            return float("nan")
        rest = max((1 - percent / 100) * count, _LEAST)
        low, high = 0.0, max(self.times[list(parts)].sum() / count, 1e-12)
        while _expected_exceeding(met, high) > rest:
            low, high = high, 2 * high

        def excess(time: float) -> float:
            """The logarithm, as tails fall about exponentially."""
            return log(max(_expected_exceeding(met, time), _LEAST) / rest)

        return self.delay + float(brentq(excess, low, high, xtol=1e-12, rtol=1e-9))

    def _together(self, parts: Sequence[int]) -> tuple[Met, ...]:
        """What the arrivals of these parts meet, with each service once."""
        by_service: dict[Service, list[Numbers]] = {}
        for one in (each for k in parts for each in self.met[k]):
            by_service.setdefault(one.service, []).append(one.arrivals)
        return tuple(Met(total(each), service) for service, each in by_service.items())


def _expected_exceeding(met: tuple[Met, ...], time: float) -> float:
    """Expected arrivals whose response time at the queue exceeds ``time``."""
    if time <= 0:
        return float(sum(one.arrivals.chances.sum() for one in met))
    found = 0.0
    for one in met:
        first, chances = one.arrivals.first, one.arrivals.chances
        found += dot(one.service.tails(first, first + len(chances) - 1, time), chances)
    return found
