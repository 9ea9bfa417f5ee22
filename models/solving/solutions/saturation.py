"""The largest sustainable throughput of a network, also with demands that depend on the load."""

import math
from collections.abc import Callable, Mapping
from functools import reduce

import numpy as np

from headway.kinds import Amount, FloatArray, plain
from headway.models.solving.solutions.roots import first_crossing
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import VISITS, station_at

RATES = ("throughput", "arrival_rate")
"""Names in formulas for the rate of arrivals or departures."""

_BLOCK = 4096  # operating points solved together, so that a grid of them fits into memory


def saturation_throughput(graph: ModelGraph, inputs: Mapping[str, Amount]) -> Amount:
    """Smallest throughput at which some station is always busy [1/s]; if closed, for many jobs.

    If nothing depends on the load, this is min m/D; otherwise it is the first throughput at which a
    station is offered as much work as it can sustain. With speeds by number of jobs, a station can
    sustain its last speed.

    Parameters
    ----------
    graph
        A graph with stations.
    inputs
        SI value or array of every parameter.

    Returns
    -------
    Scalar or array in the broadcast shape of the parameters it depends on; infinite if
    no station ever saturates.
    """
    if graph.blocks:
        from headway.models.solving.solutions.blocked import blocked_saturation

        return blocked_saturation(graph, inputs)
    names = tuple(name for name, station in graph.stations.items() if station.can.saturates)
    return first_full(graph, inputs, names)


def first_full(graph: ModelGraph, inputs: Mapping[str, Amount], names: tuple[str, ...]) -> Amount:
    """Smallest throughput at which one of these stations is always busy [1/s].

    The graph caches the result of a search at one operating point.

    Parameters
    ----------
    graph, inputs
        As for `saturation_throughput`.
    names
        Names of some of its stations; without any, the result is infinite.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> raid = catalogue_model("nfs-server").with_preset("raid")
    >>> round(first_full(raid.graph, raid.inputs, ("disks",)), 1)
    2845.3
    """
    if not names:
        return math.inf
    targets = [t for name in names for t in (station_at(name), f"{name}.arrival_rate")]
    busiest = _busiest_at(graph, inputs, names, targets)
    if not depends_on_load(graph):
        with np.errstate(divide="ignore"):
            return plain(1 / np.asarray(busiest(1.0), float))
    used = _used(graph, inputs, targets)
    shape = np.broadcast_shapes(*(np.shape(value) for value in used.values()))
    size = int(np.prod(shape))
    if size == 1:
        key = (names, *((name, np.asarray(value).item()) for name, value in used.items()))
        limit = graph.plan.kept(key, lambda: first_crossing(busiest, shape).item())
        return plain(np.full(shape, limit))
    if size <= _BLOCK:
        return plain(first_crossing(busiest, shape))
    flat = {n: np.broadcast_to(v, shape).ravel() for n, v in used.items() if np.ndim(v)}
    blocks = [
        first_full(graph, {**inputs, **{n: v[at : at + _BLOCK] for n, v in flat.items()}}, names)
        for at in range(0, size, _BLOCK)
    ]
    return np.concatenate(blocks).reshape(shape)


def depends_on_load(graph: ModelGraph) -> bool:
    """Whether visits or a station's own numbers use the throughput."""
    targets: list[str] = [VISITS, *map(station_at, graph.stations)]
    return not graph.plan.needed(targets).isdisjoint(RATES)


def _assumed(graph: ModelGraph) -> tuple[str, ...]:
    """Names in formulas for the rate that a search varies; not arrivals at single stations."""
    return RATES[:1] if graph.arrivals else RATES


def _used(graph: ModelGraph, inputs: Mapping[str, Amount], targets: list[str]) -> dict[str, Amount]:
    """The inputs that affect a search for these targets."""
    assumed = _assumed(graph)
    names = graph.plan.needed(targets, assumed).difference(assumed)
    return {name: value for name, value in inputs.items() if name in names}


def _busiest_at(
    graph: ModelGraph, inputs: Mapping[str, Amount], names: tuple[str, ...], targets: list[str]
) -> Callable[[Amount], FloatArray]:
    """Largest load of a station relative to what it can sustain, by the network's throughput."""

    def busiest(throughput: Amount) -> FloatArray:
        given = {**inputs, **dict.fromkeys(_assumed(graph), throughput)}
        values = graph.plan.run(given, targets)
        stations = {name: station_at(name).of(values) for name in names}
        shares = (values[f"{n}.arrival_rate"] / s.capacity for n, s in stations.items())
        return reduce(np.maximum, (np.asarray(share, float) for share in shares))

    return busiest
