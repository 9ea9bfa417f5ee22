"""Throughput of the whole network at which each station would be full."""

import math

import numpy as np

from headway.errors import GraphError
from headway.models.solving.solutions.saturation import first_full
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.parts.keys import offered_at, station_at
from headway.models.structure.parts.regions import REGION_FULL


def station_limits(solution: Solution) -> dict[str, float]:
    """The network's throughput that would fill each station and region if others were faster.

    If visits or service times depend on the load, this is the lowest such throughput. With several
    classes, all grow in proportion.

    Parameters
    ----------
    solution
        A solution at one operating point.

    Returns
    -------
    Throughput by station [1/s]; infinite for a station that is never full; empty for a program.

    Raises
    ------
    GraphError
        With closed classes, whose proportions change with the load.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> raid = catalogue_model("nfs-server").with_preset("raid").solve(800)
    >>> {name: round(limit, 1) for name, limit in station_limits(raid).items()}
    {'network': inf, 'cpu': 1538.5, 'disks': 2845.3}
    """
    if solution.shared:
        return _limits_of_mix(solution)
    limits = {name: _limit(solution, name) for name in solution.stations}
    full = {name: solution[REGION_FULL.format(name)] for name in solution.model.graph.regions}
    return limits | {name: float(np.ravel(rate)[0]) for name, rate in full.items()}


def _limits_of_mix(solution: Solution) -> dict[str, float]:
    closed = [name for name, c in solution.model.graph.classes.items() if "population" in c]
    if closed:
        msg = (
            f"{solution.model.name}: a station's limit depends on the mix of classes, which "
            f"changes with the load because {closed[0]} is closed; solve it at several populations"
        )
        raise GraphError(msg)
    through = float(solution.throughput)
    busy = {name: solution[f"{name}.utilisation"] for name in solution.stations}
    full = {name: float(solution.values.get(offered_at(name), busy[name])) for name in busy}
    return {name: through / share if share > 0 else math.inf for name, share in full.items()}


def _limit(solution: Solution, name: str) -> float:
    capacity = float(np.ravel(station_at(name).of(solution.values).capacity)[0])
    if not math.isfinite(capacity):
        return math.inf
    network = solution.model.network
    return float(np.ravel(first_full(network.graph, network.inputs, (name,)))[0])
