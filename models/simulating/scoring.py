"""Write a plan as a score: how its stations serve, where its classes go, what is drawn at random.

A fork with queues of its own has these as a further station after those of the plan.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import inf

import numpy as np

from headway.kinds import FloatArray
from headway.models.simulating.arriving import Arriving
from headway.models.simulating.plan import Blueprint, Jobs, SimulatedStation
from headway.models.simulating.playing.rows import (
    Branch,
    Choice,
    Class,
    Fate,
    Order,
    Size,
    Source,
    Station,
    Way,
)
from headway.models.simulating.playing.score import Score
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.disciplines.ranks import keys_of
from headway.queueing.flows.clients import FIRST, Clients
from headway.queueing.network.blocking import Blocking
from headway.queueing.playing.keys import key_of
from headway.queueing.playing.laws import law_of
from headway.queueing.playing.rows import NONE, Law, rows
from headway.queueing.stations.abilities import QueueChoice

_FULL = 1e-9  # probabilities whose sum is within this of 1 count as complete
_EVERYBODY = 2**53  # servers of a station that serves all jobs present
_FATES = {
    Blocking.LOST: Fate.LOST,
    Blocking.AFTER_SERVICE: Fate.AFTER_SERVICE,
    Blocking.REPETITIVE: Fate.REPETITIVE,
}
_CHOICES = {choice: Choice[choice.name] for choice in QueueChoice}


def score_of(plan: Blueprint) -> Score:
    """Write the score of a plan.

    Raises
    ------
    GraphError
        For a discipline whose rank is no sum of a job's turn, priority and work.
    """
    writing = _Writing(plan)
    stations = [writing.station(k, place) for k, place in enumerate(plan.places)]
    stations += [writing.own_queues(k) for k, place in enumerate(plan.places) if _own(place)]
    names = [place.name for place in plan.places]
    names += [f"{place.name}/queues" for place in plan.places if _own(place)]
    arriving = Arriving(plan)
    routes = [row for c in range(len(plan.classes)) for row in _routes(plan, c, len(stations))]
    routes += [
        list(_ways(jobs.ways.entry, _plainly(plan, c))) for c, jobs in enumerate(plan.classes)
    ]
    classes = list(_classes(plan))
    home = [k for k, station in enumerate(stations) for _ in range(station.queues)]
    return Score(
        rows(Station, stations),
        rows(Class, classes),
        rows(Source, arriving.sources),
        rows(Law, (*_laws(plan), *arriving.laws)),
        np.array([0, *accumulate(map(len, routes))], np.int64),
        rows(Way, (way for row in routes for way in row)),
        np.array(writing.speeds, float),
        np.array(writing.paces, float),
        np.array([_visits(jobs, len(stations)) for jobs in plan.classes]),
        rows(Branch, writing.branches),
        np.array(home, np.int64),
        rows(Size, arriving.sizes),
        np.array(arriving.tables, float),
        tuple(region.limit for region in plan.regions),
        tuple(jobs.population if jobs.is_closed else 0 for jobs in plan.classes),
        tuple(_tokens(jobs.clients) for jobs in plan.classes),
        sum(row.outcomes for row in classes),
        np.array(list(map(key_of, _streams(plan, names, arriving.sources))), np.uint64),
    )


class _Writing:
    """Stations as they are written, one after the other, with the tables that they refer to."""

    def __init__(self, plan: Blueprint) -> None:
        self.plan = plan
        self.queues = 0
        self.speeds: list[float] = []
        self.paces: list[float] = []
        self.branches: list[Branch] = []
        self.own = [k for k, place in enumerate(plan.places) if _own(place)]

    def station(self, k: int, place: SimulatedStation) -> Station:
        """The row of a station of the plan."""
        serving = place.serving
        if serving.needed:
            row = self._fork(k, place)
        else:
            row = self._served(place)
            row.places = int(min(serving.places, row.places))
        row.blocking = _FATES[place.blocking]
        row.oldest = place.oldest
        row.region = next((r for r, one in enumerate(self.plan.regions) if k in one.stations), NONE)
        return self._placed(row)

    def own_queues(self, k: int) -> Station:
        """The row of a fork's own queues."""
        return self._placed(Station(queues=self.plan.places[k].serving.queues))

    def _placed(self, row: Station) -> Station:
        row.queue = self.queues
        self.queues += row.queues
        return row

    def _fork(self, k: int, place: SimulatedStation) -> Station:
        parts = Counter(place.branches)
        if not parts:
            parts[len(self.plan.places) + self.own.index(k)] = place.serving.queues
        row = Station(order=Order.FORK, needed=place.serving.needed, crew=0.0)
        row.branch, row.branches = len(self.branches), len(parts)
        self.branches += [Branch(station, count) for station, count in parts.items()]
        return row

    def _served(self, place: SimulatedStation) -> Station:
        """How a station serves; kinds with a quota, a speed or unequal servers have no rank."""
        serving = place.serving
        row = Station(queues=serving.queues, crew=serving.crew, choice=_CHOICES[place.choice])
        row.servers = int(min(serving.servers, _EVERYBODY))
        if serving.budget is not None:
            row.share, row.period = serving.budget
            row.crew = 0.0
        elif place.shared and serving.servers < inf:
            self._share(row, serving.speeds or [float(n + 1) for n in range(row.servers)])
            row.servers = _EVERYBODY
        elif serving.paces:
            row.pace, row.any_server = len(self.paces), int(bool(serving.speeds))
            self.paces += serving.paces
        elif serving.speeds:
            self._share(row, serving.speeds)
        elif serving.servers == inf:
            row.order = Order.AT_ONCE
        elif place.by_turns:
            _rank(row, place.name, place.discipline)
        return row

    def _share(self, row: Station, speeds: Sequence[float]) -> None:
        """Write that jobs at the servers share a speed that depends on their number."""
        row.order = Order.SHARED
        row.speed, row.speeds = len(self.speeds), len(speeds)
        self.speeds += speeds


