"""Solve models with blocking and regions at every operating point."""

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import InvalidParameter, Saturated
from headway.kinds import Amount, FloatArray, plain
from headway.models.solving.blocking.refused import check_solvable
from headway.models.solving.solutions.blocked import OperatingPoint, point_of, points_of
from headway.models.solving.solutions.marks import Marks
from headway.models.structure.parts.keys import (
    ANSWERED,
    VISITS,
    Amounts,
    station_at,
)
from headway.models.structure.parts.regions import REGION_FULL, REGION_PARTS
from headway.queueing.blocking.answers import BlockingSolution, WindowAnswer
from headway.queueing.blocking.methods import network_that_blocks
from headway.queueing.blocking.solve_blocking import (
    window_limits,
)
from headway.queueing.methods.solve import solve
from headway.queueing.network.blocking import BlockingNetwork

if TYPE_CHECKING:
    from headway.models.structure.model import Model


def blocking_values(model: "Model", method: str, shape: tuple[int, ...]) -> tuple[Amounts, Marks]:
    """Solve a network that blocks, point by point.

    Parameters
    ----------
    model
        Open, or with parameters ``population`` and ``think_time``.
    method
        ``auto``, ``exact`` to refuse what its Markov chain cannot solve, or a method by name.
    shape
        Shape of the operating points.

    Returns
    -------
    The model's inputs and every calculated number by name, with its marks.

    Raises
    ------
    GraphError, InvalidParameter
        For models that headway cannot solve, with the reason.
    """
    check_solvable(model.graph)
    rows = [_solved(model, each, method) for each in points_of(model.inputs, shape)]
    values = {**model.inputs, **_over_points([row[0] for row in rows], shape)}
    graph = model.graph
    closed = "response_time" in graph.outputs and model.is_closed
    if closed:
        msg = (
            f"{graph.name}: a formula for response_time has no meaning in a network that blocks; "
            "delete it"
        )
        raise InvalidParameter(msg)
    if "response_time" in graph.outputs:
        del values["response_time"]
    values = graph.plan.run(
        values, [*graph.outputs, *(station_at(name) for name in graph.stations), VISITS]
    )
    notes = dict.fromkeys(row[1].approximation for row in rows if row[1].approximation)
    methods = dict.fromkeys(row[1].method for row in rows)
    full = np.array([row[2] for row in rows]).reshape(shape)
    return values, Marks(", ".join(methods), "; ".join(notes), full, is_quick=False)


def _solved(
    model: "Model", inputs: Mapping[str, Amount], method: str
) -> tuple[Amounts, BlockingSolution, bool]:
    """Values of a point, its solution, and whether it is saturated."""
    point = point_of(model.graph, inputs)
    try:
        network = network_that_blocks(point.network, point.stations)
        solution, full = solve(network, method).blocking, False
    except Saturated:
        solution, full = _saturated(point), True
    return _values(model, point, solution), solution, full


def _saturated(point: OperatingPoint) -> BlockingSolution:
    """The values of an open network in overload, where queues grow without limit."""
    network = point.network
    rates = network.arrival_rate * network.visits
    busy = [float(s.utilisation(float(r))) for s, r in zip(point.stations, rates, strict=True)]
    endless = np.full(len(rates), inf)
    windows = tuple(
        WindowAnswer(network.arrival_rate * network.entries(w), 1.0, 1.0, inf, inf)
        for w in network.windows
    )
    return BlockingSolution(
        network.arrival_rate, inf, rates, np.array(busy), 0 * rates, endless, windows=windows
    )


def _values(model: "Model", point: OperatingPoint, solution: BlockingSolution) -> Amounts:
    """The results, by the names that formulas use."""
    graph, network = model.graph, point.network
    offered = solution.throughput if network.closed else network.arrival_rate
    values: Amounts = {"throughput": offered, "response_time": solution.response_time}
    if network.closed:
        values["arrival_rate"] = offered
    elif any(room.finite for room in network.rooms):
        values |= {ANSWERED: solution.throughput, "loss_probability": solution.loss_probability}
    columns = {
        "throughput": solution.station_throughput,
        "arrival_rate": solution.station_throughput,
        "visits": _per_job(solution.station_throughput, solution, network),
        "utilisation": solution.utilisation,
        "blocked": solution.blocked,
        "call_blocking": _known(solution),
        "queue_length": solution.queue_length,
        "response_time": _times(solution, point),
    }
    for part, column in columns.items():
        values |= {f"{name}.{part}": float(column[k]) for k, name in enumerate(graph.stations)}
    for k, (name, station) in enumerate(zip(graph.stations, point.stations, strict=True)):
        values[f"{name}.residence_time"] = _product(
            values[f"{name}.visits"], values[f"{name}.response_time"]
        )
        stay = columns["response_time"][k]
        values[f"{name}.waiting_time"] = max(float(stay) - station.mean_service, 0.0)
    for name, answer in zip(graph.regions, solution.windows, strict=True):
        values |= {f"{name}.{part}": getattr(answer, part) for part in REGION_PARTS}
    most = window_limits(network, point.stations)
    for name, window, rate in zip(graph.regions, network.windows, most, strict=True):
        values |= {f"{name}.limit": window.limit, REGION_FULL.format(name): rate}
    return values


def _product(visits: Amount, time: Amount) -> float:
    return float(visits * time) if visits else 0.0


def _known(solution: BlockingSolution) -> FloatArray:
    """Probability at each station of finding no place; NaN where it is unknown."""
    known = solution.call_blocking
    return np.full(len(solution.blocked), np.nan) if known is None else known


def _per_job(
    through: FloatArray, solution: BlockingSolution, network: BlockingNetwork
) -> FloatArray:
    """Visits of a job that completes."""
    return through / solution.throughput if solution.throughput else network.visits


def _times(solution: BlockingSolution, point: OperatingPoint) -> FloatArray:
    """Mean time of a visit; that of a lone job if no job arrives."""
    through = solution.station_throughput
    alone = np.array([station.mean_service for station in point.stations])
    return np.where(through > 0, solution.queue_length / np.where(through > 0, through, 1.0), alone)


def _over_points(rows: list[Amounts], shape: tuple[int, ...]) -> Amounts:
    """Values by name over all operating points."""
    if not rows:
        return {}
    return {
        name: plain(np.array([row[name] for row in rows], float).reshape(shape)) for name in rows[0]
    }
