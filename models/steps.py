"""How a graph is calculated: named steps, each needing others, done in order of need.

The steps do not care what kind of numbers they carry; fed with symbols they give closed
forms, fed with arrays they give every operating point at once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import check_not_negative
from headway.models.formula import Formula
from headway.models.graph import Component, ModelGraph
from headway.models.names import nearest
from headway.queueing.stations import Station
from headway.queueing.traffic import visit_ratios

Values = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """A number to be calculated: its name, the names it needs, and how."""

    name: str
    needs: frozenset[str]
    calculate: Callable[[Mapping[str, Any]], Any]


def _step(name: str, needs: Iterable[str], calculate: Callable[[Mapping[str, Any]], Any]) -> Step:
    return Step(name, frozenset(needs), calculate)


def _formula_steps(formulas: Mapping[str, Formula], prefix: str = "") -> list[Step]:
    return [_step(f"{prefix}{name}", f.names, f.evaluate) for name, f in formulas.items()]


def _component_steps(name: str, component: Component) -> list[Step]:
    """A step for each of a component's numbers, a list of numbers being one."""
    steps = []
    for part, read in component.fields.items():
        if isinstance(read, tuple):
            needs = frozenset[str]().union(*(f.names for f in read))
            steps.append(_step(f"{name}.{part}", needs, partial(_several, read)))
        else:
            steps.append(_step(f"{name}.{part}", read.names, read.evaluate))
    by_class = {f"visits[{c}]": f for c, f in component.visits.items()}
    by_class |= {f"service_time[{c}]": f for c, f in component.service_times.items()}
    return steps + _formula_steps(by_class, f"{name}.")


