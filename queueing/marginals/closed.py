"""Distribution of the number of jobs at a station of a closed network: exact, by convolution.

P(n) = f(n) G_others(N - n) / G(N), with every factor scaled to a probability as in
`headway.queueing.closed.convolution`, so that all terms are positive. An arrival finds the network
with one job fewer (Lavenberg and Reiser, J. Appl. Prob. 17(4), 1980).

Source: Buzen, CACM 16(9), 1973; Bruell and Balbo, *Computational Algorithms for Closed Queueing
Networks*, 1980.
"""

from collections.abc import Sequence

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import Amount, FloatArray, check_not_negative, plain
from headway.queueing.closed.convolution import (
    BLOCK,
    LEAST,
    balanced_rate,
    points_of,
    series_bytes,
    with_servers,
)
from headway.queueing.closed.demands import (
    ClosedStation,
    check_network,
    closed_stations,
    common_shape,
)
from headway.queueing.closed.series import Factor, thinking
from headway.queueing.methods.memory import check_memory
from headway.queueing.network.arrays import check_population, rows
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.records import dataclass


@dataclass(frozen=True)
class Marginal:
    """The number of jobs at one station of a closed network.

    Parameters
    ----------
    chances
        Probabilities of 0, 1, ..., N jobs at any time, shape (N + 1, ...); 0 above a point's N.
    found
        Probabilities of the numbers that an arrival finds, in the same shape; NaN if N = 0.
    waits
        Probability that an arrival finds no idle server, in the shape of the operating points; NaN
        for a station whose speed depends on the number, which does not say how many it serves.
    """

    chances: FloatArray
    found: FloatArray
    waits: Amount


def closed_marginal(
    stations: Sequence[Station],
    visits: Sequence[Amount],
    population: Amount,
    think_time: Amount,
    place: int,
) -> Marginal:
    """The number of jobs at a station of a closed network of one class.

    Parameters
    ----------
    stations, visits, population, think_time
        As for `headway.queueing.solve_closed`; every station has a product form.
    place
        Index of the station.

    Raises
    ------
    GraphError
        For no station, or one without a product form.
    InvalidParameter
        For numbers outside their domain, and for series beyond memory or floating point.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> marginal = closed_marginal([MM1(1.0), MM1(1.0)], [1, 1], 2, 0.0, place=0)
    >>> marginal.chances.round(9).tolist(), round(marginal.waits, 9)
    ([0.333333333, 0.333333333, 0.333333333], 0.5)
    """
    check_network(stations, visits, think_time)
    check_population(population)
    shape = common_shape(stations, [*visits, population, think_time])
    visited = rows(visits, shape)
    check_not_negative("visits", visited)
    times = rows([station.service_time for station in stations], shape)
    (jobs,), (think,) = rows([population], shape), rows([think_time], shape)
    demand = visited * times
    if not (think + demand.sum(axis=0)).all():
        raise GraphError(
            "no station has a demand and there is no think time, so jobs would circulate "
            "for ever; give a service time"
        )
    servers = rows([station.count for station in stations], shape)
    network = closed_stations(stations, demand, servers, shape, jobs)
    check_memory([int(jobs.max()) + 1], series_bytes(network, jobs))
    size = max(1, BLOCK // (int(jobs.max()) + 1))
    blocks = [
        _Block([points_of(s, part) for s in network], think[part], jobs[part], place).answers(
            servers[place][part]
        )
        for start in range(0, jobs.size, size)
        for part in [slice(start, start + size)]
    ]
    chances, found, waits = (np.concatenate(each, axis=-1) for each in zip(*blocks, strict=True))
    longest = int(jobs.max()) + 1
    return Marginal(
        chances.reshape(longest, *shape),
        found.reshape(longest, *shape),
        plain(waits.reshape(shape)),
    )


class _Block:
    """A block of operating points, and their series in a common open network."""

    def __init__(
        self, network: list[ClosedStation], think: FloatArray, jobs: FloatArray, place: int
    ) -> None:
        self.jobs, self.size = jobs, int(jobs.max()) + 1
        self.station = network[place]
        queues, varying = (
            _of_kind(ServiceKind.QUEUE, network),
            _of_kind(ServiceKind.VARYING, network),
        )
        still = think + _delays(network, jobs)
        # A throughput, for scaling, at which the open network holds about as many jobs.
        if queues or varying:
            self.scale = balanced_rate(queues, varying, still, jobs)
        else:
            self.scale = np.maximum(jobs, 0.5) / still
        others = [s for k, s in enumerate(network) if k != place]
        self.own = self._series(think * 0, [self.station])
        self.others = self._series(think, others)

    def _series(self, think: FloatArray, stations: list[ClosedStation]) -> FloatArray:
        """Probabilities of 0, 1, ..., N jobs at some stations and thinking, in the open network."""
        queues = _of_kind(ServiceKind.QUEUE, stations)
        series = thinking(self.size, self.scale * (think + _delays(stations, self.jobs)))
        ratios = [self.scale * s.demand / s.queues for s in queues]
        series = with_servers(series, ratios, queues)
        for station in _of_kind(ServiceKind.VARYING, stations):
            series = Factor(station, self.scale, self.size).times(series)
        return series

    def answers(self, count: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Probabilities at any time and at arrivals, and the probability to wait."""
        chances, top = self._given(self.jobs)
        found, fewer = self._given(self.jobs - 1)
        low = np.where(self.jobs > 0, np.minimum(top, fewer), top)
        if not ((low >= LEAST) & np.isfinite(low)).all():
            msg = (
                "convolution exceeded the range of floating-point numbers, so the "
                "probabilities are unknown; reduce the population"
            )
            raise InvalidParameter(msg)
        found = np.where(self.jobs > 0, found, np.nan)
        return chances, found, self._waits(found, fewer, count)

    def _given(self, jobs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probabilities given the total number of jobs, and the probability of that total."""
        rest = jobs.astype(int) - np.arange(self.size)[:, None]
        mirrored = np.take_along_axis(self.others, np.maximum(rest, 0), axis=0)
        joint = np.where(rest >= 0, self.own * mirrored, 0.0)
        total = joint.sum(axis=0)
        return joint / np.where(total > 0, total, 1.0), total

    def _waits(self, found: FloatArray, fewer: FloatArray, count: FloatArray) -> FloatArray:
        """Probability that an arrival finds no free server."""
        kind, number = self.station.kind, np.arange(self.size)[:, None]
        if kind is ServiceKind.DELAY:
            return np.where(self.jobs > 0, 0.0, np.nan)
        if kind is ServiceKind.VARYING:
            if self.station.servers is None:
                return np.full(self.jobs.shape, np.nan)
            return np.asarray(np.where(number >= count, found, 0.0).sum(axis=0))
        ratio = self.scale * self.station.demand / self.station.queues
        busy = ratio * self._given(self.jobs - 2)[1]  # one of the queues, with one job fewer
        some = self.jobs > 0
        return np.asarray(np.where(some, busy / np.where(some, fewer, 1.0), np.nan))


def _of_kind(kind: ServiceKind, stations: Sequence[ClosedStation]) -> list[ClosedStation]:
    return [s for s in stations if s.kind is kind]


def _delays(stations: Sequence[ClosedStation], jobs: FloatArray) -> FloatArray:
    return sum((s.demand for s in _of_kind(ServiceKind.DELAY, stations)), np.zeros(jobs.shape))
