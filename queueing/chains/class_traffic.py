"""Traffic of a network by class: visits and times, and the network with chains as classes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.chains.cycles import Cycles, closed_shares, cycles_of
from headway.queueing.chains.routes import ClassRoutes
from headway.queueing.network.network import JobClass, SharedStation
from headway.records import dataclass

Name = TypeVar("Name")


@dataclass(frozen=True)
class ClassTraffic:
    """Visits and service times by class, per cycle of their chain.

    Parameters
    ----------
    stations, classes
        As given.
    shape
        Shape of the operating points.
    cycles
        Cycles of each class.
    shares
        Share of a chain's cycles that begin in each class, shape (classes, points).
    visits, times
        Visits of a cycle of the chain, and service times [s], shape (classes, stations, points).
    """

    stations: tuple[SharedStation, ...]
    classes: tuple[JobClass, ...]
    shape: tuple[int, ...]
    cycles: Cycles
    shares: FloatArray
    visits: FloatArray
    times: FloatArray

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """Groups of aggregated classes: all of a closed chain, and each open class by itself."""
        chains = self.cycles.chains
        closed = [chain for chain in chains if not self.classes[chain[0]].is_open]
        opened = [(c,) for chain in chains if self.classes[chain[0]].is_open for c in chain]
        return sorted([*closed, *opened])

    @property
    def counted(self) -> FloatArray:
        """Visits with a service time above 0, as only these form queues."""
        return np.where(self.times > 0, self.visits, 0.0)

    def shaped(self, values: FloatArray) -> Amount:
        """Values of all points, in the shape of the operating points."""
        return values.reshape(self.shape) if self.shape else float(values[0])


def class_traffic(
    stations: Sequence[SharedStation], classes: Sequence[JobClass], routes: ClassRoutes
) -> ClassTraffic:
    """Solve the traffic of a network by class.

    Raises
    ------
    GraphError
        For invalid routes, or a closed chain of several classes without a job.
    """
    values = [
        *(value for s in stations for value in (*s.service_times, s.servers, *s.speeds)),
        *(c.arrival_rate if c.is_open else c.population for c in classes),
        *(c.think_time for c in classes),
        *routes.onward.values(),
        *(share for by in routes.entries.values() for share in by.values()),
    ]
    shape = np.broadcast_shapes(*{np.shape(value) for value in values})
    jobs = (c.arrival_rate if c.is_open else c.population for c in classes)
    cycles = cycles_of(over_points(routes, shape), [bool(np.any(np.asarray(n) > 0)) for n in jobs])
    shares = _shares(cycles, classes, shape)
    visits = np.zeros((int(np.prod(shape)), *cycles.visits.shape[2:]))
    for c, share in enumerate(shares):
        visits = visits + share[:, None, None] * np.nan_to_num(cycles.visits[:, c])
    times = [[_row(time, shape) for time in station.service_times] for station in stations]
    by_station = np.array(times).swapaxes(0, 1)
    return ClassTraffic(
        tuple(stations),
        tuple(classes),
        shape,
        cycles,
        shares,
        np.moveaxis(visits, 0, -1),
        by_station,
    )


def _row(value: Amount, shape: tuple[int, ...]) -> FloatArray:
    return np.broadcast_to(np.asarray(value, float), shape).ravel()


def over_points(routes: ClassRoutes, shape: tuple[int, ...]) -> ClassRoutes:
    """The routes, with probabilities that differ between points as arrays over all points."""

    def each(chances: Mapping[Name, Amount]) -> dict[Name, Amount]:
        return {n: _row(p, shape) if np.ndim(p) else p for n, p in chances.items()}

    entries = {c: each(by) for c, by in routes.entries.items()}
    return replace(routes, onward=each(routes.onward), entries=entries)


def _shares(cycles: Cycles, classes: Sequence[JobClass], shape: tuple[int, ...]) -> FloatArray:
    """Share of a chain's cycles that begin in each class, shape (classes, points)."""
    names = [c.name for c in classes]
    shares = np.zeros((len(classes), int(np.prod(shape))))
    for chain in cycles.chains:
        if not classes[chain[0]].is_open:
            shares[list(chain)] = closed_shares(cycles, chain, names).T
            continue
        own = np.array([_row(classes[c].arrival_rate, shape) for c in chain])
        total = own.sum(axis=0)
        some = total > 0
        shares[list(chain)] = np.where(some, own / np.where(some, total, 1.0), 1 / len(chain))
    return shares


def network_of(traffic: ClassTraffic) -> tuple[list[SharedStation], list[JobClass]]:
    """The network whose classes are the groups of aggregated classes."""
    classes = [_aggregated(traffic, group) for group in traffic.groups]
    stations = []
    for k, station in enumerate(traffic.stations):
        visits = [traffic.shaped(traffic.counted[list(g), k].sum(axis=0)) for g in traffic.groups]
        times = [traffic.shaped(mean_time(traffic, g)[k]) for g in traffic.groups]
        again = [traffic.shaped(_immediate_return(traffic, g, k)) for g in traffic.groups]
        stations.append(replace(station, service_times=times, visits=visits, again=again))
    return stations, classes


def _immediate_return(traffic: ClassTraffic, group: Sequence[int], k: int) -> FloatArray:
    """Probability of returning to a station at once in the same class, shape (points,)."""
    if len(group) > 1:
        return np.zeros(traffic.visits.shape[-1])
    onward = traffic.cycles.onward[:, group[0], k, group[0], k]
    return np.broadcast_to(onward, traffic.visits.shape[-1:])


def mean_time(traffic: ClassTraffic, group: Sequence[int]) -> FloatArray:
    """Mean service time of a group's visits, shape (stations, points) [s]."""
    visits, times = traffic.counted[list(group)], traffic.times[list(group)]
    total = visits.sum(axis=0)
    mean = (visits * times).sum(axis=0) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, mean, times.max(axis=0) if len(times) == 1 else 0.0)


def _aggregated(traffic: ClassTraffic, group: tuple[int, ...]) -> JobClass:
    """One class with all jobs of a group; an open one arrives at the rate of its whole chain.

    Its other fields are those of the first class.
    """
    members = [traffic.classes[c] for c in group]
    first, name = members[0], " and ".join(c.name for c in members)
    if members[0].is_open:
        (chain,) = (chain for chain in traffic.cycles.chains if group[0] in chain)
        rates = [_row(traffic.classes[c].arrival_rate, traffic.shape) for c in chain]
        return replace(first, arrival_rate=traffic.shaped(np.sum(rates, axis=0)))
    population = np.sum([_row(c.population, traffic.shape) for c in members], axis=0)
    think = sum(
        traffic.shares[c] * _row(traffic.classes[c].think_time, traffic.shape) for c in group
    )
    thinks = traffic.shaped(np.asarray(think))
    ordered = [s for s in traffic.stations if s.discipline.by_priority or s.discipline.by_size]
    if ordered and len(members) > 1:
        how = "by priority" if ordered[0].discipline.by_priority else ordered[0].discipline.how
        msg = (
            f"{ordered[0].name} serves {how}, which headway cannot combine with classes "
            f"that change ({name})"
        )
        raise GraphError(msg + "; simulate it")
    jobs = traffic.shaped(population)
    return replace(first, name=name, population=jobs, think_time=thinks)
