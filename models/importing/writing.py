"""Write models as JMVA files: networks with a product form, at one operating point."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from headway.errors import ModelFileError
from headway.kinds import Amount
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.components import Component
from headway.models.structure.parts.keys import VISITS, of_class, station_at, time_by, visits_by
from headway.models.structure.planning.by_class import chain_targets, class_routes
from headway.queueing.chains.cycles import cycles_of
from headway.queueing.disciplines.discipline import ProductForm
from headway.queueing.stations.abilities import ServiceKind
from headway.records import dataclass

ONLY, THINK = "jobs", "think"
"""Names in the file for the jobs of a model without classes, and for their think station."""

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SCHEMA = "{http://www.w3.org/2001/XMLSchema-instance}noNamespaceSchemaLocation"
_RATES = ("throughput", "arrival_rate")


_Visits: TypeAlias = Mapping[tuple[str, str], float]
"""Mean visits by station and class."""


@dataclass(frozen=True)
class _Jobs:
    """A class: its name, arrival rate or population, and think time."""

    name: str
    rate: float | None
    population: int
    think_time: float


@dataclass(frozen=True)
class _Place:
    """A station: its element, servers, and its times and visits by class, as text."""

    name: str
    tag: str
    servers: int
    times: Mapping[str, str]
    visits: Mapping[str, str]


def to_jmva(model: Model) -> str:
    """Write a model as a JMVA file.

    Parameters
    ----------
    model
        With scalar values, that is one operating point, and stations that have a product form.
        Think times become a delay station called ``think``, the reference station of its classes.

    Raises
    ------
    ModelFileError
        For a model with a part that JMVA cannot express; names it.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> model = ModelGraph("one").station("cpu", MM1(0.5)).at(arrival_rate=1.0)
    >>> [line.strip() for line in to_jmva(model).splitlines() if "class name" in line]
    ['<openclass name="jobs" rate="1.0" />']
    """
    network = model.network if len(model.graph.classes) <= 1 else model
    _check(model, network)
    values = _numbers(network)
    jobs = [*_jobs(model, network, values)]
    went = _ways(network.graph, values)
    places = [_place(network, name, jobs, values, went) for name in network.graph.stations]
    return _text(jobs, [*_thinking(jobs, network.graph), *places])


def _refused(model: Model, why: str) -> ModelFileError:
    return ModelFileError(f"{model.name}: cannot be written as a JMVA file: {why}")


def _check(model: Model, network: Model) -> None:
    if not model.graph.stations:
        raise _refused(model, "it has no stations")
    if any(np.size(value) != 1 for value in model.inputs.values()):
        raise _refused(model, "it has several operating points; give one")
    if "response_time" in model.graph.outputs:
        raise _refused(model, "its formula for response_time adds to the time at its stations")
    for name, route in ((r.job_class, r) for r in network.graph.class_ways.routes if r.becomes):
        source = f"class {name}" if name else "every class"
        why = f"{source} becomes {route.becomes} after {route.source}; no class changes in JMVA"
        raise _refused(model, why)
    unlike = {
        "clients give up, but JMVA's wait": model.graph.gives_up,
        "arrivals follow time, but JMVA's are Poisson": model.graph.arrival_courses,
        "arrivals come in batches, but JMVA's are Poisson": model.graph.arrival_batches,
        "arrivals have an scv, but JMVA's are Poisson": model.graph.spreads,
    }
    for why in (why for why, so in unlike.items() if so):
        raise _refused(model, f"its {why}")
    for name, station in network.graph.stations.items():
        if station.can.product_form in (None, ServiceKind.PARALLEL):
            raise _refused(model, f"JMVA has no {station.label}, as at {name}")


def _targets(graph: ModelGraph) -> list[str]:
    targets: list[str] = [
        of_class(name, key) for name, keys in graph.classes.items() for key in keys
    ]
    for name, station in graph.stations.items():
        targets.append(station_at(name))
        targets += [visits_by(name, c) for c in station.visits]
        targets += [time_by(name, c) for c in station.service_times]
    if graph.ways_by_class:
        targets += chain_targets(graph)
    elif not any(station.visits for station in graph.stations.values()):
        targets.append(VISITS)
    return targets


def _numbers(model: Model) -> Mapping[str, Amount]:
    """The values of the graph's formulas."""
    graph, targets = model.graph, _targets(model.graph)
    is_open = not (graph.classes or model.is_closed)
    if not is_open and graph.plan.needed(targets, model.inputs) & set(_RATES):
        raise _refused(model, "its numbers depend on the load; JMVA's do not")
    inputs = {name: float(np.ravel(value)[0]) for name, value in model.inputs.items()}
    return graph.plan.run(inputs, [*targets, *(["throughput"] if is_open else [])])


def _jobs(model: Model, network: Model, values: Mapping[str, Amount]) -> Iterator[_Jobs]:
    for name, keys in network.graph.classes.items():
        values_of = {key: float(of_class(name, key).of(values)) for key in keys}
        think = values_of.get("think_time", 0.0)
        yield _Jobs(
            name, values_of.get("arrival_rate"), round(values_of.get("population", 0)), think
        )
    if not network.graph.classes:
        name = next(iter(model.graph.classes), ONLY)
        if network.is_closed:
            think = float(np.ravel(network.inputs.get("think_time", 0.0))[0])
            population = float(np.ravel(network.inputs["population"])[0])
            yield _Jobs(name, None, round(population), think)
        else:
            yield _Jobs(name, float(np.ravel(values["throughput"])[0]), 0, 0.0)