def _own(place: SimulatedStation) -> bool:
    """Whether a station is a fork with queues of its own."""
    return bool(place.serving.needed) and not place.branches


def _rank(row: Station, name: str, discipline: Discipline) -> None:
    """Write which job is next under a discipline."""
    if discipline.at_random:
        row.order = Order.AT_RANDOM
        return
    first, second = keys_of(name, discipline)
    row.order, row.interrupts = Order.RANKED, int(discipline.interrupts)
    row.by_turn, row.by_priority, row.by_work = first
    row.then_turn, row.then_priority, row.then_work = second


def _classes(plan: Blueprint) -> Iterator[Class]:
    """The rows of the classes; the outcomes of their breakers stand one after the other."""
    kept = 0
    for jobs in plan.classes:
        row = _class(jobs, plan.beyond)
        if jobs.clients is not None and jobs.breaks:
            row.outcome = kept
            _break(row, jobs.clients)
        kept += row.outcomes
        yield row


def _class(jobs: Jobs, beyond: float) -> Class:
    waits = jobs.is_closed and jobs.think_time + beyond > 0
    rounds = jobs.ways.visits is not None
    row = Class(int(jobs.is_closed), int(waits), int(rounds), jobs.priority)
    if jobs.clients is not None:
        _give_up(row, jobs.clients)
    return row


def _tokens(clients: Clients | None) -> float:
    """Tokens for retries that each class has at the start."""
    if clients is None or clients.retry_budget == inf:
        return inf
    return float(min(FIRST, clients.retry_tokens))


def _give_up(row: Class, clients: Clients) -> None:
    """Write how the clients of a class give up and ask again."""
    row.asks, row.notices = 1, int(clients.server_notices)
    row.impatient = int(clients.leaves)
    row.retries = int(min(clients.retries, _EVERYBODY))
    row.timeout, row.returns = float(clients.timeout), float(clients.persistence)
    row.factor, row.jitter = float(clients.backoff_factor), float(clients.jitter)
    row.budget = float(clients.retry_budget)
    row.purse = inf if row.budget == inf else float(clients.retry_tokens)