def _several(formulas: tuple[Formula, ...], values: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(read.evaluate(values) for read in formulas)


def _link_steps(graph: ModelGraph) -> list[Step]:
    steps = []
    for name, link in graph.links.items():
        steps += _component_steps(name, link)
        sides = (f"{name}.send_overhead", f"{name}.receive_overhead")
        steps.append(_step(f"{name}.overhead", sides, partial(_mean, sides)))
    return steps


def _mean(names: tuple[str, str], values: Mapping[str, Any]) -> Any:
    return (values[names[0]] + values[names[1]]) / 2


def _traffic_steps(graph: ModelGraph) -> list[Step]:
    """Steps for arrivals and visits; both rates are one where jobs arrive at one place."""
    steps = []
    if graph.arrivals:
        rates = {f"arrivals at {name}": rate for name, rate in graph.arrivals.items()}
        steps += _formula_steps(rates)
        steps.append(_step("throughput", rates, lambda v: sum(v[name] for name in rates)))
    else:
        steps.append(_step("throughput", {"arrival_rate"}, lambda v: v["arrival_rate"]))
    if any(station.visits for station in graph.stations.values()):
        given = {name: f"{name}.visits[]" for name in graph.stations}
        steps.append(_step("visits", given.values(), partial(_given_visits, given)))
        return steps
    probabilities = {f"{r.source} -> {r.target}": r.probability for r in graph.routes}
    steps += _formula_steps(probabilities)
    needs = {*probabilities, *(f"arrivals at {name}" for name in graph.arrivals)}
    steps.append(_step("visits", needs, partial(_visits, graph)))
    return steps


def _given_visits(names: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
    for station, name in names.items():
        check_not_negative(f"{station}.visits", values[name])
    return {station: values[name] for station, name in names.items()}


def _visits(graph: ModelGraph, values: Mapping[str, Any]) -> Any:
    entries: dict[str, Any] = {next(iter(graph.stations)): 1.0}
    if graph.arrivals:
        rates = {name: values[f"arrivals at {name}"] for name in graph.arrivals}
        total = sum(rates.values())
        entries = {name: rate / total for name, rate in rates.items()}
    routes = {(r.source, r.target): values[f"{r.source} -> {r.target}"] for r in graph.routes}
    return visit_ratios(list(graph.stations), entries, routes)


def _station_steps(graph: ModelGraph, name: str) -> list[Step]:
    component = graph.stations[name]
    parts = [f"{name}.{part}" for part in component.fields]
    rate, response = f"{name}.throughput", f"{name}.response_time"
    asked = {f"station {name}", rate}
    return [
        *_component_steps(name, component),
        _step(f"station {name}", parts, partial(_build, graph, name)),
        _step(f"{name}.visits", {"visits"}, lambda v: v["visits"][name]),
        _product_step(rate, "throughput", f"{name}.visits"),
        _step(f"{name}.utilisation", asked, partial(_ask, name, "utilisation")),
        _step(f"{name}.waiting_time", asked, partial(_ask, name, "waiting_time")),
        _step(response, asked, partial(_ask, name, "response_time")),
        _product_step(f"{name}.residence_time", f"{name}.visits", response),
        _product_step(f"{name}.queue_length", rate, response),
    ]


def _build(graph: ModelGraph, name: str, values: Mapping[str, Any]) -> Station:
    """Make the station of its numbers; its own checks refuse those out of domain."""
    component = graph.stations[name]
    try:
        station: Station = component.kind(**{p: values[f"{name}.{p}"] for p in component.fields})
    except InvalidParameter as error:
        msg = f"{name}: {error}"
        raise InvalidParameter(msg) from None
    return station


def _ask(name: str, part: str, values: Mapping[str, Any]) -> Any:
    return getattr(values[f"station {name}"], part)(values[f"{name}.throughput"])


def _product_step(name: str, *factors: str) -> Step:
    return _step(name, factors, partial(_product, factors))


def _product(names: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    """Multiply, where no visits times endless waiting is none."""
    left, right = (values[name] for name in names)
    product = left * right
    if isinstance(product, float | np.ndarray) and np.isnan(product).any():
        return np.where(np.asarray(left) == 0, 0.0, product)
    return product


def _all_steps(graph: ModelGraph) -> list[Step]:
    steps = [*_formula_steps(graph.bindings), *_link_steps(graph), *_formula_steps(graph.outputs)]
    for name, customers in graph.classes.items():
        steps += _formula_steps(customers, f"class {name}.")
    if graph.stations:
        check_visits(graph)
        steps += _traffic_steps(graph)
        for name in graph.stations:
            steps += _station_steps(graph, name)
        if "response_time" not in graph.outputs:
            parts = [f"{name}.residence_time" for name in graph.stations]
            steps.append(_step("response_time", parts, lambda v: sum(v[part] for part in parts)))
    return steps


def check_visits(graph: ModelGraph) -> None:
    """Refuse visits beside routes, visits of some stations only, and classes without visits.

    Raises
    ------
    GraphError
        Naming the station and the remedy.
    """
    some = [name for name, station in graph.stations.items() if station.visits]
    for name, station in graph.stations.items():
        unknown = {*station.visits, *station.service_times} - {"", *graph.classes}
        if unknown:
            msg = (
                f"{name}: there is no class {min(unknown)!r}{nearest(min(unknown), graph.classes)}"
            )
            raise GraphError(msg)
        if some and not station.visits:
            msg = f"{name} has no visits, but {some[0]} has; give visits of all stations or of none"
            raise GraphError(msg)
    if some and graph.routes:
        msg = f"{some[0]} has visits and there are routes; give one or the other"
        raise GraphError(msg)


class Plan:
    """The steps of a graph in an order in which each finds what it needs.

    Raises
    ------
    GraphError
        If numbers need each other in a circle.
    """

    def __init__(self, graph: ModelGraph) -> None:
        self._steps = {step.name: step for step in _all_steps(graph)}
        needs = {name: step.needs for name, step in self._steps.items()}
        try:
            self._order = tuple(TopologicalSorter(needs).static_order())
        except CycleError as error:
            circle = " -> ".join(reversed(error.args[1]))
            msg = f"{graph.name}: these numbers need each other in a circle: {circle}"
            raise GraphError(msg) from None
        self._runs: dict[tuple[frozenset[str], frozenset[str]], tuple[str, ...]] = {}

    def needed(self, targets: Iterable[str], given: Iterable[str] = ()) -> frozenset[str]:
        """Everything that the targets need, directly or not, beyond what is given."""
        found: set[str] = set()
        todo = list(targets)
        known = set(given)
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                if name not in known and name in self._steps:
                    todo.extend(self._steps[name].needs)
        return frozenset(found)

    def run(self, given: Mapping[str, Any], targets: Iterable[str]) -> Values:
        """Calculate the targets and all they need from given values; what is given stays."""
        key = (frozenset(targets), frozenset(given))
        if key not in self._runs:
            wanted = self.needed(*key) - key[1]
            self._runs[key] = tuple(name for name in self._order if name in wanted)
        values = dict(given)
        for name in self._runs[key]:
            values[name] = self._steps[name].calculate(values)
        return values