def _ways(graph: ModelGraph, values: Mapping[str, Amount]) -> _Visits:
    """Mean visits by station and class, if classes have their own routes; empty otherwise."""
    if not graph.ways_by_class:
        return {}
    routes = class_routes(graph, values)
    visits = cycles_of(routes, [True] * len(routes.classes)).visits[0]
    return {
        (station, name): float(visits[c, c, k])
        for k, station in enumerate(routes.stations)
        for c, name in enumerate(routes.classes)
    }


def _place(
    model: Model, name: str, jobs: list[_Jobs], values: Mapping[str, Amount], went: _Visits
) -> _Place:
    """A station in JMVA's terms."""
    component = model.graph.stations[name]
    station = station_at(name).of(values)
    visits = {
        each.name: went[name, each.name] if went else _visits(model.graph, name, each.name, values)
        for each in jobs
    }
    texts = {c: repr(v) for c, v in visits.items()}
    if component.can.product_form is ServiceKind.VARYING:
        return _varying(model, name, station, jobs, texts)
    times = {c: _time(component, name, c, station, values) for c in visits}
    told = {c: repr(time) for c, time in times.items()}
    if component.can.product_form is not ServiceKind.QUEUE:
        return _Place(name, "delaystation", 1, told, texts)
    servers, come = int(station.plain_count), [c for c, v in visits.items() if v]
    ranks = {float(values.get(of_class(c, "priority"), 1.0)) for c in come}
    if whom := _beyond_product_form(component, servers, ranks, {times[c] for c in come}):
        why = f"{name} serves {whom} {component.discipline.how}, which has no product form"
        raise _refused(model, f'{why}; use discipline = "ps"')
    return _Place(name, "listation", servers, told, texts)


def _beyond_product_form(
    component: Component, servers: int, ranks: set[float], times: set[float]
) -> str:
    """Whom a queue serves in an order that has no product form; empty where it has one."""
    order = component.discipline
    if order.by_priority and len(ranks) > 1:
        return "classes"
    form = order.form if servers == 1 else order.pool_form
    return "classes with different times" if len(times) > 1 and form is not ProductForm.ANY else ""


def _varying(
    model: Model, name: str, station: Amount, jobs: list[_Jobs], visits: Mapping[str, str]
) -> _Place:
    """A service time for each possible number of jobs."""
    if len(jobs) > 1 or jobs[0].rate is not None:
        raise _refused(
            model, f"{name} depends on the load, which JMVA supports for one closed class only"
        )
    most = max(jobs[0].population, 1)
    rates = np.ravel(np.asarray(station.rates_to(most), float)).tolist()
    rates += rates[-1:] * (most - len(rates))
    times = ";".join(repr(1 / rate) for rate in rates[:most])
    return _Place(name, "ldstation", 1, {jobs[0].name: times}, visits)


def _visits(graph: ModelGraph, name: str, c: str, values: Mapping[str, Amount]) -> float:
    """Mean visits of a class: its own, or those of all; 0 if only other classes have visits."""
    own = graph.stations[name].visits
    if any(station.visits for station in graph.stations.values()):
        key = c if c in own else ""
        visits = visits_by(name, key).of(values) if key in own else 0.0
    else:
        visits = VISITS.of(values)[name]
    return float(np.ravel(visits)[0])


def _time(
    component: Component, name: str, c: str, station: Amount, values: Mapping[str, Amount]
) -> float:
    if component.service_times:
        return float(time_by(name, c).of(values)) if c in component.service_times else 0.0
    return float(np.ravel(station.mean_service)[0])


def _thinking(jobs: list[_Jobs], graph: ModelGraph) -> list[_Place]:
    """The station where closed classes think, if any."""
    times = {each.name: repr(each.think_time) for each in jobs if each.think_time}
    if not times:
        return []
    return [_Place(_think(graph), "delaystation", 1, times, dict.fromkeys(times, "1.0"))]


def _think(graph: ModelGraph) -> str:
    name = THINK
    while name in graph.components:
        name += "_"
    return name


def _text(jobs: list[_Jobs], places: list[_Place]) -> str:
    root = Element("model", {_SCHEMA: "JMTmodel.xsd"})
    parameters = SubElement(root, "parameters")
    classes = SubElement(parameters, "classes", number=str(len(jobs)))
    for each in jobs:
        if each.rate is None:
            SubElement(classes, "closedclass", name=each.name, population=str(each.population))
        else:
            SubElement(classes, "openclass", name=each.name, rate=repr(each.rate))
    stations = SubElement(parameters, "stations", number=str(len(places)))
    for place in places:
        _write_place(stations, place)
    references = SubElement(parameters, "ReferenceStation", number=str(len(jobs)))
    for each in jobs:
        reference = next((p.name for p in places if float(p.visits.get(each.name, 0))), "")
        SubElement(references, "Class", name=each.name, refStation=reference)
    indent(root)
    return _HEAD + tostring(root, encoding="unicode") + "\n"


def _write_place(stations: Element, place: _Place) -> None:
    station = SubElement(stations, place.tag, name=place.name)
    if place.tag != "delaystation":
        station.set("servers", str(place.servers))
    for table, each, texts in (
        ("servicetimes", "servicetime", place.times),
        ("visits", "visit", place.visits),
    ):
        within = SubElement(station, table)
        for job_class, text in texts.items():
            SubElement(within, each, customerclass=job_class).text = text
