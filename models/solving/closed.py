"""The same graph closed: a population circulates, and waits between answer and next request."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray
from headway.models.solving.roots import first_crossing
from headway.models.solving.saturation import RATES, depends_on_load
from headway.queueing.bounds import Bounds, network_bounds
from headway.queueing.closed.demands import Method
from headway.queueing.closed.solve import ClosedSolution, solve_closed
from headway.queueing.stations.base import Delay

if TYPE_CHECKING:
    from headway.models.solving.solution import Solution
    from headway.models.structure.graph import ModelGraph
    from headway.models.structure.model import Model

AGREEMENT = 1e-9
"""How well assumed and resulting throughput have to agree, relative."""

_ROUNDING = 1e-12  # what sums of times may lose, relative: a few of a double's last digits


def closed_values(model: "Model", method: str, shape: tuple[int, ...]) -> dict[str, Any]:
    """Solve a closed network at every operating point.

    Where visits or service times depend on the throughput, that throughput is looked for
    which the network gives back when it is assumed; the answer is checked.

    Parameters
    ----------
    model
        With parameters ``population`` and ``think_time``.
    method
        See `headway.queueing.Method`.
    shape
        Shape of the operating points.

    Returns
    -------
    The model's inputs and every calculated number by name; ``method`` and
    ``approximation`` as text.

    Raises
    ------
    InvalidParameter
        Where no throughput gives itself back, because the model jumps.
    """
    circulate = _circulation(model, Method(method))
    rate: Any = 1.0
    if depends_on_load(model.graph) or _beyond_depends_on_load(model.graph):
        rate = _consistent_throughput(circulate, shape, model.inputs["population"])
    solution, beyond = circulate(rate)
    values = {**model.inputs, "throughput": solution.throughput}
    values["arrival_rate"] = solution.throughput
    values["response_time"] = solution.response_time + beyond
    values |= _station_values(model.graph, solution)
    targets = [
        *model.graph.outputs,
        *(f"station {name}" for name in model.graph.stations),
        "visits",
    ]
    values = model.graph.plan.run(values, targets)
    return values | {"method": solution.method.value, "approximation": solution.approximation}


MOST_CONSISTENT = 200_000
"""Jobs of a network whose numbers depend on its throughput; each search solves it some 30 times."""

Circulation = Callable[[Any], tuple[ClosedSolution, Any]]
"""From an assumed throughput to the solution, and a job's time beyond its stations [s]."""


_PARTS = {
    "arrival_rate": "station_throughput",
    "throughput": "station_throughput",
    "utilisation": "utilisation",
    "response_time": "station_response_time",
    "residence_time": "residence_time",
    "queue_length": "queue_length",
}  # of a station, by what the closed solution calls it


def _station_values(graph: "ModelGraph", solution: ClosedSolution) -> dict[str, Any]:
    return {
        f"{name}.{part}": getattr(solution, attribute)[position]
        for position, name in enumerate(graph.stations)
        for part, attribute in _PARTS.items()
    }


def _beyond_depends_on_load(graph: "ModelGraph") -> bool:
    """Whether a response time that a formula gives uses the throughput beside its stations'."""
    if "response_time" not in graph.outputs:
        return False
    known = [f"{name}.{part}" for name in graph.stations for part in _PARTS]
    return not graph.plan.needed(["response_time"], known).isdisjoint(RATES)


