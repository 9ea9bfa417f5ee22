"""How a graph is calculated: named steps, each needing others, done in order of need.

The steps do not care what kind of numbers they carry; fed with symbols they give closed
forms, fed with arrays they give every operating point at once.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import check_not_negative, is_symbolic
from headway.models.algorithms import ALGORITHMS
from headway.models.components import Component
from headway.models.formula import Formula
from headway.models.graph import ModelGraph
from headway.models.names import nearest
from headway.queueing.traffic import visit_ratios

Values = dict[str, Any]

_MOST_ROUNDS = 1000
_SETTLED = 1e-14  # losses are probabilities: this is their last digit


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


def _algorithm_steps(table: str, name: str, component: Component) -> list[Step]:
    """Steps for a component's numbers, for the component made of them, and for its answers."""
    made, numbers = f"{table} {name}", [f"{name}.{field}" for field in component.fields]
    answers = [
        _step(f"{name}.{part}", {made}, partial(_answer, name, made, part))
        for part in ALGORITHMS[table].parts
    ]
    build = _step(made, numbers, partial(_build, component, name))
    return [*_component_steps(name, component), build, *answers]


def _answer(name: str, made: str, part: str, values: Mapping[str, Any]) -> Any:
    with _named(name):
        return getattr(values[made], part)


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
    if not losing(graph):
        return [*steps, _step("visits", needs, partial(_visits, graph, {}))]
    needs |= {"throughput", *(f"station {name}" for name in losing(graph))}
    return [*steps, _step("visits", needs, partial(_visits_with_loss, graph))]


def losing(graph: ModelGraph) -> list[str]:
    """Stations that turn away what finds no place."""
    return [name for name, component in graph.stations.items() if component.can.loses]


def _visits_with_loss(graph: ModelGraph, values: Mapping[str, Any]) -> Any:
    """Visits where stations lose jobs: their losses and visits are made to agree."""
    lost: dict[str, Any] = {}
    for _ in range(_MOST_ROUNDS):
        visits = _visits(graph, lost, values)
        rates = {name: visits[name] * values["throughput"] for name in losing(graph)}
        new = {n: values[f"station {n}"].loss_probability(rate) for n, rate in rates.items()}
        if lost and all(_agree(new[name], lost[name]) for name in new):
            return visits
        lost = new
    msg = (
        f"{graph.name}: losses and visits do not settle; loosen the loop through {', '.join(lost)}"
    )
    raise GraphError(msg)


def _agree(new: Any, old: Any) -> bool:
    if is_symbolic(new, old):
        return bool(new == old)
    return bool(np.all(np.abs(np.asarray(new) - np.asarray(old)) <= _SETTLED))


def _given_visits(names: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, Any]:
    for station, name in names.items():
        check_not_negative(f"{station}.visits", values[name])
    return {station: values[name] for station, name in names.items()}


def _visits(graph: ModelGraph, lost: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    entries: dict[str, Any] = {next(iter(graph.stations)): 1.0}
    if graph.arrivals:
        rates = {name: values[f"arrivals at {name}"] for name in graph.arrivals}
        total = sum(rates.values())
        entries = {name: rate / total for name, rate in rates.items()}
    routes = {}
    for route in graph.routes:
        probability = values[f"{route.source} -> {route.target}"]
        kept = 1 - lost[route.source] if route.source in lost else 1
        routes[route.source, route.target] = probability * kept
    return visit_ratios(list(graph.stations), entries, routes)


def _station_steps(graph: ModelGraph, name: str) -> list[Step]:
    component = graph.stations[name]
    parts = [f"{name}.{part}" for part in component.fields]
    rate, response = f"{name}.arrival_rate", f"{name}.response_time"
    asked = {f"station {name}", rate}
    answers = ("throughput", "utilisation", "waiting_time", "response_time")
    return [
        *_component_steps(name, component),
        _step(f"station {name}", parts, partial(_build, component, name)),
        _step(f"{name}.visits", {"visits"}, lambda v: v["visits"][name]),
        _product_step(rate, "throughput", f"{name}.visits"),
        *(_step(f"{name}.{part}", asked, partial(_ask, name, part)) for part in answers),
        *_residence_steps(graph, name),
        _product_step(f"{name}.queue_length", f"{name}.throughput", response),
    ]


def _residence_steps(graph: ModelGraph, name: str) -> list[Step]:
    """Residence time: V R, of those visits that are let in."""
    factors = (f"{name}.visits", f"{name}.response_time")
    if not graph.stations[name].can.loses:
        return [_product_step(f"{name}.residence_time", *factors)]
    lost = f"{name}.loss_probability"
    needs = {f"station {name}", f"{name}.arrival_rate"}
    return [
        _step(lost, needs, partial(_ask, name, "loss_probability")),
        _step(f"{name}.admitted", {lost}, lambda v: 1 - v[lost]),
        _product_step(f"{name}.residence_time", f"{name}.admitted", *factors),
    ]


def _build(component: Component, name: str, values: Mapping[str, Any]) -> Any:
    """Make a component of its numbers; its own checks refuse those out of domain."""
    with _named(name):
        return component.kind(**{p: values[f"{name}.{p}"] for p in component.fields})


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Put a component's name before what it refuses."""
    try:
        yield
    except InvalidParameter as error:
        msg = f"{name}: {error}"
        raise InvalidParameter(msg) from None


def _ask(name: str, part: str, values: Mapping[str, Any]) -> Any:
    return getattr(values[f"station {name}"], part)(values[f"{name}.arrival_rate"])


def _product_step(name: str, *factors: str) -> Step:
    return _step(name, factors, partial(_product, factors))


def _product(names: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    """Multiply, where no visits times endless waiting is none."""
    product = reduce(operator.mul, (values[name] for name in names))
    if isinstance(product, float | np.ndarray) and np.isnan(product).any():
        nothing = [np.asarray(values[name]) == 0 for name in names]
        return np.where(np.any(np.broadcast_arrays(*nothing), axis=0), 0.0, product)
    return product


def _all_steps(graph: ModelGraph) -> list[Step]:
    steps = [*_formula_steps(graph.bindings), *_link_steps(graph), *_formula_steps(graph.outputs)]
    for table, components in graph.algorithms.items():
        for name, component in components.items():
            steps += _algorithm_steps(table, name, component)
    for name, customers in graph.classes.items():
        steps += _formula_steps(customers, f"class {name}.")
    if graph.stations:
        check_visits(graph)
        steps += _traffic_steps(graph)
        for name in graph.stations:
            steps += _station_steps(graph, name)
        if "response_time" not in graph.outputs:
            steps += _system_steps(graph)
    return steps


def _system_steps(graph: ModelGraph) -> list[Step]:
    """Response time of a job; where some are lost, of those that are answered."""
    parts = [f"{name}.residence_time" for name in graph.stations]
    if not losing(graph):
        return [_step("response_time", parts, lambda v: sum(v[part] for part in parts))]
    losses = [(f"{n}.visits", f"{n}.loss_probability") for n in losing(graph)]
    needs = {name for pair in losses for name in pair}
    return [
        _step("loss_probability", needs, lambda v: sum(v[a] * v[b] for a, b in losses)),
        _step(
            "response_time",
            {*parts, "loss_probability"},
            lambda v: sum(v[part] for part in parts) / (1 - v["loss_probability"]),
        ),
    ]


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
