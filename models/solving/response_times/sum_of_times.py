"""Percentiles of a response time that is the sum of a station's time and constant times."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.models.language.formula import Name, Operation, Tree
from headway.models.solving.response_times.feed_forward import Finding, row_of
from headway.models.solving.response_times.open_sharing import visit_law
from headway.models.solving.response_times.visited import visited_station
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import station_at
from headway.models.structure.parts.routes import Routes
from headway.models.structure.planning.ways import shares
from headway.queueing.sojourn.feed_forward import FeedForwardNetwork
from headway.queueing.stations.rows import in_a_row
from headway.queueing.times.laws import TimeLaw, constant, in_series
from headway.records import dataclass

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
        The station's name.
    constants
        Names of times that every job takes: parameters, and response times of delays. Their
        formulas may depend on the load.
    """

    station: str
    constants: tuple[str, ...]


def sum_of_times(graph: ModelGraph) -> SumOfTimes | None:
    """The terms of the formula for a graph's response time; None if it is not such a sum.

    A product of names is not such a term: it leaves open whether a share of the jobs takes that
    time, or every job takes a share of it. A delay is clear: every job takes all of its time.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> sum_of_times(catalogue_model("server-single").graph)
    SumOfTimes(station='node', constants=('delay',))
    >>> sum_of_times(catalogue_model("server-contention").graph)
    SumOfTimes(station='node', constants=('network.response_time',))
    >>> sum_of_times(catalogue_model("server-cache").graph) is None
    True
    """
    names = _terms(graph.outputs["response_time"].tree) or []
    visited = [n.removesuffix(_RESPONSE) for n in names if n.endswith(_RESPONSE)]
    if not {*visited} <= graph.stations.keys():
        return None
    random = [name for name in visited if graph.stations[name].can.limits]
    constants = tuple(n for n in names if n.removesuffix(_RESPONSE) not in random)
    times = {*graph.parameters, *(name + _RESPONSE for name in visited)}
    return SumOfTimes(random[0], constants) if len(random) == 1 and times >= {*constants} else None


def sum_of_times_in(model: "Model") -> SumOfTimes | None:
    """The terms of a model's formula for the response time, also of a closed model.

    Parameters
    ----------
    model
        Any model; None with several classes, or without a formula for the response time.
    """
    graph = model.graph
    if "response_time" not in graph.outputs or graph.classes:
        return None
    parts = sum_of_times(graph)
    is_alone = parts is not None and not graph.stations[parts.station].visits
    return parts if is_alone or not model.network.is_closed else None


def _terms(tree: Tree) -> list[str] | None:
    """The names in a sum; None if it is not a sum of names."""
    if isinstance(tree, Name):
        return [tree.name]
    if not isinstance(tree, Operation) or tree.symbol != "+":
        return None
    left, right = _terms(tree.left), _terms(tree.right)
    return None if left is None or right is None else left + right


def sum_law(point: "Solution", parts: SumOfTimes) -> TimeLaw:
    """Law of the response time at an operating point below saturation.

    Raises
    ------
    GraphError
        For a station whose distribution is unknown.
    """
    rate = point.values[f"{parts.station}.arrival_rate"]
    if shares(point.model.network.graph, parts.station):
        law = visit_law(point, parts.station)
    else:
        law = visited_station(point, parts.station).time_law(rate)
    return in_series(constant(float(_constant(point, parts))), law)


def closed_alone(point: "Solution", parts: SumOfTimes) -> "tuple[float, Model]":
    """Constant times of a closed model [s], and the model of its only other station.

    In a product form the other stations notice no more of a delay than its mean number of jobs, so
    the station sees the same jobs if the constant times are added to the think time.
    """
    model, constant_time = point.model, float(_constant(point, parts))
    graph = model.graph
    alone = replace(
        graph,
        stations={parts.station: graph.stations[parts.station]},
        routes=Routes(),
        arrivals={},
        outputs={name: read for name, read in graph.outputs.items() if name != "response_time"},
    )
    think_time = float(np.ravel(model.inputs["think_time"])[0]) + constant_time
    return constant_time, replace(model, graph=alone).at(think_time=think_time)


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
