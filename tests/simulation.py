"""Simulate a model with Ciw: an independent witness for the solvers.

The simulation reads what a model says (stations, routes or visits, arrivals, classes) from its
graph and follows single jobs; it uses no traffic equation and no law of a queue. Jobs are served
in order of arrival, or share the server where classes need different times, as a product form
asks (Baskett, Chandy, Muntz and Palacios, 1975). A `Delay` takes everybody the same time.

One long run is cut into batches after a warm-up; batch means give Student's intervals.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import ciw
import numpy as np
from ciw import dists
from numpy.typing import NDArray
from scipy import stats

from headway.models import Model
from headway.models.structure.graph import ModelGraph

FloatArray = NDArray[np.float64]

BATCHES = 30
WARM_UP = 0.1
"""Share of the run that is thrown away."""

ONLY = "jobs"
"""Name of the class of a model without classes."""

THINKING = "(thinking)"
BELOW_ONE = 1 - 1e-13
"""Ciw refuses probabilities that sum to 1.0000000000000002; at this nobody leaves a run."""


@dataclass(frozen=True)
class Interval:
    """An estimate and half the width of its confidence interval."""

    mean: float
    half_width: float

    def holds(self, value: float) -> bool:
        """Whether a value lies inside, but for rounding (a constant has no width)."""
        return abs(value - self.mean) <= self.half_width + 1e-9 * abs(self.mean)


@dataclass(frozen=True)
class Jobs:
    """A class of jobs: where it enters and goes on to, by position of the station."""

    name: str
    arrival_rate: float
    population: int
    think_time: float
    entry: FloatArray
    onward: FloatArray


@dataclass(frozen=True)
class Node:
    """One queue of the simulation: a station, or one of the queues of a parallel one."""

    station: str
    share: float
    servers: float
    waiting_places: float
    ciw_class: Callable[..., Any]
    service: Mapping[str, Any]


@dataclass(frozen=True)
class Log:
    """Every stay of a job at a queue; what has not ended by the horizon ends never."""

    station: NDArray[np.str_]
    jobs: NDArray[np.str_]
    arrival: FloatArray
    exit: FloatArray
    leaves: NDArray[np.bool_]

    def only(self, mask: NDArray[np.bool_]) -> "Log":
        """Those stays that a mask picks."""
        return Log(
            self.station[mask],
            self.jobs[mask],
            self.arrival[mask],
            self.exit[mask],
            self.leaves[mask],
        )


def simulate(model: Model, horizon: float, seed: int) -> dict[str, FloatArray]:
    """Simulate a model up to a point of time; give the batch means of each of its answers.

    Parameters
    ----------
    model
        With one operating point, its parameters all having values.
    horizon
        Simulated time [s].
    seed
        Of all random numbers.

    Returns
    -------
    Batch means by the names that a `Solution` knows, such as ``cpu.queue_length``.

    Raises
    ------
    ValueError
        For a station that is not simulated, or visits that no route gives.
    """
    values = _numbers(model)
    classes = [_jobs(model, name, values) for name in model.graph.classes or (ONLY,)]
    nodes = [n for name in model.graph.stations for n in _nodes(model.graph, name, values, classes)]
    nodes.append(_thinking(classes))
    ciw.seed(seed)
    run = ciw.Simulation(_network(nodes, classes), node_class=[n.ciw_class for n in nodes])
    run.simulate_until_max_time(horizon)
    log = _log(run, [node.station for node in nodes])
    edges = np.linspace(WARM_UP * horizon, horizon, BATCHES + 1)
    return dict(_answers(model.graph, classes, log, edges))


def intervals(batches: Mapping[str, FloatArray], confidence: float) -> dict[str, Interval]:
    """Intervals that all hold together with the given confidence (Bonferroni).

    Parameters
    ----------
    batches
        Batch means by name.
    confidence
        Chance that every interval holds what it estimates.
    """
    miss = (1 - confidence) / len(batches)
    return {name: _interval(means, miss) for name, means in batches.items()}


def _interval(means: FloatArray, miss: float) -> Interval:
    width = stats.t.ppf(1 - miss / 2, len(means) - 1) * means.std(ddof=1) / len(means) ** 0.5
    return Interval(float(means.mean()), float(width))


def _numbers(model: Model) -> dict[str, Any]:
    """What the graph says in numbers; no visits, which the simulation finds out by itself."""
    graph = model.graph
    targets = [f"{route.source} -> {route.target}" for route in graph.routes]
    targets += [f"arrivals at {name}" for name in graph.arrivals]
    targets += [f"class {name}.{key}" for name, keys in graph.classes.items() for key in keys]
    for name, station in graph.stations.items():
        targets.append(f"station {name}")
        targets += [f"{name}.visits[{c}]" for c in station.visits]
        targets += [f"{name}.service_time[{c}]" for c in station.service_times]
    if not (graph.classes or model.is_closed):
        targets.append("throughput")
    return graph.plan.run(model.inputs, targets)


def _jobs(model: Model, name: str, values: Mapping[str, Any]) -> Jobs:
    entry, onward = _ways(model.graph, name, values)
    if name in model.graph.classes:
        given = {key: values.get(f"class {name}.{key}", 0.0) for key in _CLASS_KEYS}
    elif model.is_closed:
        given = {**values, "arrival_rate": 0.0}
    else:
        given = {"arrival_rate": values["throughput"], "population": 0, "think_time": 0.0}
    rate, population, think_time = (given[key] for key in _CLASS_KEYS)
    return Jobs(name, float(rate), int(population), float(think_time), entry, onward)


_CLASS_KEYS = ("arrival_rate", "population", "think_time")


def _ways(graph: ModelGraph, name: str, values: Mapping[str, Any]) -> tuple[FloatArray, FloatArray]:
    if any(station.visits for station in graph.stations.values()):
        return routing_of_visits([_visits(graph, s, name, values) for s in graph.stations])
    position = {station: index for index, station in enumerate(graph.stations)}
    onward = np.zeros((len(position), len(position)))
    for route in graph.routes:
        place = position[route.source], position[route.target]
        onward[place] = values[f"{route.source} -> {route.target}"]
    entry = np.zeros(len(position))
    for station in graph.arrivals:
        entry[position[station]] = values[f"arrivals at {station}"]
    if not graph.arrivals:
        entry[0] = 1.0
    return entry / entry.sum(), onward


def _visits(graph: ModelGraph, station: str, name: str, values: Mapping[str, Any]) -> float:
    given = graph.stations[station].visits
    key = name if name in given else ""
    return float(values[f"{station}.visits[{key}]"]) if key in given else 0.0


def routing_of_visits(visits: list[float]) -> tuple[FloatArray, FloatArray]:
    """Find random routes that give a job these mean visits: leave, or go anywhere by share.

    A product form depends on routes through their visits only, so any such routes will do.

    Parameters
    ----------
    visits
        Mean visits of a job to each station, 1 or more in sum.
    """
    total = sum(visits)
    if total < 1:
        msg = f"visits sum to {total:g}; below 1 there are jobs that enter nowhere"
        raise ValueError(msg)
    share = np.array(visits) / total
    return share, np.tile((1 - 1 / total) * share, (len(visits), 1))


def _nodes(
    graph: ModelGraph, name: str, values: Mapping[str, Any], classes: list[Jobs]
) -> Iterator[Node]:
    kind, station = graph.stations[name].kind.__name__, values[f"station {name}"]
    if kind not in _SERVICES:
        msg = f"{name}: {kind} is not simulated; simulated are {', '.join(_SERVICES)}"
        raise ValueError(msg)
    times = {
        jobs.name: float(values.get(f"{name}.service_time[{jobs.name}]", station.service_time))
        for jobs in classes
    }
    service = {jobs: _SERVICES[kind](station, time) for jobs, time in times.items()}
    queues = int(station.count) if kind == "Parallel" else 1
    servers = np.inf if kind == "Delay" else int(station.count) // queues
    waiting = int(station.places) - servers if hasattr(station, "places") else np.inf
    if kind == "Delay" or len(set(times.values())) == 1:
        yield from [Node(name, 1 / queues, servers, waiting, ciw.Node, service)] * queues
    else:
        shared = partial(_Shared, threshold=servers)
        yield from [Node(name, 1 / queues, np.inf, np.inf, shared, service)] * queues


class _Shared(ciw.PSNode):  # type: ignore[misc]
    """Servers that all who are there share alike."""

    def __init__(self, number: int, simulation: Any, threshold: float) -> None:
        super().__init__(number, simulation)
        self.ps_threshold = threshold


def _constant(station: Any, time: float) -> Any:
    return dists.Deterministic(time)


def _exponential(station: Any, time: float) -> Any:
    return dists.Exponential(1 / time) if time > 0 else dists.Deterministic(0.0)


def _gamma(station: Any, time: float) -> Any:
    """Any distribution would do that has the mean and the squared coefficient of variation."""
    return dists.Gamma(shape=1 / station.scv, scale=time * station.scv)


_SERVICES: dict[str, Callable[[Any, float], Any]] = {
    "Delay": _constant,
    "MM1": _exponential,
    "MMm": _exponential,
    "Parallel": _exponential,
    "MM1K": _exponential,
    "MMmK": _exponential,
    "MD1": _constant,
    "MG1": _gamma,
}


def _thinking(classes: list[Jobs]) -> Node:
    """Where closed classes are between answer and next request; every circle passes it."""
    service = {jobs.name: _exponential(None, jobs.think_time) for jobs in classes}
    return Node(THINKING, 0.0, np.inf, np.inf, ciw.Node, service)


def _network(nodes: list[Node], classes: list[Jobs]) -> Any:
    position = {name: i for i, name in enumerate(dict.fromkeys(node.station for node in nodes))}
    places = [position[node.station] for node in nodes[:-1]]
    shares = np.array([node.share for node in nodes[:-1]])
    arrivals, batches, routing = {}, {}, {}
    for jobs in classes:
        entry = jobs.entry[places] * shares
        arrivals[jobs.name] = [_arrivals(rate) for rate in entry * jobs.arrival_rate]
        arrivals[jobs.name].append(dists.Sequential([0.0, np.inf]) if jobs.population else None)
        batches[jobs.name] = [dists.Deterministic(1)] * len(places)
        batches[jobs.name].append(dists.Deterministic(jobs.population or 1))
        onward = jobs.onward[np.ix_(places, places)] * shares
        routing[jobs.name] = _matrix(jobs, entry, onward)
    return ciw.create_network(
        arrival_distributions=arrivals,
        batching_distributions=batches,
        service_distributions={j.name: [node.service[j.name] for node in nodes] for j in classes},
        routing=routing,
        number_of_servers=[node.servers for node in nodes],
        queue_capacities=[node.waiting_places for node in nodes],
    )


def _arrivals(rate: float) -> Any:
    return dists.Exponential(rate) if rate > 0 else None


def _matrix(jobs: Jobs, entry: FloatArray, onward: FloatArray) -> list[list[float]]:
    """Join the thinking place: it feeds the entries, and what is not routed on returns to it."""
    matrix = np.zeros((len(entry) + 1, len(entry) + 1))
    matrix[:-1, :-1] = onward
    if jobs.population:
        matrix[-1, :-1] = entry
        matrix[:-1, -1] = np.maximum(0.0, 1 - onward.sum(axis=1))
    rows: list[list[float]] = (matrix * BELOW_ONE).tolist()
    return rows


def _log(run: Any, stations: list[str]) -> Log:
    records = run.get_all_records(only=["service"], include_incomplete=True)
    ends = [np.inf if r.exit_date is None else r.exit_date for r in records]
    return Log(
        np.array([stations[r.node - 1] for r in records]),
        np.array([r.customer_class for r in records]),
        np.array([r.arrival_date for r in records]),
        np.array(ends),
        np.array([r.destination == -1 for r in records]),
    )


def _answers(
    graph: ModelGraph, classes: list[Jobs], log: Log, edges: FloatArray
) -> Iterator[tuple[str, FloatArray]]:
    for name, component in graph.stations.items():
        here = log.only(log.station == name)
        yield f"{name}.throughput", _rate(here, edges)
        yield f"{name}.queue_length", _present(here, edges)
        if component.kind.__name__ != "Delay":  # whose time is given, not found out
            yield f"{name}.response_time", _stay(here, edges)
    for jobs in classes:
        own = log.only(log.jobs == jobs.name)
        thinking = own.station == THINKING
        rate = _rate(own.only(thinking if jobs.population else own.leaves), edges)
        prefix = f"class {jobs.name}." if graph.classes else ""
        yield f"{prefix}throughput", rate
        yield f"{prefix}response_time", _present(own.only(~thinking), edges) / rate


def _rate(log: Log, edges: FloatArray) -> FloatArray:
    """Stays that end, per time, by batch."""
    rate: FloatArray = np.histogram(log.exit, edges)[0] / np.diff(edges)
    return rate


def _stay(log: Log, edges: FloatArray) -> FloatArray:
    """Mean length of the stays that end in each batch."""
    over = log.only(np.isfinite(log.exit))
    total = np.histogram(over.exit, edges, weights=over.exit - over.arrival)[0]
    mean: FloatArray = total / np.histogram(over.exit, edges)[0]
    return mean


def _present(log: Log, edges: FloatArray) -> FloatArray:
    """Mean number present during each batch."""
    stay = log.exit - log.arrival
    spent = np.array([np.clip(edge - log.arrival, 0, stay).sum() for edge in edges])
    mean: FloatArray = np.diff(spent) / np.diff(edges)
    return mean
