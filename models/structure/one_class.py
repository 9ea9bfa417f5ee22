"""A single class of jobs: the open or closed network that it amounts to."""

from collections.abc import Mapping
from dataclasses import replace

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.language.formula import Formula, formula, of_number
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.class_ways import EVERY, ClassRouting
from headway.models.structure.parts.components import Component
from headway.models.structure.parts.keys import of_class
from headway.models.structure.planning.by_class import check_ways

_NEVER = of_number(0.0)


def alone(graph: ModelGraph) -> ModelGraph:
    """The equivalent graph without classes, for a graph with a single class.

    A single class shares with no other, so each station may be of any kind, and everything known of
    a network without classes (saturation, percentiles, bounds) applies.

    Parameters
    ----------
    graph
        A graph with one class of jobs; if it is closed, the graph has no arrivals of its own.

    Raises
    ------
    GraphError
        For a station that is visited but has no service time.

    Examples
    --------
    >>> from headway.queueing import MD1
    >>> graph = ModelGraph("one").station("disk", MD1(0.5)).job_class("web", arrival_rate=1.0)
    >>> alone(graph).at().solve().response_time
    0.75
    """
    name, numbers = next(iter(graph.classes.items()))
    if not graph.stations:
        msg = f"class {name} has no station to visit; add stations to the model"
        raise GraphError(msg)
    check_ways(graph)
    stations = {n: _alone(n, component, name) for n, component in graph.stations.items()}
    ways = graph.class_ways
    routes = graph.routes
    for route in ways.routes:
        routes = routes.adding(replace(route, job_class="", becomes=""))
    reference = dict(zip([EVERY], ways.references.values(), strict=False))
    folded = replace(
        graph,
        stations=stations,
        classes={},
        routes=routes,
        class_ways=ClassRouting(references=reference),
        clients=dict(zip([""], graph.clients.values(), strict=False)),
    )
    if "arrival_rate" not in numbers:
        return folded
    shares = ways.arrives.get(name, graph.arrivals)
    arrivals = _arrivals(graph, numbers["arrival_rate"], shares)
    if "arrival_scv" not in numbers:
        return replace(folded, arrivals=arrivals)
    scvs = _thinned(numbers["arrival_scv"], shares) or dict.fromkeys(
        arrivals, numbers["arrival_scv"]
    )
    return replace(folded, arrivals=arrivals, arrival_scvs=scvs)


def circulation(graph: ModelGraph, inputs: Mapping[str, Amount]) -> tuple[Amount, Amount] | None:
    """Jobs and think time [s] of a single closed class; None if it is open."""
    name, numbers = next(iter(graph.classes.items()))
    if "population" not in numbers:
        return None
    needed = [of_class(name, key) for key in numbers]
    values = graph.plan.run(inputs, needed)
    return values[needed[0]], values.get(of_class(name, "think_time"), 0.0)


def _alone(name: str, component: Component, only: str) -> Component:
    """A station as its only class uses it."""
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
    if only in component.scvs:
        fields["scv"] = component.scvs[only]
    plain = replace(component, discipline=component.discipline.unranked)
    return replace(plain, fields=fields, visits=own, service_times={}, scvs={})


def _thinned(scv: Formula, shares: Mapping[str, Formula]) -> dict[str, Formula]:
    """The scv p c + 1 - p of arrivals at each of several stations that get random shares p."""
    if len(shares) < 2:
        return {}
    total = " + ".join(f"({share.text})" for share in shares.values())
    return {
        station: formula(f"1 + (({scv.text}) - 1) * ({share.text}) / ({total})")
        for station, share in shares.items()
    }


def _arrivals(
    graph: ModelGraph, rate: Formula, shares: Mapping[str, Formula]
) -> dict[str, Formula]:
    """The class's rate at the first station, or divided in the shares of its arrivals."""
    if not shares:
        return {next(iter(graph.stations)): rate}
    total = " + ".join(f"({share.text})" for share in shares.values())
    return {
        station: formula(f"({rate.text}) * ({share.text}) / ({total})")
        for station, share in shares.items()
    }
