"""What a network of chains is made of: rounds, visits and times by class, and whole chains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.chains.rounds import Rounds, closed_shares, rounds_of
from headway.queueing.chains.routes import ClassRoutes
from headway.queueing.network.network import JobClass, SharedStation

Name = TypeVar("Name")


@dataclass(frozen=True)
class Parts:
    """Classes as parts of their chains.

    Parameters
    ----------
    stations, classes
        As given.
    shape
        Of the operating points.
    rounds
        What jobs do between two beginnings.
    shares
        Share of a chain's rounds that begin as each class, shape (classes, points).
    visits, times
        Visits of a round of the chain, and service times [s], shape (classes, stations, points).
    """

    stations: tuple[SharedStation, ...]
    classes: tuple[JobClass, ...]
    shape: tuple[int, ...]
    rounds: Rounds
    shares: FloatArray
    visits: FloatArray
    times: FloatArray

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """Classes that are solved as one: those of a closed chain, and each open one alone."""
        chains = self.rounds.chains
        closed = [chain for chain in chains if not self.classes[chain[0]].is_open]
        opened = [(c,) for chain in chains if self.classes[chain[0]].is_open for c in chain]
        return sorted([*closed, *opened])

    @property
    def counted(self) -> FloatArray:
        """Visits that take any time, of which queues are made."""
        return np.where(self.times > 0, self.visits, 0.0)

    def shaped(self, values: FloatArray) -> Amount:
        """Values of all points in the shape of these."""
        return values.reshape(self.shape) if self.shape else float(values[0])


def parts_of(
    stations: Sequence[SharedStation], classes: Sequence[JobClass], routes: ClassRoutes
) -> Parts:
    """Solve the traffic of a network by class.

    Raises
    ------
    GraphError
        For routes that make no network, or a closed chain of several classes without a job.
    """
    shape = _shape(stations, classes, routes)
    rounds = rounds_of(over_points(routes, shape), [_has_jobs(c) for c in classes])
    size = int(np.prod(shape))
    shares = _shares(rounds, classes, shape)
    visits = np.zeros((size, *rounds.visits.shape[2:]))
    for c, share in enumerate(shares):
        visits = visits + share[:, None, None] * np.nan_to_num(rounds.visits[:, c])
    times = [[_row(time, shape) for time in station.service_times] for station in stations]
    by_station = np.array(times).swapaxes(0, 1)
    return Parts(
        tuple(stations),
        tuple(classes),
        shape,
        rounds,
        shares,
        np.moveaxis(visits, 0, -1),
        by_station,
    )


def _shape(
    stations: Sequence[SharedStation], classes: Sequence[JobClass], routes: ClassRoutes
) -> tuple[int, ...]:
    values = [
        *(value for s in stations for value in (*s.service_times, s.servers, *s.speeds)),
        *(c.arrival_rate if c.is_open else c.population for c in classes),
        *(c.think_time for c in classes),
        *routes.onward.values(),
        *(share for by in routes.entries.values() for share in by.values()),
    ]
    return np.broadcast_shapes(*{np.shape(value) for value in values})


def _row(value: Amount, shape: tuple[int, ...]) -> FloatArray:
    return np.broadcast_to(np.asarray(value, float), shape).ravel()


def over_points(routes: ClassRoutes, shape: tuple[int, ...]) -> ClassRoutes:
    """Chances that differ between operating points, laid out over all of them."""

    def each(chances: Mapping[Name, Amount]) -> dict[Name, Amount]:
        return {n: _row(p, shape) if np.ndim(p) else p for n, p in chances.items()}

    entries = {c: each(by) for c, by in routes.entries.items()}
    return replace(routes, onward=each(routes.onward), entries=entries)


def _has_jobs(job_class: JobClass) -> bool:
    jobs = job_class.arrival_rate if job_class.is_open else job_class.population
    return bool(np.any(np.asarray(jobs) > 0))


def _shares(rounds: Rounds, classes: Sequence[JobClass], shape: tuple[int, ...]) -> FloatArray:
    """Share of a chain's rounds that begin as each class, shape (classes, points)."""
    names = [c.name for c in classes]
    shares = np.zeros((len(classes), int(np.prod(shape))))
    for chain in rounds.chains:
        if not classes[chain[0]].is_open:
            shares[list(chain)] = closed_shares(rounds, chain, names).T
            continue
        own = np.array([_row(classes[c].arrival_rate, shape) for c in chain])
        total = own.sum(axis=0)
        some = total > 0
        shares[list(chain)] = np.where(some, own / np.where(some, total, 1.0), 1 / len(chain))
    return shares


def network_of(parts: Parts) -> tuple[list[SharedStation], list[JobClass]]:
    """The network that has the groups for classes."""
    classes = [_as_one(parts, group) for group in parts.groups]
    stations = []
    for k, station in enumerate(parts.stations):
        visits = [parts.shaped(parts.counted[list(g), k].sum(axis=0)) for g in parts.groups]
        times = [parts.shaped(mean_time(parts, g)[k]) for g in parts.groups]
        again = [parts.shaped(_again(parts, g, k)) for g in parts.groups]
        stations.append(replace(station, service_times=times, visits=visits, again=again))
    return stations, classes


def _again(parts: Parts, group: Sequence[int], k: int) -> FloatArray:
    """Chance of a class's jobs to come straight back as what they are, shape (points,)."""
    if len(group) > 1:
        return np.zeros(parts.visits.shape[-1])
    onward = parts.rounds.onward[:, group[0], k, group[0], k]
    return np.broadcast_to(onward, parts.visits.shape[-1:])


def mean_time(parts: Parts, group: Sequence[int]) -> FloatArray:
    """Mean service time of a group's visits, shape (stations, points) [s]."""
    visits, times = parts.counted[list(group)], parts.times[list(group)]
    total = visits.sum(axis=0)
    mean = (visits * times).sum(axis=0) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, mean, times.max(axis=0) if len(times) == 1 else 0.0)


def _as_one(parts: Parts, group: tuple[int, ...]) -> JobClass:
    """A class of all the jobs of a group; an open one comes at the rate of its whole chain.

    What else is said of the first one holds for all of them.
    """
    members = [parts.classes[c] for c in group]
    first, name = members[0], " and ".join(c.name for c in members)
    if members[0].is_open:
        (chain,) = (chain for chain in parts.rounds.chains if group[0] in chain)
        rates = [_row(parts.classes[c].arrival_rate, parts.shape) for c in chain]
        return replace(first, arrival_rate=parts.shaped(np.sum(rates, axis=0)))
    population = np.sum([_row(c.population, parts.shape) for c in members], axis=0)
    think = sum(parts.shares[c] * _row(parts.classes[c].think_time, parts.shape) for c in group)
    thinks = parts.shaped(np.asarray(think))
    rank = _one_priority(parts, name, members)
    jobs = parts.shaped(population)
    return replace(first, name=name, population=jobs, think_time=thinks, priority=rank)


def _one_priority(parts: Parts, name: str, members: Sequence[JobClass]) -> int:
    """That of an only class; refuses those that turn into one another where stations go by it."""
    ordered = [s for s in parts.stations if s.discipline.by_priority or s.discipline.by_size]
    if ordered and len(members) > 1:
        how = "by priority" if ordered[0].discipline.by_priority else ordered[0].discipline.how
        msg = (
            f"{ordered[0].name} serves {how}, which headway cannot combine with classes "
            f"that change ({name})"
        )
        raise GraphError(msg + "; simulate it")
    return members[0].priority
