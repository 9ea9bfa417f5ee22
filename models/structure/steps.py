"""How a graph is calculated: named steps, each needing others, done in order of need.

The steps do not care what kind of numbers they carry; fed with symbols they give closed
forms, fed with arrays they give every operating point at once.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np

from headway.errors import GraphError, InvalidParameter, nearest
from headway.kinds import check_not_negative
from headway.models.language.algorithms import ALGORITHMS
from headway.models.language.formula import Formula
from headway.models.structure.components import Component
from headway.models.structure.flows import flow, given_flow, law, losing, numbers_of, returning
from headway.models.structure.routes import step_of
from headway.models.structure.structure import Structure

Values = dict[str, Any]

ANSWERED = "answered rate"
"""Step for the rate of jobs that are answered, where some are lost [1/s]."""


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


def _link_steps(graph: Structure) -> list[Step]:
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


def _traffic_steps(graph: Structure) -> list[Step]:
    """Steps for arrivals and visits; both rates are one where jobs arrive at one place."""
    steps = []
    if graph.arrivals:
        rates = {f"arrivals at {name}": rate for name, rate in graph.arrivals.items()}
        steps += _formula_steps(rates)
        steps.append(_step("throughput", rates, partial(_total, tuple(rates))))
    else:
        steps.append(_step("throughput", {"arrival_rate"}, partial(_total, ("arrival_rate",))))
    if any(station.visits for station in graph.stations.values()):
        given = {name: f"{name}.visits[]" for name in graph.stations}
        needs = {*given.values(), *_laws_that_lose(graph)}
        steps.append(_step("flow", needs, partial(given_flow, graph, given)))
    else:
        loops = [r for n in returning(graph) if (r := graph.routes.between(n, n))]
        probabilities = {step_of(r): r.probability for r in (*graph.routes.single, *loops)}
        steps += _formula_steps(probabilities)
        places = {f"arrivals at {name}" for name in graph.arrivals}
        changing = map(step_of, graph.routes.changing)
        needs = {*changing, *places, *_laws_that_lose(graph)}
        steps.append(_step("flow", needs, partial(flow, graph, numbers_of(graph))))
    return [*steps, _step("visits", {"flow"}, lambda v: v["flow"].visits)]


def _laws_that_lose(graph: Structure) -> set[str]:
    """What visits depend on where stations lose jobs."""
    few = losing(graph)
    loops = {f"law {name}" for name in few if name in returning(graph)}
    return loops | {f"station {name}" for name in few} | ({"throughput"} if few else set())


def _total(rates: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    """Add up arrival rates, each of which must be one."""
    for name in rates:
        check_not_negative(name, values[name])
    return reduce(operator.add, (values[name] for name in rates))


def _station_steps(graph: Structure, name: str) -> list[Step]:
    component = graph.stations[name]
    parts = [f"{name}.{part}" for part in component.fields]
    rate, response = f"{name}.arrival_rate", f"{name}.response_time"
    law_steps, asked = _law_steps(graph, name)
    answers = ["throughput", "utilisation", "waiting_time", "response_time"]
    answers += ["loss_probability"] if component.can.loses else []
    return [
        *_component_steps(name, component),
        _step(f"station {name}", parts, partial(_build, component, name)),
        _step(f"{name}.visits", {"visits"}, lambda v: v["visits"][name]),
        _product_step(rate, "throughput", f"{name}.visits"),
        *law_steps,
        *(_step(f"{name}.{part}", asked, partial(_ask, *asked, part)) for part in answers),
        *_residence_steps(graph, name, asked),
        _product_step(f"{name}.queue_length", f"{name}.throughput", response),
    ]


def _law_steps(graph: Structure, name: str) -> tuple[list[Step], tuple[str, str]]:
    """Steps for a station's law, and the names of it and of the rate it takes."""
    if name not in returning(graph):
        return [], (f"station {name}", f"{name}.arrival_rate")
    made, stays, rate = f"law {name}", f"{name}.stays", f"{name}.stay_rate"
    steps = [
        _step(made, {f"station {name}", f"{name} -> {name}"}, partial(law, name)),
        _step(stays, {"flow"}, lambda v: v["flow"].stays[name]),
        _product_step(rate, "throughput", stays),
    ]
    return steps, (made, rate)


