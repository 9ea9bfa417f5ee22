"""Networks of several classes of customers, open, closed or both."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.errors import GraphError
from headway.models.graph import ModelGraph
from headway.queueing.abilities import ServiceKind
from headway.queueing.centres import Method
from headway.queueing.classes import CustomerClass, ServiceCentre
from headway.queueing.kinds_of_station import product_form_kinds
from headway.queueing.multiclass import MulticlassSolution, solve_multiclass

if TYPE_CHECKING:
    from headway.models.model import Model


def class_values(model: "Model", method: str) -> dict[str, Any]:
    """Solve a network of several classes at every operating point.

    Parameters
    ----------
    model
        Whose graph has classes.
    method
        How closed classes are solved, see `headway.queueing.Method`.

    Returns
    -------
    The model's inputs and every calculated number by name; of a class such as
    ``class web.throughput``; ``method`` and ``approximation`` as text.

    Raises
    ------
    GraphError
        For kinds of station or formulas that classes do not allow.
    Saturated
        For open classes that a station cannot serve.
    """
    graph = model.graph
    values = graph.plan.run(model.inputs, targets_of(graph))
    classes = [_customers(graph, name, values) for name in graph.classes]
    centres = [_centre(graph, name, values) for name in graph.stations]
    solution = solve_multiclass(centres, classes, Method(method))
    values |= _system(graph, solution) | _stations(graph, solution)
    values = graph.plan.run(values, list(graph.outputs))
    return values | {"method": solution.method.value, "approximation": solution.approximation}


def targets_of(graph: ModelGraph) -> list[str]:
    """Names of the numbers that classes are solved with; refuses stations they cannot share."""
    targets = [f"class {name}.{key}" for name, keys in graph.classes.items() for key in keys]
    for name, station in graph.stations.items():
        if not station.can.shared:
            known = ", ".join(product_form_kinds(shared=True))
            msg = f"{name}: several classes cannot share a {station.kind.__name__}; use {known}"
            raise GraphError(msg)
        targets += [f"{name}.{part}" for part in station.fields]
        targets += [f"{name}.visits[{c}]" for c in station.visits]
        targets += [f"{name}.service_time[{c}]" for c in station.service_times]
    if not any(station.visits for station in graph.stations.values()):
        targets.append("visits")
    rates = graph.plan.needed(targets) & {"throughput", "arrival_rate"}
    if rates:
        msg = f"{graph.name}: with classes there is no single {max(rates)}; formulas cannot use it"
        raise GraphError(msg)
    return targets


def _customers(graph: ModelGraph, name: str, values: dict[str, Any]) -> CustomerClass:
    numbers = {key: values[f"class {name}.{key}"] for key in graph.classes[name]}
    think_time = numbers.get("think_time", 0.0)
    return CustomerClass(name, numbers.get("arrival_rate"), numbers.get("population"), think_time)


def _centre(graph: ModelGraph, name: str, values: dict[str, Any]) -> ServiceCentre:
    station = graph.stations[name]
    times = [by_class(graph, name, "service_time", c, values) for c in graph.classes]
    visits = [by_class(graph, name, "visits", c, values) for c in graph.classes]
    servers = values.get(f"{name}.servers", 1)
    if np.ndim(servers):
        msg = f"{name}: with classes the number of servers cannot be swept; solve one by one"
        raise GraphError(msg)
    kind = station.can.product_form or ServiceKind.QUEUE
    return ServiceCentre(name, times, visits, kind, int(servers))


def by_class(graph: ModelGraph, name: str, part: str, c: str, values: Mapping[str, Any]) -> Any:
    """A station's number for a class: its own, else that of all; no visits if not named."""
    station = graph.stations[name]
    own = station.visits if part == "visits" else station.service_times
    if c in own:
        return values[f"{name}.{part}[{c}]"]
    if part == "service_time" and not own:
        return values[f"{name}.service_time"]
    if part == "visits" and "" in own:
        return values[f"{name}.visits[]"]
    if part == "visits":
        return 0.0 if own else values["visits"][name]
    if c in station.visits or "" in station.visits:
        msg = f"{name}: no service_time for class {c}, which visits it"
        raise GraphError(msg)
    return 0.0


def _system(graph: ModelGraph, solution: MulticlassSolution) -> dict[str, Any]:
    values = {}
    for position, name in enumerate(graph.classes):
        values[f"class {name}.throughput"] = solution.throughput[position]
        values[f"class {name}.response_time"] = solution.response_time[position]
    total = solution.throughput.sum(axis=0)
    held = (solution.throughput * solution.response_time).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(total > 0, held / total, 0.0)
    return values | {"throughput": total, "response_time": mean}


def _stations(graph: ModelGraph, solution: MulticlassSolution) -> dict[str, Any]:
    values: dict[str, Any] = {}
    total = solution.throughput.sum(axis=0)
    for position, name in enumerate(graph.stations):
        held = solution.queue_length[position].sum(axis=0)
        through = solution.station_throughput[position].sum(axis=0)
        values[f"{name}.utilisation"] = solution.utilisation[position].sum(axis=0)
        values[f"{name}.queue_length"] = held
        values[f"{name}.throughput"] = through
        with np.errstate(invalid="ignore", divide="ignore"):
            values[f"{name}.residence_time"] = np.where(total > 0, held / total, 0.0)
            values[f"{name}.response_time"] = np.where(through > 0, held / through, 0.0)
    return values
