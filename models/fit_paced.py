"""Closed networks against a curve of throughput: each point's think time is not known.

A load generator of N processes paces itself: it thinks until the load asked for is reached.
So the throughput X of a point is measured and its think time follows. By Schweitzer's
approximation the stations of a closed network at throughput X are those of an open one whose
queues are seen by (N - 1)/N of the load; the think time is Z = N/X - R. Where none is left
the point lies on the branch that bends back, and R = N/X.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.errors import GraphError, HeadwayError
from headway.kinds import FloatArray
from headway.models.fit_evaluate import Evaluator, differences
from headway.models.model import Model
from headway.queueing.dependent import Parallel
from headway.queueing.stations import MM1, Delay, MMm, Station

ALIKE = 0.1
"""How well throughput times response time agrees along a branch that bends back."""


def bent(throughput: FloatArray, response_time: FloatArray) -> Any:
    """Which points lie on a branch that bends back: slower, yet less gets through.

    There X R stays near its largest value, the number of requests that circulate.

    Parameters
    ----------
    throughput, response_time
        Points of a curve [1/s] and [s].

    Returns
    -------
    A mark a point; none is set where the curve does not bend back.

    Examples
    --------
    >>> rate = np.array([100.0, 200.0, 300.0, 310.0, 280.0])
    >>> bent(rate, np.array([0.01, 0.012, 0.05, 0.1, 0.11])).tolist()
    [False, False, False, True, True]
    """
    product = throughput * response_time
    most = product.max()
    full = product >= (1 - ALIKE) * most
    beaten = [
        bool(np.any((throughput > x) & (response_time < r)))
        for x, r in zip(throughput, response_time, strict=True)
    ]
    back = np.array(beaten) & full
    return full if back.any() and full.sum() > 1 else np.zeros(throughput.shape, bool)


def paced_response(
    values: Mapping[str, Any], model: Model, throughput: FloatArray, full: Any
) -> FloatArray:
    """Response time of a closed network at given throughputs [s].

    Parameters
    ----------
    values
        SI value of every parameter, `population` not necessarily whole.
    model
        Its graph holds stations of a closed product form.
    throughput
        Delivered at each point [1/s].
    full
        Points at which nobody thinks: R = N/X by Little's law.
    """
    jobs = float(np.mean(values["population"]))
    given = {**values, "throughput": throughput, "arrival_rate": throughput}
    names = list(model.graph.stations)
    found = model.graph.plan.run(given, ["visits", *(f"station {name}" for name in names)])
    seen = max(jobs - 1, 0.0) / jobs
    parts = [
        _residence(found[f"station {name}"], found["visits"][name], throughput, seen)
        for name in names
    ]
    response = sum(parts, np.zeros(throughput.shape))
    limit = jobs / throughput
    return np.where(full, limit, np.where(response <= limit, response, np.inf))


def _residence(station: Station, visits: Any, throughput: FloatArray, seen: float) -> FloatArray:
    """V R of one station; m servers by Seidmann as a delay and one that is m times as fast."""
    if not isinstance(station, Delay | MM1 | Parallel | MMm):
        msg = f"{type(station).__name__} cannot be paced; use Delay, MM1, MMm or Parallel"
        raise GraphError(msg)
    time: Any = station.service_time
    if isinstance(station, Delay):
        return np.asarray(visits * time + 0 * throughput)
    servers: Any = station.count
    busy = visits * time * throughput / servers * seen
    stretched = np.where(busy < 1, 1 / np.where(busy < 1, 1 - busy, 1.0), np.inf)
    if isinstance(station, MMm):
        return np.asarray(visits * (time * (servers - 1) / servers + time / servers * stretched))
    return np.asarray(visits * time * stretched)


def paced_evaluator(model: Model, rate: FloatArray, full: Any) -> Evaluator:
    """Make predictions of a closed model from the throughput that was delivered."""

    def predict(values: Mapping[str, Any]) -> FloatArray:
        try:
            return paced_response(values, model, rate, full)
        except HeadwayError:
            return np.full(rate.shape, np.inf)

    return Evaluator(predict, differences(predict), exact=False)


def paced_model(model: Model, throughput: FloatArray, full: Any) -> Model:
    """The model at measured points: its think times those that give these throughputs."""
    jobs = float(model.inputs["population"])
    response = paced_response(model.inputs, model, throughput, full)
    return model.at(think_time=np.maximum(jobs / throughput - response, 0.0))
