"""One class of customers alone: the open or closed network that it is."""

from dataclasses import replace
from typing import TYPE_CHECKING

from headway.errors import GraphError
from headway.models.language.formula import Formula, formula, of_number
from headway.models.structure.components import Component
from headway.models.structure.graph import ModelGraph

if TYPE_CHECKING:
    from headway.models.structure.model import Model

_NEVER = of_number(0.0)


def network_of(model: "Model") -> "Model":
    """Give the network that a model's only class makes; any other model is its own.

    With one class there is nothing to share: each station may be of any kind, and what is known
    of a network without classes (saturation, percentiles, bounds) is known of it.

    Parameters
    ----------
    model
        Any model; of a closed class, population and think time need their values.

    Raises
    ------
    GraphError
        For a station visited without a service time.

    Examples
    --------
    >>> from headway.queueing import MD1
    >>> graph = ModelGraph("one").station("disk", MD1(0.5)).customers("web", arrival_rate=1.0)
    >>> graph.at().solve().response_time
    0.75
    """
    graph = model.graph
    if len(graph.classes) != 1:
        return model
    name, customers = next(iter(graph.classes.items()))
    if not graph.stations:
        msg = f"class {name} has no station to go to; give the model stations"
        raise GraphError(msg)
    stations = {n: _alone(n, component, name) for n, component in graph.stations.items()}
    folded = replace(graph, stations=stations, classes={})
    if "arrival_rate" in customers:
        arrivals = _arrivals(graph, customers["arrival_rate"])
        return replace(model, graph=replace(folded, arrivals=arrivals))
    needed = [f"class {name}.{key}" for key in customers]
    values = graph.plan.run(model.inputs, needed)
    jobs, think = values[needed[0]], values.get(f"class {name}.think_time", 0.0)
    return replace(model, graph=folded).closed(jobs, think)


def _alone(name: str, component: Component, only: str) -> Component:
    """A station as its only class sees it."""
    times, visits, fields = component.service_times, component.visits, dict(component.fields)
    own = {"": visits.get(only, visits.get("", _NEVER))} if visits else {}
    if times and "service_time" not in fields:
        msg = f"{name}: a {component.kind.__name__} has no service_time; give {', '.join(fields)}"
        raise GraphError(msg)
    if only in times:
        fields["service_time"] = times[only]
    elif times and own.get("") is not _NEVER:
        msg = f"{name}: no service_time for class {only}, which visits it"
        raise GraphError(msg)
    return replace(component, fields=fields, visits=own, service_times={})


def _arrivals(graph: ModelGraph, rate: Formula) -> dict[str, Formula]:
    """The class's rate at the first station, or in the shares that the graph's arrivals have."""
    if not graph.arrivals:
        return {next(iter(graph.stations)): rate}
    total = " + ".join(f"({share.text})" for share in graph.arrivals.values())
    return {
        station: formula(f"({rate.text}) * ({share.text}) / ({total})")
        for station, share in graph.arrivals.items()
    }
