"""Percentiles of a response time that is the sum of a station's time and constant times."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.models.language.formula import Name, Operation, Tree
from headway.models.solving.response_times.feed_forward import Finding, row_of
from headway.models.solving.response_times.visited import visited_station
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import station_at
from headway.models.structure.planning.ways import shares
from headway.queueing.sojourn.feed_forward import FeedForwardNetwork
from headway.queueing.stations.rows import in_a_row
from headway.queueing.times.laws import TimeLaw, constant, in_series

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution
    from headway.models.structure.model import Model

_RESPONSE = ".response_time"


@dataclass(frozen=True)
class SumOfTimes:
    """A response time that is one visit to a station, plus constant times.

    Parameters
    ----------
    station
        Its name.
    constants
        Parameters, each a time that every job takes.
    """

    station: str
    constants: tuple[str, ...]


def sum_of_times(graph: ModelGraph) -> SumOfTimes | None:
    """The terms of the formula for a graph's response time; None if it is not such a sum.

    A station shared by all jobs present does not count: its formula assumes order of arrival.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> sum_of_times(catalogue_model("server-single").graph)
    SumOfTimes(station='node', constants=('delay',))
    >>> sum_of_times(catalogue_model("server-cache").graph) is None
    True
    """
    names = _terms(graph.outputs["response_time"].tree) or []
    visited = [n.removesuffix(_RESPONSE) for n in names if n.endswith(_RESPONSE)]
    constants = tuple(n for n in names if n in graph.parameters)
    if len(visited) != 1 or visited[0] not in graph.stations or len(names) != len(constants) + 1:
        return None
    return None if shares(graph, visited[0]) else SumOfTimes(visited[0], constants)


def sum_of_times_in(model: "Model") -> SumOfTimes | None:
    """The terms of a model's formula for the response time, also of a closed model.

    Parameters
    ----------
    model
        Any model; None with several classes, or without a formula for the response time.
    """
    graph = model.graph
    formula = "response_time" in graph.outputs and not graph.classes
    return sum_of_times(graph) if formula and not model.network.is_closed else None


def _terms(tree: Tree) -> list[str] | None:
    """The names in a sum; None if it is not a sum of names."""
    if isinstance(tree, Name):
        return [tree.name]
    if not isinstance(tree, Operation) or tree.symbol != "+":
        return None
    left, right = _terms(tree.left), _terms(tree.right)
    return None if left is None or right is None else left + right


def sum_law(point: "Solution", parts: SumOfTimes) -> TimeLaw:
    """Its distribution at a point, below saturation.

    Raises
    ------
    GraphError
        For a station whose distribution is unknown.
    """
    rate = point.values[f"{parts.station}.arrival_rate"]
    law = visited_station(point, parts.station).time_law(rate)
    return in_series(constant(float(_constant(point, parts))), law)


def sum_percentiles(
    solution: "Solution", parts: SumOfTimes, share: float, stable: NDArray[np.bool_], find: Finding
) -> FloatArray:
    """Times within which a share of the jobs completes, at all points; like `forward`'s."""
    points = np.flatnonzero(stable)

    def row(value: Amount) -> FloatArray:
        return row_of(solution, value)[points]

    station = in_a_row(station_at(parts.station).of(solution.values), row)
    rates = row(solution.values[f"{parts.station}.arrival_rate"])[None]
    times = np.full(stable.size, np.inf)
    waiting = find(FeedForwardNetwork((station,), rates, np.ones_like(rates), {}), share)
    times[points] = waiting + row(_constant(solution, parts))
    return times


def _constant(solution: "Solution", parts: SumOfTimes) -> Amount:
    return sum((solution.values[name] for name in parts.constants), 0.0)
