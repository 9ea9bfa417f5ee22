"""Closed networks: a population circulates, and thinks between a reply and the next request."""

from typing import TYPE_CHECKING

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Amount
from headway.models.solving.closed.circulation import AGREEMENT, PARTS, Circulation
from headway.models.solving.closed.consistent import consistent_throughput
from headway.models.solving.solutions.marks import Marks, method_shown
from headway.models.solving.solutions.saturation import RATES, depends_on_load
from headway.models.structure.parts.keys import VISITS, Amounts, station_at
from headway.numerals import significant
from headway.queueing.methods.registry import method_named

if TYPE_CHECKING:
    from headway.models.structure.graph import ModelGraph
    from headway.models.structure.model import Model


def closed_values(model: "Model", method: str, shape: tuple[int, ...]) -> tuple[Amounts, Marks]:
    """Solve a closed network at every operating point.

    If visits or service times depend on the throughput, headway searches for the throughput that
    the network results in when it is assumed, and checks the answer.

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
    The model's inputs and every calculated number by name, with its marks.

    Raises
    ------
    InvalidParameter
        If no throughput is consistent because some number of the model jumps.
    """
    circulation = Circulation(model.graph, model.inputs, method)
    searched = depends_on_throughput(model.graph)
    rate = consistent_throughput(circulation, shape) if searched else 1.0
    solution, beyond = circulation.solve(rate)
    if searched:
        _check_agreement(rate, solution.throughput)
    values = {**model.inputs, "throughput": solution.throughput}
    values["arrival_rate"] = solution.throughput
    values["response_time"] = solution.response_time + beyond
    values |= circulation.station_values(solution)
    targets = [
        *model.graph.outputs,
        *(station_at(name) for name in model.graph.stations),
        VISITS,
    ]
    values = model.graph.plan.run(values, targets)
    used = solution.method
    shown = method_shown(used, solution.approximation)
    return values, Marks(
        shown, solution.approximation, is_quick=method_named(used).quick, again=str(used)
    )


def depends_on_throughput(graph: "ModelGraph") -> bool:
    """Whether stations, or a formula for the response time outside of them, use the throughput."""
    if depends_on_load(graph):
        return True
    if "response_time" not in graph.outputs:
        return False
    known = [f"{name}.{part}" for name in graph.stations for part in PARTS]
    return not graph.plan.needed(["response_time"], known).isdisjoint(RATES)


def _check_agreement(assumed: Amount, given_back: Amount) -> None:
    rate, result = np.asarray(assumed, float), np.asarray(given_back, float)
    flows = result > 0
    misses = np.where(flows, np.abs(rate / np.where(flows, result, 1.0) - 1), rate != 0)
    missed = float(misses.max())
    if not missed <= AGREEMENT:
        msg = (
            "no throughput is consistent with the numbers that depend on it (it misses by "
            f"{significant(missed, 2)}): a number of the model "
            "jumps with the load; make it continuous"
        )
        raise InvalidParameter(msg)
