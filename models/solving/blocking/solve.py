"""Models with blocking and regions, solved at every operating point."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.errors import InvalidParameter, Saturated
from headway.kinds import Amount, FloatArray, plain
from headway.models.solving.blocking.refused import check_solvable
from headway.models.solving.solutions.marks import Marks
from headway.models.structure.parts.keys import (
    ANSWERED,
    VISITS,
    Found,
    Values,
    arrivals_at,
    station_at,
)
from headway.models.structure.parts.regions import REGION_FULL, REGION_PARTS
from headway.models.structure.parts.routes import share_at
from headway.models.structure.planning.components import named
from headway.queueing.blocking.answers import BlockingSolution, WindowAnswer
from headway.queueing.blocking.network import Blocking, BlockingNetwork, Window
from headway.queueing.blocking.solve import (
    Way,
    blocking_saturation,
    room_of,
    solve_blocking,
    window_limits,
)
from headway.queueing.closed.demands import Method
from headway.queueing.stations.base import Station

if TYPE_CHECKING:
    from headway.models.structure.graph import ModelGraph
    from headway.models.structure.model import Model


@dataclass(frozen=True)
class Point:
    """A model at one operating point: its network, and the stations it is made of."""

    network: BlockingNetwork
    stations: tuple[Station, ...]


def blocking_values(model: "Model", method: str, shape: tuple[int, ...]) -> tuple[Found, Marks]:
    """Solve a model that holds jobs up, point by point.

    Parameters
    ----------
    model
        Open, or with parameters ``population`` and ``think_time``.
    method
        ``auto``, ``exact`` to refuse what the Markov chain does not solve, or a `Way`.
    shape
        Shape of the operating points.

    Returns
    -------
    The model's inputs and every calculated number by name, and what is to be said of them.

    Raises
    ------
    GraphError, InvalidParameter
        For what is not solved, with the reason.
    """
    check_solvable(model.graph)
    way = _way(method)
    rows = [_solved(model, each, way) for each in points_of(model.inputs, shape)]
    values = {**model.inputs, **_over_points([row[0] for row in rows], shape)}
    graph = model.graph
    closed = "response_time" in graph.outputs and model.is_closed
    if closed:
        msg = f"{graph.name}: its formula for response_time has no meaning where jobs are held up"
        raise InvalidParameter(msg)
    if "response_time" in graph.outputs:
        del values["response_time"]
    values = graph.plan.run(
        values, [*graph.outputs, *(station_at(name) for name in graph.stations), VISITS]
    )
    notes = dict.fromkeys(row[1].approximation for row in rows if row[1].approximation)
    methods = dict.fromkeys(row[1].method for row in rows)
    full = np.array([row[2] for row in rows]).reshape(shape)
    return values, Marks(", ".join(methods), "; ".join(notes), full)


def _way(method: str) -> Way:
    """How a network that holds jobs up is to be solved.

    Raises
    ------
    InvalidParameter
        For a method that is none of it.
    """
    if method in set(Way):
        return Way(method)
    if Method(method) is Method.EXACT:
        return Way.CHAIN
    if Method(method) is not Method.AUTO:
        msg = f"networks that hold jobs up are not solved by {method}; take auto or exact"
        raise InvalidParameter(msg)
    return Way.AUTO


def points_of(inputs: Mapping[str, Amount], shape: tuple[int, ...]) -> list[dict[str, Amount]]:
    """The inputs of each operating point, in flat order."""
    flat = {
        name: np.broadcast_to(np.asarray(v, float), shape).ravel() for name, v in inputs.items()
    }
    count = int(np.prod(shape))
    return [{name: float(column[k]) for name, column in flat.items()} for k in range(count)]


def _solved(
    model: "Model", inputs: Mapping[str, Amount], way: Way
) -> tuple[Found, BlockingSolution, bool]:
    """Values of a point, what was found there, and whether it is saturated."""
    point = point_of(model.graph, inputs)
    try:
        found, full = solve_blocking(point.network, point.stations, way), False
    except Saturated:
        found, full = _saturated(point), True
    return _values(model, point, found), found, full


def point_of(graph: "ModelGraph", inputs: Mapping[str, Amount]) -> Point:
    """The network that a graph is at one operating point."""
    changing = [share_at(route) for route in graph.routes.changing]
    arrivals = [arrivals_at(name) for name in graph.arrivals]
    limits = [f"{name}.limit" for name in graph.regions]
    closed = "population" in inputs
    targets = [*map(station_at, graph.stations), *changing, *arrivals, *limits]
    given = {**inputs, "throughput": 1.0, "arrival_rate": 1.0} if closed else dict(inputs)
    values = graph.plan.run(given, targets if closed else [*targets, "throughput"])
    stations = tuple(station_at(name).of(values) for name in graph.stations)
    names = tuple(graph.stations)
    blocking = [Blocking(graph.stations[name].blocking) for name in names]
    rooms = tuple(room_of(one, kind) for one, kind in zip(stations, blocking, strict=True))
    windows = tuple(_window(graph, name, values) for name in graph.regions)
    onward, entry = _ways(graph, values)
    jobs: dict[str, Any] = (
        {"population": _whole(inputs["population"]), "think_time": float(inputs["think_time"])}
        if closed
        else {"arrival_rate": float(values["throughput"])}
    )
    network = BlockingNetwork(rooms, onward, entry, windows=windows, names=names, **jobs)
    return Point(network, stations)


def _window(graph: "ModelGraph", name: str, values: Values) -> Window:
    """A region by positions of its stations; its own checks refuse a limit that is none."""
    order = list(graph.stations)
    members = tuple(order.index(one) for one in graph.regions[name].stations)
    with named(name):
        return Window(members, float(values[f"{name}.limit"]))


def _whole(population: Amount) -> int:
    """Jobs that circulate, 1 or more.

    Raises
    ------
    InvalidParameter
        For less, or part of one.
    """
    jobs = float(population)
    if jobs < 1 or jobs != int(jobs):
        msg = (
            f"population is {jobs:g}; where jobs are held up it must be a whole number of 1 or more"
        )
        raise InvalidParameter(msg)
    return int(jobs)


def _ways(graph: "ModelGraph", values: Values) -> tuple[FloatArray, FloatArray]:
    """Chances from station to station, and the share that enters at each."""
    place = {name: k for k, name in enumerate(graph.stations)}
    onward, entry = np.zeros((len(place), len(place))), np.zeros(len(place))
    for (source, target), chance in graph.routes.chances(values).items():
        onward[place[source], place[target]] = chance
    for name in graph.arrivals:
        entry[place[name]] = arrivals_at(name).of(values)
    if not entry.any():
        entry[0] = 1.0
    return onward, entry / entry.sum()


def _saturated(point: Point) -> BlockingSolution:
    """An open network in overload: its queues grow for ever."""
    network = point.network
    rates = network.arrival_rate * network.visits
    busy = [float(s.utilisation(float(r))) for s, r in zip(point.stations, rates, strict=True)]
    endless = np.full(len(rates), inf)
    windows = tuple(WindowAnswer(inf, 1.0, 1.0, inf, inf) for _ in network.windows)
    return BlockingSolution(
        network.arrival_rate, inf, rates, np.array(busy), 0 * rates, endless, windows=windows
    )


def _values(model: "Model", point: Point, found: BlockingSolution) -> Found:
    """What was found, by the names that formulas use."""
    graph, network = model.graph, point.network
    offered = found.throughput if network.closed else network.arrival_rate
    values: Found = {"throughput": offered, "response_time": found.response_time}
    if network.closed:
        values["arrival_rate"] = offered
    elif any(room.finite for room in network.rooms):
        values |= {ANSWERED: found.throughput, "loss_probability": found.loss_probability}
    columns = {
        "throughput": found.station_throughput,
        "arrival_rate": found.station_throughput,
        "visits": _per_job(found.station_throughput, found, network),
        "utilisation": found.utilisation,
        "blocked": found.blocked,
        "queue_length": found.queue_length,
        "response_time": _times(found, point),
    }
    for part, column in columns.items():
        values |= {f"{name}.{part}": float(column[k]) for k, name in enumerate(graph.stations)}
    for k, (name, station) in enumerate(zip(graph.stations, point.stations, strict=True)):
        values[f"{name}.residence_time"] = _product(
            values[f"{name}.visits"], values[f"{name}.response_time"]
        )
        stay = columns["response_time"][k]
        values[f"{name}.waiting_time"] = max(float(stay) - station.mean_service, 0.0)
    for name, answer in zip(graph.regions, found.windows, strict=True):
        values |= {f"{name}.{part}": getattr(answer, part) for part in REGION_PARTS}
    most = window_limits(network, point.stations)
    for name, window, rate in zip(graph.regions, network.windows, most, strict=True):
        values |= {f"{name}.limit": window.limit, REGION_FULL.format(name): rate}
    return values


def _product(visits: Amount, time: Amount) -> float:
    return float(visits * time) if visits else 0.0


def _per_job(through: FloatArray, found: BlockingSolution, network: BlockingNetwork) -> FloatArray:
    """Visits of a job that is answered."""
    return through / found.throughput if found.throughput else network.visits


def _times(found: BlockingSolution, point: Point) -> FloatArray:
    """Mean time of a visit; alone where nobody comes."""
    through = found.station_throughput
    alone = np.array([station.mean_service for station in point.stations])
    return np.where(through > 0, found.queue_length / np.where(through > 0, through, 1.0), alone)


def _over_points(rows: list[Found], shape: tuple[int, ...]) -> Found:
    """Values by name over all operating points."""
    if not rows:
        return {}
    return {
        name: plain(np.array([row[name] for row in rows], float).reshape(shape)) for name in rows[0]
    }


def held_up_saturation(graph: "ModelGraph", inputs: Mapping[str, Amount]) -> Amount:
    """Throughput from which on some queue grows for ever, by operating point [1/s]."""
    from headway.models.structure.inputs import points_shape

    shape = points_shape(dict(inputs))
    unused = {"arrival_rate"} if not graph.arrivals else set()
    found: dict[tuple[Any, ...], float] = {}
    rows = []
    for inputs_there in points_of(inputs, shape):
        key = tuple(v for n, v in inputs_there.items() if n not in unused)
        if key not in found:
            some = {**inputs_there, **dict.fromkeys(unused & set(inputs_there), 1.0)}
            point = point_of(graph, some)
            found[key] = blocking_saturation(point.network, point.stations)
        rows.append(found[key])
    return plain(np.array(rows).reshape(shape))
