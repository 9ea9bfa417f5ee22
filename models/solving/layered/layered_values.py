"""Means of layered services: throughput, times and use of every client, task and processor."""

from typing import TYPE_CHECKING

import numpy as np

from headway.kinds import Amount
from headway.models.solving.solutions.marks import Marks
from headway.models.structure.layered import system_of
from headway.models.structure.parts.keys import Amounts
from headway.queueing.layers.means import LayeredMeans
from headway.queueing.layers.solve import solve_layers

if TYPE_CHECKING:
    from headway.models.structure.model import Model


def layered_values(model: "Model", method: str, shape: tuple[int, ...]) -> tuple[Amounts, Marks]:
    """Solve a model of layered services.

    Parameters
    ----------
    model
        With processors, tasks and entries.
    method
        ``auto``, ``exact``, ``chain``, ``layers`` or ``simulation``.
    shape
        Of the operating points.

    Returns
    -------
    The model's inputs and every number by name, such as ``web.throughput`` of a task or
    ``page.response_time`` of an entry, with its marks.
    """
    system, values = system_of(model)
    means, used, note = solve_layers(system, method)
    values = model.graph.plan.run({**values, **numbers_of(means)}, model.graph.outputs)
    saturated = np.zeros(shape, bool)
    return values, Marks(used, note, saturated, is_quick=used == "layers")


def numbers_of(means: LayeredMeans) -> Amounts:
    """All numbers of layered means, by name."""
    system, values = means.system, Amounts()
    for name, entry in means.entries.items():
        values |= {
            f"{name}.throughput": entry.throughput,
            f"{name}.response_time": entry.response_time,
            f"{name}.waiting_time": entry.waiting_time,
            f"{name}.service_time": entry.first_phase,
            f"{name}.second_phase": entry.second_phase,
            f"{name}.busy": entry.busy,
        }
    for name, task in system.tasks.items():
        throughput = means.throughput(name)
        per = np.maximum(throughput, 1e-300)
        offered = [means.entries[each] for each in system.entries_of[name]]
        values |= {
            f"{name}.throughput": throughput,
            f"{name}.busy": means.busy(name),
            f"{name}.utilisation": means.utilisation(name),
            f"{name}.waiting_time": sum(e.throughput * e.waiting_time for e in offered) / per,
            f"{name}.response_time": sum(e.throughput * e.response_time for e in offered) / per,
        }
        if task.clients:
            values[f"{name}.response_time"] = offered[0].first_phase
    for name in system.processors:
        if name not in system.tasks:
            busy = means.busy_by(name)
            values |= {f"{name}.utilisation": means.use(name), f"{name}.busy": sum(busy.values())}
    return values | _whole(means)


def _whole(means: LayeredMeans) -> Amounts:
    """Throughput of all clients and arrivals, and the mean response time of these."""
    system = means.system
    total: Amount = 0.0
    time: Amount = 0.0
    for name, entry in system.entries.items():
        one = means.entries[name]
        rate = one.throughput if system.tasks[entry.task].clients else entry.arrival_rate
        total = total + rate
        time = time + rate * one.response_time
    return {"throughput": total, "response_time": time / np.maximum(total, 1e-300)}