def _break(row: Class, clients: Clients) -> None:
    """Write when the circuit breaker of some clients opens and closes."""
    row.outcomes, row.probes = int(clients.circuit_breaker_of), int(clients.circuit_breaker_probes)
    row.opens, row.reopens = map(clients.failures_of, (row.outcomes, row.probes))
    row.open_for = float(clients.circuit_breaker_open_for)


def _laws(plan: Blueprint) -> Iterator[Law]:
    """Laws in their order: of service, thinking, patience and backing off."""
    own = [k for k, place in enumerate(plan.places) if _own(place)]
    served = [NONE if p.serving.needed else k for k, p in enumerate(plan.places)] + own
    for jobs in plan.classes:
        for k in served:
            place = plan.places[k]
            times = (0.0, 0.0) if k == NONE else (place.times[jobs.name], place.scvs[jobs.name])
            yield law_of(*times)
    for jobs in plan.classes:
        think = law_of(jobs.think_time, 1.0)
        think.shift = plan.beyond
        yield think
    for jobs in plan.classes:
        clients = jobs.clients or Clients()
        yield law_of(clients.patience, clients.patience_scv) if clients.leaves else Law()
    for jobs in plan.classes:
        clients = jobs.clients or Clients()
        yield law_of(clients.backoff, clients.backoff_scv)


def _plainly(plan: Blueprint, c: int) -> list[tuple[int, int]]:
    """The columns of a class's routes, if it never changes: each station in the same class."""
    return [(c, k) for k in range(len(plan.places))]


def _routes(plan: Blueprint, c: int, stations: int) -> list[list[Way]]:
    """Ways of a class from each station; where a round ends, the class in which the next begins."""
    ways = plan.classes[c].ways
    switching, to, onward = ways.switching, _plainly(plan, c), ways.onward
    if switching is not None:
        onward = switching.onward
        to = [(b, k) for b in range(len(switching.classes)) for k in range(len(plan.places))]
        ends = switching.ends.tolist()
        to = [(b, NONE if end else k) for (b, k), end in zip(to, ends, strict=True)]
    found = [list(_ways(row, to)) for row in onward]
    return found + [[] for _ in range(stations - len(found))]


def _ways(chances: FloatArray, to: list[tuple[int, int]]) -> Iterator[Way]:
    """Ways with cumulative probabilities; what is missing from 1 leaves the network."""
    sums = np.cumsum(chances)
    if abs(sums[-1] - 1) <= _FULL:
        sums[sums >= 1 - _FULL] = 1.0
    for chance, total, (class_, station) in zip(chances, sums.tolist(), to, strict=True):
        if chance > 0:
            yield Way(total, class_, station)


def _visits(jobs: Jobs, stations: int) -> FloatArray:
    visits = np.zeros(stations)
    if jobs.ways.visits is not None:
        visits[: len(jobs.ways.visits)] = jobs.ways.visits
    return visits


def _streams(plan: Blueprint, names: list[str], sources: list[Source]) -> Iterator[str]:
    """The names of the random streams in their order: what each is drawn for."""
    classes = [jobs.name for jobs in plan.classes]
    at = ["" if s.station == NONE else names[s.station] for s in sources]
    coming = [f"{classes[s.class_]} at {place}" for s, place in zip(sources, at, strict=True)]
    for purpose, ends in (("service", "thinking"), ("routes", "entry")):
        yield from (f"{purpose} of {c} at {name}" for c in classes for name in names)
        yield from (f"{ends} of {c}" for c in classes)
        if purpose == "service":
            yield from (f"patience of {c}" for c in classes)
            yield from (f"backing off of {c}" for c in classes)
            yield from (f"arrivals of {place}" for place in coming)
    yield from (f"rounds of {c}" for c in classes)
    yield from (f"choice at {name}" for name in names)
    yield from (f"order at {name}" for name in names)
    yield from (f"batches of {place}" for place in coming)
