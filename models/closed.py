"""The same graph closed: a population circulates, and waits between answer and next request."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.roots import first_crossing
from headway.models.saturation import depends_on_load
from headway.queueing.bounds import Bounds, network_bounds
from headway.queueing.centres import Method
from headway.queueing.closed import ClosedSolution, solve_closed

if TYPE_CHECKING:
    from headway.models.model import Model
    from headway.models.solution import Solution

AGREEMENT = 1e-9
"""How well assumed and resulting throughput have to agree, relative."""


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
    if depends_on_load(model.graph):
        rate = _consistent_throughput(circulate, shape, model.inputs["population"])
    solution = circulate(rate)
    values = {**model.inputs, "throughput": solution.throughput}
    values["arrival_rate"] = solution.throughput
    values["response_time"] = solution.response_time
    for position, name in enumerate(model.graph.stations):
        values[f"{name}.arrival_rate"] = solution.station_throughput[position]
        values[f"{name}.throughput"] = solution.station_throughput[position]
        values[f"{name}.utilisation"] = solution.utilisation[position]
        values[f"{name}.response_time"] = solution.station_response_time[position]
        values[f"{name}.residence_time"] = solution.residence_time[position]
        values[f"{name}.queue_length"] = solution.queue_length[position]
    targets = [
        *model.graph.outputs,
        *(f"station {name}" for name in model.graph.stations),
        "visits",
    ]
    values = model.graph.plan.run(values, targets)
    return values | {"method": solution.method.value, "approximation": solution.approximation}


def _circulation(model: "Model", method: Method) -> Callable[[Any], ClosedSolution]:
    """Give the closed solution as a function of the throughput that its parts assume."""
    graph, inputs = model.graph, model.inputs
    targets = ["visits", *(f"station {name}" for name in graph.stations)]

    def circulate(throughput: Any) -> ClosedSolution:
        given = {**inputs, "throughput": throughput, "arrival_rate": throughput}
        values = graph.plan.run(given, targets)
        stations = [values[f"station {name}"] for name in graph.stations]
        visits = [values["visits"][name] for name in graph.stations]
        return solve_closed(stations, visits, inputs["population"], inputs["think_time"], method)

    return circulate


def _consistent_throughput(
    circulate: Callable[[Any], ClosedSolution], shape: tuple[int, ...], population: Any
) -> FloatArray:
    """Find the smallest throughput that the network gives back when it is assumed.

    At none assumed something flows; at more than the network can carry less comes back than
    was assumed. In between, as everything is continuous, there is a first one that agrees.
    """
    nobody = np.broadcast_to(np.asarray(population) == 0, shape)

    def share(rate: FloatArray) -> FloatArray:
        given_back = np.asarray(circulate(rate).throughput, float)
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
    return network_bounds(stations, visits, inputs["population"], inputs["think_time"])
