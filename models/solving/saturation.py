"""The largest throughput a network sustains, also where its demands depend on the load."""

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from headway.kinds import FloatArray, plain
from headway.models.solving.roots import first_crossing
from headway.models.structure.graph import ModelGraph
from headway.queueing.stations.base import Station

RATES = ("throughput", "arrival_rate")
"""What formulas call the rate at which jobs come and go."""

_BLOCK = 4096  # operating points taken together, so that a grid of them fits into memory


def saturation_throughput(graph: ModelGraph, inputs: Mapping[str, Any]) -> Any:
    """Smallest throughput at which some station is always busy [1/s].

    Where nothing depends on the load this is min m/D; else the first throughput at which
    the busiest station's utilisation reaches 1.

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
    names = [name for name, station in graph.stations.items() if station.can.saturates]
    if not names:
        return math.inf
    targets = [t for name in names for t in (f"station {name}", f"{name}.arrival_rate")]
    busiest = _busiest_at(graph, inputs, names, targets)
    if not depends_on_load(graph):
        with np.errstate(divide="ignore"):
            return plain(1 / np.asarray(busiest(1.0), float))
    shape = np.broadcast_shapes(_shape_of(graph, inputs, targets), np.shape(busiest(1.0)))
    size = int(np.prod(shape))
    if size <= _BLOCK:
        return plain(first_crossing(busiest, shape))
    names = [n for n, v in inputs.items() if np.ndim(v)]
    flat = {n: np.broadcast_to(inputs[n], shape).ravel() for n in names}
    blocks = [
        saturation_throughput(
            graph, {**inputs, **{n: flat[n][start : start + _BLOCK] for n in names}}
        )
        for start in range(0, size, _BLOCK)
    ]
    return np.concatenate(blocks).reshape(shape)


def limit(station: Station, inputs: Mapping[str, Any]) -> Any:
    """Largest rate of visits that a station serves, of a closed model at its population [1/s]."""
    jobs = inputs.get("population")
    return station.capacity if jobs is None else station.fastest(jobs)


def depends_on_load(graph: ModelGraph) -> bool:
    """Tell whether visits or a station's own numbers use the throughput."""
    targets = ["visits", *(f"station {name}" for name in graph.stations)]
    return not graph.plan.needed(targets).isdisjoint(RATES)


def _shape_of(graph: ModelGraph, inputs: Mapping[str, Any], targets: list[str]) -> tuple[int, ...]:
    """Shape of the inputs that targets use; others give the answer none."""
    used = graph.plan.needed(targets).intersection(inputs)
    return np.broadcast_shapes(*(np.shape(inputs[name]) for name in used))


def _busiest_at(
    graph: ModelGraph, inputs: Mapping[str, Any], names: list[str], targets: list[str]
) -> Callable[[Any], FloatArray]:
    """Give the largest share of any station's capacity in use, by the network's throughput."""

    def busiest(throughput: Any) -> FloatArray:
        given = {**inputs, "throughput": throughput}
        if not graph.arrivals:
            given["arrival_rate"] = throughput
        values = graph.plan.run(given, targets)
        stations = {name: values[f"station {name}"] for name in names}
        shares = (values[f"{n}.arrival_rate"] / limit(s, inputs) for n, s in stations.items())
        return reduce(np.maximum, (np.asarray(share, float) for share in shares))

    return busiest
