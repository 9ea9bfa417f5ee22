"""Means of layered services: throughput, times and utilisation of clients, tasks and processors."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount
from headway.models.solving.solutions.marks import Marks
from headway.models.structure.layered import system_of
from headway.models.structure.parts.keys import Amounts
from headway.models.structure.parts.layers import Layers
from headway.queueing.layers.means import LayeredMeans
from headway.queueing.layers.methods.solve import solve_layers
from headway.queueing.layers.points import at
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.methods.registry import method_named

if TYPE_CHECKING:
    from headway.models.structure.model import Model


def layered_values(model: "Model", method: str, shape: tuple[int, ...]) -> tuple[Amounts, Marks]:
    """Solve a model of layered services.

    Parameters
    ----------
    model
        A model with processors, tasks and entries.
    method
        ``auto``, or a method by name.
    shape
        Shape of the operating points.

    Returns
    -------
    The model's inputs and every number by name, such as ``web.throughput`` of a task or
    ``page.response_time`` of an entry, with its marks.
    """
    system, values = system_of(model)
    means, used = solve_layers(system, method)
    assert model.graph.layers is not None  # noqa: S101 - there is a system
    values |= numbers_of(means, model.graph.layers)
    values = model.graph.plan.run(values, model.graph.outputs)
    saturated, overload = np.zeros(shape, bool), ""
    if means.system.is_open:
        outside = means.from_outside()
        saturated = np.broadcast_to(np.asarray(outside.busiest(), float), shape) >= 1
        overload = _overload(outside, saturated) if saturated.any() else ""
    quick = method_named(used).quick
    return values, Marks(used, means.approximation, saturated, overload, is_quick=quick)


def _overload(means: LayeredMeans, saturated: NDArray[np.bool_]) -> str:
    """What is overloaded at the first saturated point: the fullest pool or processor."""
    point = int(np.flatnonzero(saturated)[0])
    at = {
        name: float(np.broadcast_to(np.asarray(use, float), saturated.shape).ravel()[point])
        for name, use in means.uses().items()
    }
    fullest = max(at, key=lambda name: at[name])
    return f"more requests arrive than {fullest} can serve; reduce the arrival rate"


def layered_system(model: "Model") -> LayeredSystem:
    """The layered system of a model at its first operating point."""
    return at(system_of(model.network)[0], 0)


def numbers_of(means: LayeredMeans, layers: Layers) -> Amounts:
    """All numbers of layered means, by name."""
    system, values = means.system, Amounts()
    for name, entry in means.entries.items():
        of = {
            "throughput": entry.throughput,
            "response_time": entry.response_time,
            "waiting_time": entry.waiting_time,
            "service_time": entry.first_phase,
            "second_phase": entry.second_phase,
            "busy": entry.busy,
        }
        values |= _keyed(layers.key("entries", name), of)
    for name, task in system.tasks.items():
        offered = [means.entries[each] for each in system.asked[name]]
        per = np.maximum(sum(e.throughput for e in offered), 1e-300)
        of = {
            "throughput": means.throughput(name),
            "busy": means.busy(name),
            "utilisation": means.utilisation(name),
            "waiting_time": sum(e.throughput * e.waiting_time for e in offered) / per,
            "response_time": sum(e.throughput * e.response_time for e in offered) / per,
        }
        if task.clients:
            of["response_time"] = offered[0].first_phase
        values |= _keyed(name, of)
    for name in system.processors:
        of = {"utilisation": means.use(name), "busy": means.busy_servers(name)}
        values |= _keyed(layers.key("processors", name), of)
    return values | _whole(means)


def _keyed(key: str, of: Amounts) -> Amounts:
    return {f"{key}.{part}": number for part, number in of.items()}


def _whole(means: LayeredMeans) -> Amounts:
    """Throughput of all clients and arrivals, and the mean response time of the arrivals."""
    system = means.system
    total: Amount = 0.0
    time: Amount = 0.0
    for name, entry in system.entries.items():
        one = means.entries[name]
        rate = one.throughput if system.tasks[entry.task].clients else entry.arrival_rate
        rate = rate * system.tasks[entry.task].replicas
        total = total + rate
        time = time + rate * np.where(np.asarray(rate) > 0, one.response_time, 0.0)
    return {"throughput": total, "response_time": time / np.maximum(total, 1e-300)}
