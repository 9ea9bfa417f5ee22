"""Networks of all kinds of which the truth is known, to hold the event loop to it.

Forty are random small ones whose whole Markov chains are solved (`tests.brute.kinds`): the first
of each kind that are small enough. The others are stations with exact laws of the response time,
of losses, or of what varies: they are solved by headway, which has to call its answer exact.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from headway.errors import GraphError
from headway.models import Model, ModelGraph, parse_model
from headway.queueing import (
    MD1,
    MG1,
    MM1,
    MM1K,
    Batch,
    BatchK,
    Delay,
    FastestFirst,
    LoadDependent,
    MMm,
    MMmK,
    Parallel,
    Slowing,
    UnequalServers,
    WakeUp,
)
from tests.brute.chain import TooLarge
from tests.brute.kinds import KINDS, drawn

PERCENTS = (50, 99)
OF_EACH_KIND = 2
CUT = 1e-9
"""Largest share of arrivals that a chain cut off may have turned away."""

SERVICE = "M/G/1 service is assumed gamma-distributed"
"""What is true of the event loop, which draws it so: no approximation here."""


@dataclass(frozen=True)
class Known:
    """A network, and what it does by the names that a simulation has for it."""

    name: str
    model: Model
    truth: Mapping[str, float]


def one(station: object, rate: float, **message: str) -> Model:
    """One station with Poisson arrivals."""
    return ModelGraph("one").station("node", station, **message).at(arrival_rate=rate)


def row(*stations: object, rate: float = 1.0) -> Model:
    """Stations in a row."""
    return _in_a_row(*stations).at(arrival_rate=rate)


def circle(population: int, think: float, *stations: object) -> Model:
    """The same, closed."""
    return _in_a_row(*stations).at().closed(population, think)


def _in_a_row(*stations: object) -> ModelGraph:
    graph = ModelGraph("row")
    for k, station in enumerate(stations):
        graph = graph.station(f"s{k}", station)
        graph = graph.route(f"s{k - 1}", f"s{k}") if k else graph
    return graph


def fed(station: object, **arrivals: object) -> Model:
    """One station whose arrivals are no Poisson stream."""
    return ModelGraph("fed").station("node", station).arrive("node", **arrivals).at()


def ranked(station: object, discipline: str, *rates: float) -> Model:
    """Classes in the order of their priority."""
    graph = ModelGraph("ranked")
    for place, (name, rate) in enumerate(zip("abc", rates, strict=False), start=1):
        graph = graph.job_class(name, arrival_rate=rate, priority=place)
    return graph.station("node", station, discipline=discipline).at()


LAWS: dict[str, Callable[[], Model]] = {
    "one server": partial(one, MM1(1.0), 0.7),
    "a pool": partial(one, MMm(1.0, 4), 3.2),
    "two in a row": partial(row, MM1(0.8), MM1(0.6)),
    "a delay in front": partial(row, Delay(2.0), MM1(0.7)),
    "constant services": partial(one, MD1(1.0), 0.7),
    "widely spread services": partial(one, MG1(1.0, 4.0), 0.6),
    "steady services": partial(one, MG1(1.0, 0.3), 0.6),
    "a pool in a room": partial(one, MMmK(1.0, 2, 5), 2.2),
    "a server in a room": partial(one, MM1K(1.0, 4), 0.9),
    "rates by number": partial(one, LoadDependent((1.0, 1.8, 2.0)), 1.4),
    "wakes up": partial(one, WakeUp(1.0, 0.5), 0.6),
    "three wake up": partial(one, WakeUp(1.0, 0.5, 3), 1.8),
    "slows down": partial(one, Slowing(1.0, 0.2, 8), 0.4),
    "serves batches": partial(one, Batch(1.0, 0.1, 8), 2.0),
    "serves batches in a room": partial(one, BatchK(1.0, 0.1, 8, 12), 4.0),
    "batches arrive": partial(fed, MM1(1.0), rate=0.6, batch=3),
    "batches of any size arrive": partial(fed, MM1(1.0), rate=0.6, batch={"mean": 2.5}),
    "batches arrive at a pool": partial(fed, MMm(1.0, 3), rate=1.8, batch=2),
    "batches of constant services": partial(
        fed, MD1(1.0), rate=0.6, batch={1: 0.25, 2: 0.5, 3: 0.25}
    ),
    "regular arrivals": partial(fed, MM1(1.0), rate=0.6, scv=0.0),
    "shared": partial(one, MM1(1.0), 0.7, discipline="ps"),
    "shared by unlike services": partial(one, MG1(1.0, 4.0), 0.6, discipline="ps"),
    "in random order": partial(one, MM1(1.0), 0.7, discipline="siro"),
    "last come, first served": partial(one, MM1(1.0), 0.7, discipline="lcfs"),
    "priority": partial(ranked, MM1(1.0), "priority", 0.3, 0.3),
    "preemptive": partial(ranked, MM1(1.0), "preemptive", 0.3, 0.3),
    "priority of steady services": partial(ranked, MG1(1.0, 0.5), "priority", 0.3, 0.3),
    "priority at a pool": partial(ranked, MMm(1.0, 2), "priority", 0.7, 0.7),
    "queues of their own": partial(one, Parallel(1.0, 3), 2.1),
    "servers of unequal speed": partial(one, UnequalServers((0.2, 1.0)), 3.0),
    "the fastest free server": partial(one, FastestFirst((0.2, 1.0)), 3.0),
    "closed, with a pool": partial(circle, 6, 2.0, MM1(0.4), MMm(0.9, 2)),
    "closed, without thinking": partial(circle, 4, 0.0, MM1(0.4), MM1(0.6), Delay(1.0)),
    "closed, wakes up": partial(circle, 6, 2.0, WakeUp(0.4, 0.3)),
    "closed, rates by number": partial(circle, 6, 2.0, LoadDependent((1.0, 1.8, 2.0))),
}
"""Networks whose means are exact, and for some of them percentiles or losses too."""


@cache
def networks(step: int) -> tuple[Known, ...]:
    """Those of each kind and law that is so many after the one before; 1 for all of them."""
    drawn_ones = [known for kind in range(0, len(KINDS), step) for known in _drawn(kind)]
    return (*drawn_ones, *(_solved(name, LAWS[name]()) for name in [*LAWS][step // 2 :: step]))


def _drawn(kind: int) -> Iterator[Known]:
    """The first of a kind whose chains are small, and follow all but a few arrivals."""
    found, seed = 0, kind
    while found < OF_EACH_KIND:
        case = drawn(seed)
        try:
            truth = case.solve()
        except TooLarge:
            truth = None
        if truth is not None and truth.cut < CUT:
            found += 1
            yield Known(f"{case.kind}, {seed}", parse_model(case.text), truth.numbers)
        seed += len(KINDS)


def _solved(name: str, model: Model) -> Known:
    """By headway's exact laws: the answer, and each percentile that it knows exactly."""
    solution = model.solve()
    assert solution.approximation in ("", SERVICE), name
    names = [*solution.outputs, *solution.class_outputs]
    names += [f"{s}.{part}" for s in solution.stations for part in ("utilisation", "queue_length")]
    try:
        timed = solution.with_percentiles(PERCENTS)
    except GraphError:
        timed = solution
    if timed.approximation in ("", SERVICE):
        solution = timed
        names += [name for name in timed.outputs if "_p" in name]
    return Known(name, model, {n: float(np.ravel(solution[n])[0]) for n in names})