def _circulation(model: "Model", method: Method) -> Circulation:
    """Give the closed solution as a function of the throughput that its parts assume."""
    graph, inputs = model.graph, model.inputs
    targets = ["visits", *(f"station {name}" for name in graph.stations)]

    def circulate(throughput: Any) -> tuple[ClosedSolution, Any]:
        given = {**inputs, **dict.fromkeys(RATES, throughput)}
        values = graph.plan.run(given, targets)
        stations = [values[f"station {name}"] for name in graph.stations]
        visits = [values["visits"][name] for name in graph.stations]
        solve = partial(solve_closed, stations, visits, inputs["population"], method=method)
        if "response_time" not in graph.outputs:
            return solve(inputs["think_time"]), 0.0
        beyond = _beyond(model, throughput, _unhindered(graph, values, throughput))
        if np.all(beyond >= 0):
            solution = solve(inputs["think_time"] + beyond)
            again = _beyond(model, throughput, _station_values(graph, solution))
            rounding = _ROUNDING * np.asarray(solution.response_time + beyond)
            if np.all(np.abs(again - beyond) <= AGREEMENT * beyond + rounding):
                return solution, beyond
        raise _not_known_where(model)

    return circulate


def _unhindered(graph: "ModelGraph", values: Mapping[str, Any], rate: Any) -> dict[str, Any]:
    """Numbers of stations at which nobody waits."""
    found: dict[str, Any] = {}
    for name in graph.stations:
        visits, time = values["visits"][name], values[f"station {name}"].service_time
        each = (visits * rate, visits * rate, rate * 0, time, visits * time, rate * 0)
        found |= {f"{name}.{part}": value for part, value in zip(_PARTS, each, strict=True)}
    return found


def _beyond(model: "Model", throughput: Any, stations: Mapping[str, Any]) -> Any:
    """What a formula for the response time adds to the time at stations [s]."""
    graph = model.graph
    given = {**model.inputs, **dict.fromkeys(RATES, throughput), **stations}
    total = graph.plan.run(given, ["response_time"])["response_time"]
    more = np.asarray(total - sum(stations[f"{n}.residence_time"] for n in graph.stations), float)
    return np.where(np.abs(more) <= _ROUNDING * np.abs(total), 0.0, more)


def _not_known_where(model: "Model") -> GraphError:
    """Refuse a response time that is no sum of the time at stations and of a time beside it."""
    return GraphError(
        f"{model.name} cannot be closed: its formula for response_time is not the time at its "
        "stations and some time beside it, so where its jobs are is not known"
    )


def _consistent_throughput(
    circulate: Circulation, shape: tuple[int, ...], population: Any
) -> FloatArray:
    """Find the smallest throughput that the network gives back when it is assumed.

    At none assumed something flows; at more than the network can carry less comes back than
    was assumed. In between, as everything is continuous, there is a first one that agrees.
    """
    most = float(np.max(np.asarray(population)))
    if most > MOST_CONSISTENT:
        msg = (
            f"population is {most:g}; a network whose numbers depend on its throughput is solved "
            f"many times, for {MOST_CONSISTENT} jobs at most"
        )
        raise InvalidParameter(msg)
    nobody = np.broadcast_to(np.asarray(population) == 0, shape)

    def share(rate: FloatArray) -> FloatArray:
        given_back = np.asarray(circulate(rate)[0].throughput, float)
        return np.where(nobody, rate, rate / np.where(given_back > 0, given_back, np.inf))

    rate = first_crossing(share, shape)
    missed = float(np.abs(np.where(nobody, 0.0, share(rate) - 1)).max())
    if not missed <= AGREEMENT:
        msg = (
            f"no throughput gives itself back (it misses by {missed:.2g}): a number of the model "
            "jumps with the load; make it continuous"
        )
        raise InvalidParameter(msg)
    return np.where(nobody, 0.0, rate)


def bounds(solution: "Solution") -> dict[str, Bounds]:
    """Bounds on a closed solution's throughput and response time, by method."""
    inputs = solution.model.network.inputs
    if np.any(np.asarray(inputs["population"]) < 1):
        return {}
    stations = [solution.values[f"station {name}"] for name in solution.stations]
    visits = [solution.values["visits"][name] for name in solution.stations]
    if np.any(np.asarray(solution.beyond_stations) > 0):
        stations, visits = [*stations, Delay(solution.beyond_stations)], [*visits, 1.0]
    return network_bounds(stations, visits, inputs["population"], inputs["think_time"])
