"""Networks of several classes of jobs, open, closed or both."""

from headway.models.solving.classes.network import class_network
from headway.models.solving.classes.results import stations_by_class, system_by_class
from headway.models.solving.classes.ways import class_ways
from headway.models.solving.solutions.marks import Marks, method_shown
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import (
    Amounts,
)
from headway.models.structure.planning.by_class import class_routes
from headway.queueing.chains.solve_chains import solve_chains
from headway.queueing.classes.solve_classes import solve_multiclass
from headway.queueing.methods.registry import method_named
from headway.queueing.network.network import Saturation
from headway.queueing.network.result import Result


def class_values(model: Model, method: str) -> tuple[Amounts, Marks]:
    """Solve a network of several classes at every operating point.

    Parameters
    ----------
    model
        A model whose graph has classes.
    method
        How closed classes are solved, see `headway.queueing.Method`.

    Returns
    -------
    The model's inputs and every calculated number by name, of a class such as
    ``class web.throughput``, with marks. At saturated points, the response
    times of the affected classes are infinite, and their throughput is unknown (NaN).

    Raises
    ------
    GraphError
        For kinds of station or formulas that classes do not support.
    """
    graph = model.graph
    values, solution = class_solution(model, method)
    values |= system_by_class(graph, solution) | stations_by_class(graph, solution)
    values = graph.plan.run(values, list(graph.outputs))
    used = solution.method
    circulating = any("population" in each for each in graph.classes.values())
    method = method_shown(used, solution.approximation) if circulating else Marks.method
    marks = (method, solution.approximation, solution.saturated, solution.overload)
    return values, Marks(
        *marks, is_quick=method_named(used).quick and not circulating, again=str(used)
    )


def class_solution(model: Model, method: str) -> tuple[Amounts, Result]:
    """Solve a network of several classes, by station and class; see `class_values`.

    Returns
    -------
    The numbers used by name, and the solution, with stations and classes in the order
    of the graph's.
    """
    values, stations, classes = class_network(model)
    if model.graph.ways_by_class:
        routes = class_routes(model.graph, values)
        return values, solve_chains(stations, classes, routes, method, Saturation.MARK)
    ways = class_ways(model.graph, values)
    return values, solve_multiclass(stations, classes, method, Saturation.MARK, ways)