def _residence_steps(graph: Structure, name: str, asked: tuple[str, str]) -> list[Step]:
    """Residence time: V R, of those visits that are let in."""
    residence, response = f"{name}.residence_time", f"{name}.response_time"
    if not graph.stations[name].can.loses:
        return [_product_step(residence, f"{name}.visits", response)]
    admitted, served = f"{name}.admitted", f"{name}.served"
    loop = f"{name} -> {name}" if name in returning(graph) else ""

    def visits_served(values: Mapping[str, Any]) -> Any:
        let_in = values["flow"].stays[name] * values[admitted]
        return let_in / (1 - values[loop]) if loop else let_in

    needs = {"flow", admitted, loop} - {""}
    return [
        _step(admitted, asked, partial(_ask, *asked, "admitted")),
        _step(served, needs, visits_served),
        _product_step(residence, served, response),
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


def _ask(law_name: str, rate: str, part: str, values: Mapping[str, Any]) -> Any:
    return getattr(values[law_name], part)(values[rate])


def _product_step(name: str, *factors: str) -> Step:
    return _step(name, factors, partial(_product, factors))


def _product(names: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    """Multiply, where no visits times endless waiting is none."""
    product = reduce(operator.mul, (values[name] for name in names))
    if isinstance(product, float | np.ndarray) and np.isnan(product).any():
        nothing = [np.asarray(values[name]) == 0 for name in names]
        return np.where(np.any(np.broadcast_arrays(*nothing), axis=0), 0.0, product)
    return product


def all_steps(graph: Structure) -> list[Step]:
    """Every number that a graph can be asked for."""
    steps = [*_formula_steps(graph.bindings), *_link_steps(graph), *_formula_steps(graph.outputs)]
    for table, components in graph.algorithms.items():
        for name, component in components.items():
            steps += _algorithm_steps(table, name, component)
    for name, numbers in graph.classes.items():
        steps += _formula_steps(numbers, f"class {name}.")
    if graph.stations:
        check_visits(graph)
        steps += _traffic_steps(graph)
        for name in graph.stations:
            steps += _station_steps(graph, name)
        steps += _system_steps(graph)
    return steps


def _system_steps(graph: Structure) -> list[Step]:
    """Response time of a job; where some are lost, of those that are answered, and how many."""
    residence = [f"{name}.residence_time" for name in graph.stations]
    if not losing(graph):
        mean = _step("response_time", residence, lambda v: sum(v[part] for part in residence))
        return [] if mean.name in graph.outputs else [mean]
    lost = {name: f"{name}.loss_probability" for name in losing(graph)}
    served = [f"{name}.throughput" for name in graph.stations]
    stations = tuple(graph.stations)
    steps = [
        _step("loss_probability", {"flow", *lost.values()}, partial(_lost, lost)),
        _step("response_time", {"flow", *residence}, partial(_answered_time, stations)),
    ]
    done = _step(ANSWERED, {"flow", "throughput", *served}, partial(_answered_rate, stations))
    return [done, *(step for step in steps if step.name not in graph.outputs)]


def _lost(names: Mapping[str, str], values: Mapping[str, Any]) -> Any:
    stays = values["flow"].stays
    return sum(stays[station] * values[name] for station, name in names.items())


def _answered_time(stations: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    """Mean time of a job that is answered: at each station, of those answered after it."""
    flowing = values["flow"]
    held = sum(values[f"{name}.residence_time"] * flowing.after[name] for name in stations)
    return held / flowing.answered


def _answered_rate(stations: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    """Jobs whose last visit is served."""
    last = values["flow"].last
    if not last:
        return values["throughput"] * values["flow"].answered
    return sum(values[f"{name}.throughput"] * last[name] for name in stations)


def check_visits(graph: Structure) -> None:
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
