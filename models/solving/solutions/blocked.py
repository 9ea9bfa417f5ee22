"""Networks of models that block, at each operating point."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Amount, FloatArray, plain
from headway.models.structure.inputs import points_shape
from headway.models.structure.parts.keys import Values, arrivals_at, station_at
from headway.models.structure.parts.routes import share_at
from headway.models.structure.planning.components import named
from headway.numerals import digits
from headway.queueing.blocking.solve_blocking import blocking_saturation, room_of
from headway.queueing.network.blocking import Blocking, BlockingNetwork, Window
from headway.queueing.stations.base import Station
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.models.structure.graph import ModelGraph


@dataclass(frozen=True)
class OperatingPoint:
    """A model at one operating point: its network and stations."""

    network: BlockingNetwork
    stations: tuple[Station, ...]


def points_of(inputs: Mapping[str, Amount], shape: tuple[int, ...]) -> list[dict[str, Amount]]:
    """The inputs of each operating point, in flat order."""
    flat = {
        name: np.broadcast_to(np.asarray(v, float), shape).ravel() for name, v in inputs.items()
    }
    count = int(np.prod(shape))
    return [{name: float(column[k]) for name, column in flat.items()} for k in range(count)]


def point_of(graph: "ModelGraph", inputs: Mapping[str, Amount]) -> OperatingPoint:
    """The network of a graph at one operating point."""
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
    return OperatingPoint(network, stations)


def _window(graph: "ModelGraph", name: str, values: Values) -> Window:
    """A region by positions of its stations; the region itself checks its limit."""
    order = list(graph.stations)
    members = tuple(order.index(one) for one in graph.regions[name].stations)
    with named(name):
        return Window(members, float(values[f"{name}.limit"]))


def _whole(population: Amount) -> int:
    """The number of circulating jobs, a whole number of 1 or more.

    Raises
    ------
    InvalidParameter
        For a smaller number, or a fraction.
    """
    jobs = float(population)
    if jobs < 1 or jobs != int(jobs):
        msg = (
            f"population is {digits(jobs)}; a network that blocks needs a whole number of 1 or more"
        )
        raise InvalidParameter(msg)
    return int(jobs)


def _ways(graph: "ModelGraph", values: Values) -> tuple[FloatArray, FloatArray]:
    """Routing probabilities between stations, and the share that enters at each."""
    place = {name: k for k, name in enumerate(graph.stations)}
    onward, entry = np.zeros((len(place), len(place))), np.zeros(len(place))
    for (source, target), chance in graph.routes.chances(values).items():
        onward[place[source], place[target]] = chance
    for name in graph.arrivals:
        entry[place[name]] = arrivals_at(name).of(values)
    if not entry.any():
        entry[0] = 1.0
    return onward, entry / entry.sum()


def blocked_saturation(graph: "ModelGraph", inputs: Mapping[str, Amount]) -> Amount:
    """Throughput above which some queue grows without limit, by operating point [1/s]."""
    shape = points_shape(dict(inputs))
    unused = {"arrival_rate"} if not graph.arrivals else set()
    limits: dict[tuple[Any, ...], float] = {}
    rows = []
    for inputs_there in points_of(inputs, shape):
        key = tuple(v for n, v in inputs_there.items() if n not in unused)
        if key not in limits:
            some = {**inputs_there, **dict.fromkeys(unused & set(inputs_there), 1.0)}
            point = point_of(graph, some)
            limits[key] = blocking_saturation(point.network, point.stations)
        rows.append(limits[key])
    return plain(np.array(rows).reshape(shape))
