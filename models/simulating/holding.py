"""Blocking for a simulation: stations that block when full, and regions with a limit."""

import numpy as np

from headway.kinds import check_count
from headway.models.simulating.plan import SimulatedRegion
from headway.models.solving.blocking.refused import check_formulas, unsolved
from headway.models.structure.model import Model
from headway.models.structure.planning.components import named


def regions_of(model: Model) -> tuple[SimulatedRegion, ...]:
    """Read the regions of a model, after checking that its blocking can be simulated.

    Parameters
    ----------
    model
        At one operating point; a model without blocking passes.

    Raises
    ------
    GraphError
        For formulas that use the throughput, and for deadlocks where a law predicts them; others
        are found during the simulation.
    """
    graph, stations = model.graph, list(model.graph.stations)
    if not graph.blocks:
        return ()
    from headway.models.solving.solutions.blocked import point_of

    check_formulas(graph)
    given = {name: float(np.ravel(value)[0]) for name, value in model.inputs.items()}
    if not unsolved(graph) and all(s.can.chained for s in graph.stations.values()):
        point_of(graph, given)
    limits = graph.plan.run(given, [f"{name}.limit" for name in graph.regions])
    regions = []
    for name, region in graph.regions.items():
        limit = float(limits[f"{name}.limit"])
        with named(name):
            check_count("limit", limit)
        members = tuple(map(stations.index, region.stations))
        regions.append(SimulatedRegion(name, members, int(limit)))
    return tuple(regions)
