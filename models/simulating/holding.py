"""Blocking for a simulation: stations that block when full, and regions with a limit."""

from collections.abc import Sequence
from math import inf, isfinite

import numpy as np

from headway.errors import GraphError
from headway.models.simulating.plan import SimulatedRegion, SimulatedStation
from headway.models.solving.blocking.refused import check_solvable
from headway.models.solving.solutions.blocked import point_of
from headway.models.structure.model import Model
from headway.queueing.network.blocking import Blocking, BlockingNetwork


def regions_of(model: Model, places: Sequence[SimulatedStation]) -> tuple[SimulatedRegion, ...]:
    """Read the regions of a model, after checking that its blocking can be simulated.

    Parameters
    ----------
    model
        At one operating point; a model without blocking passes.
    places
        Its stations.

    Raises
    ------
    GraphError
        For structures that networks with blocking do not support, for deadlocks, for stations that
        do not define which job keeps a server when jobs are blocked there, and for regions of
        several classes some of which are open.
    """
    graph = model.graph
    if not graph.blocks:
        return ()
    if graph.classes and graph.regions and not any(s.blocking for s in graph.stations.values()):
        return _regions_of_classes(model)
    check_solvable(graph)
    point = {name: float(np.ravel(value)[0]) for name, value in model.inputs.items()}
    network = point_of(graph, point).network
    for k in range(len(places)):
        _check_source(places, network, k)
    named = zip(graph.regions, network.windows, strict=True)
    return tuple(
        SimulatedRegion(name, window.stations, int(window.limit)) for name, window in named
    )


def _regions_of_classes(model: Model) -> tuple[SimulatedRegion, ...]:
    """The regions of closed classes: no law is known, so whether open ones are stable is not."""
    graph, stations = model.graph, list(model.graph.stations)
    open_ones = [name for name, keys in graph.classes.items() if "population" not in keys]
    forks = [name for name, station in graph.stations.items() if station.can.joins]
    if open_ones and not model.is_closed:
        msg = (
            f"{graph.name}: {next(iter(graph.regions))} blocks; headway simulates regions of "
            f"several classes only where all are closed, and class {open_ones[0]} is open"
        )
        raise GraphError(msg)
    if forks:
        msg = f"{graph.name}: headway cannot simulate regions with forks ({forks[0]})"
        raise GraphError(msg)
    given = {name: float(np.ravel(value)[0]) for name, value in model.inputs.items()}
    limits = graph.plan.run(given, [f"{name}.limit" for name in graph.regions])
    return tuple(
        SimulatedRegion(
            name, tuple(map(stations.index, region.stations)), round(float(limits[f"{name}.limit"]))
        )
        for name, region in graph.regions.items()
    )


def _check_source(places: Sequence[SimulatedStation], network: BlockingNetwork, k: int) -> None:
    """Refuse a station where blocked jobs would stay, unless it defines what they occupy."""
    targets = [places[j] for j in range(len(places)) if network.circulating[k, j] > 0 and j != k]
    full = [one for one in targets if one.blocking is not Blocking.LOST]
    if full and not _keeps_servers(places[k]):
        msg = (
            f"{places[k].name}: headway cannot simulate which job keeps a server there when "
            f"{full[0].name} blocks; use servers in order of arrival, or delays"
        )
        raise GraphError(msg)


def _keeps_servers(place: SimulatedStation) -> bool:
    """Whether each job has its own server until it leaves, or needs none."""
    serving = place.serving
    if serving.servers == inf and not serving.speeds:
        return True
    in_order = not (place.shared or place.by_turns)
    plain = not serving.speeds and serving.budget is None and isfinite(serving.servers)
    return in_order and plain
