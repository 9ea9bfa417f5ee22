"""A queue under an autoscaler: forward equations from look to look.

The autoscaler sees its metric's expected value since the last look, in place of the value that
chance gave it. So its replicas are one course of steps, under which the equations of
`headway.queueing.transient.forward` are exact; what that leaves out is small where an interval has
many requests. The capacity of a part of the time is known when those before it are followed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.transient.autoscaler import METRICS, Autoscaler, Replicas, Seen
from headway.queueing.transient.forward import Numbers, Piece
from headway.queueing.transient.means import TimedMeans
from headway.queueing.transient.methods import gathered, spent
from headway.queueing.transient.network import TimedNetwork
from headway.queueing.transient.service import Service


@dataclass(frozen=True, eq=False)
class Course:
    """What an autoscaler did.

    Parameters
    ----------
    replicas
        Replicas asked for in each part of the time, those that start included.
    services
        How the queue served then.
    looks, metrics
        When it looked [s], and the mean metric that it saw.
    """

    replicas: FloatArray
    services: tuple[Service, ...]
    looks: FloatArray
    metrics: FloatArray


def looks_of(law: Autoscaler, first: float, last: float) -> FloatArray:
    """When an autoscaler looks, and what it asked for then is ready or warm [s].

    Examples
    --------
    >>> looks_of(Autoscaler("queue", 1.0, maximum=2, start_delay=20.0), 0.0, 60.0).tolist()
    [15.0, 30.0, 35.0, 45.0, 50.0]
    """
    looks = first + law.interval * np.arange(1, np.ceil((last - first) / law.interval))
    later = {0.0, law.start_delay, law.start_delay + law.warm_up}
    times = np.unique(np.concatenate([looks + each for each in sorted(later)]))
    times = times[times < last - 1e-9 * law.interval]
    return times[np.diff(times, prepend=-np.inf) > 1e-9 * law.interval]


def by_autoscaler(
    network: TimedNetwork, law: Autoscaler, count: int, service: Callable[[int], Service]
) -> tuple[TimedMeans, Course]:
    """Follow the only queue of a network under an autoscaler.

    Parameters
    ----------
    network
        Whose edges have those of `looks_of`.
    law, count
        The autoscaler, and how many replicas there are at first, all ready.
    service
        How so many replicas serve.
    """
    control = _Control(network, law, count, service)
    begin = network.begin()
    assert begin is not None  # noqa: S101 - its need says so
    means = gathered(network, control.seen(spent(control.pieces(), begin)), control.services)
    looks, metrics = np.array(control.looks).reshape(-1, 2).T
    return means, Course(np.array(control.asked, float), tuple(control.services), looks, metrics)


class _Control:
    """Chooses the capacity of each part of the time, and sees what came of it."""

    def __init__(
        self, network: TimedNetwork, law: Autoscaler, count: int, service: Callable[[int], Service]
    ) -> None:
        self.network, self.law, self.service = network, law, service
        self.replicas = Replicas(law, count, float(network.edges[0]))
        self.services: list[Service] = []
        self.asked: list[int] = []
        self.looks: list[tuple[float, float]] = []
        self.since = [0.0, 0.0]  # of the metric and of the time, since the last look

    def pieces(self) -> Iterator[Piece]:
        """One after the other, each when those before it have been seen."""
        law, due = self.law, float(self.network.edges[0]) + self.law.interval
        for (at, end), rate in zip(
            pairwise(self.network.edges.tolist()), self.network.rates.tolist(), strict=True
        ):
            if at >= due - 1e-9 * law.interval:
                metric = self.since[0] / self.since[1]
                self.replicas.look(at, metric)
                self.looks.append((at, metric))
                self.since, due = [0.0, 0.0], due + law.interval
            self.asked.append(len(self.replicas.asked))
            self.services.append(self._now(at))
            yield Piece(end - at, rate, self.services[-1])

    def _now(self, time: float) -> Service:
        """Ready replicas; those that warm up make all slower in common."""
        full, warming = self.replicas.ready(time)
        whole = self.service(full + warming)
        return whole.slowed((full + warming) / (full + self.law.warm_up_speed * warming))

    def seen(self, each: Iterator[Numbers]) -> Iterator[Numbers]:
        """Add up the metric of each part."""
        edges, rates = self.network.edges, self.network.rates
        for part, time in enumerate(each):
            service, length = self.services[part], float(edges[part + 1] - edges[part])
            ready = sum(self.replicas.ready(float(edges[part])))
            chances = time.chances / float(time.chances.sum())
            busy, number = (float(x @ chances) for x in (service.busy(time.numbers), time.numbers))
            value = METRICS[self.law.metric](Seen(busy, number, float(rates[part]), ready))
            self.since = [self.since[0] + value * length, self.since[1] + length]
            yield time
