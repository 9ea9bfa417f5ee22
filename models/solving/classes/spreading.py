"""Open classes through which the variability of arrivals is propagated."""

import numpy as np

from headway.kinds import check_not_negative
from headway.models.solving.classes.network import class_network
from headway.models.solving.classes.results import stations_by_class, system_by_class
from headway.models.solving.solutions.marks import QNA, Marks
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import Amounts, Values, of_class
from headway.models.structure.planning.by_class import chain_targets, class_routes
from headway.queueing.chains.two_moments import TwoMomentSolution, approximation, solve_spread


def spread_values(model: Model) -> tuple[Amounts, Marks]:
    """Solve a network of open classes by two moments at every operating point.

    Parameters
    ----------
    model
        A model whose graph has several open classes, some of which give an scv of arrivals.

    Returns
    -------
    Values as those of `headway.models.solving.classes.class_values`, with the variability of the
    arrivals and departures of each station.

    Raises
    ------
    GraphError
        For kinds of station or formulas that classes do not allow.
    InvalidParameter
        For an scv that is negative or not finite.
    """
    graph = model.graph
    values, stations, classes = class_network(model, chain_targets(graph))
    scvs = [values.get(of_class(name, "arrival_scv"), 1.0) for name in graph.classes]
    for name, scv in zip(graph.classes, scvs, strict=True):
        check_not_negative(f"arrival_scv of class {name}", scv)
    solution = solve_spread(stations, classes, class_routes(graph, values), scvs)
    values |= system_by_class(graph, solution.classes) | stations_by_class(graph, solution.classes)
    for k, name in enumerate(graph.stations):
        values[f"{name}.arrival_scv"] = solution.arrival_scv[k]
        values[f"{name}.departure_scv"] = solution.departure_scv[k]
    note = _doubts(model, values, solution)
    values = graph.plan.run(values, list(graph.outputs))
    return values, Marks(QNA, note, solution.classes.saturated, solution.classes.overload)


def _doubts(model: Model, values: Values, solution: TwoMomentSolution) -> str:
    """Notes on what is approximate."""
    if solution.exact:
        return ""
    names = tuple(model.graph.stations)
    busy = max(float(np.max(values[f"{name}.utilisation"])) for name in names)
    return approximation(busy)
