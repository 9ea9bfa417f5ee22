"""How a graph is calculated: named steps, each of which needs others, carried out in order.

The steps do not care what kind of numbers they handle: with symbols they give closed forms, with
arrays they give all operating points at once.
"""

import math
import operator
from collections.abc import Mapping
from functools import partial, reduce
from typing import TypeAlias

import numpy as np

from headway.blocks import in_blocks
from headway.errors import GraphError, nearest
from headway.kinds import Amount, check_not_negative
from headway.models.structure.parts.components import Component
from headway.models.structure.parts.forks import (
    branches_of,
    check_forks,
    check_sides,
    others_at,
    with_parts,
)
from headway.models.structure.parts.keys import (
    ANSWERED,
    OWN_VISITS,
    VISITS,
    Key,
    Values,
    arrivals_at,
    law_at,
    offered_at,
    share_of,
    station_at,
    visits_by,
)
from headway.models.structure.parts.orders import check_priorities
from headway.models.structure.parts.routes import share_at
from headway.models.structure.parts.structure import Structure
from headway.models.structure.planning.by_class import check_ways
from headway.models.structure.planning.components import (
    AnyStep,
    algorithm_steps,
    build,
    component_steps,
    formula_steps,
    link_steps,
    number,
    step,
)
from headway.models.structure.planning.flows import (
    FLOW,
    Flow,
    flow,
    given_flow,
    law,
    numbers_of,
    returning,
)
from headway.models.structure.planning.reached import check_reached
from headway.models.structure.planning.variability import (
    check_spread,
    propagates,
    spread_steps,
    unknown_waits,
    waiting_steps,
)
from headway.queueing.stations.abilities import QueueChoice
from headway.queueing.stations.base import Station
from headway.queueing.stations.returning import Returning

Law: TypeAlias = Station | Returning
"""The law of a station at an arrival rate: the station itself, or its law with returns."""


def _traffic_steps(graph: Structure) -> list[AnyStep]:
    """Steps for arrivals and visits; if jobs arrive at one station, both rates are the same."""
    steps = []
    if graph.arrivals:
        rates = {arrivals_at(name): rate for name, rate in graph.arrivals.items()}
        steps += formula_steps(rates.items())
        steps.append(number("throughput", rates, partial(_total, tuple(rates))))
    else:
        steps.append(number("throughput", {"arrival_rate"}, partial(_total, ("arrival_rate",))))
    steps += formula_steps(graph.class_ways.formulas())
    if graph.class_ways.by_class:
        steps.append(step(FLOW, (), partial(_by_class, graph.name)))
        single = {share_at(r): r.probability for r in graph.routes.single}
        steps += formula_steps(single.items())
    elif any(station.visits for station in graph.stations.values()):
        needs = {*map(visits_by, graph.stations), *_laws_that_lose(graph)}
        steps.append(step(FLOW, needs, partial(given_flow, graph)))
    else:
        loops = [r for n in returning(graph) if (r := graph.routes.between(n, n))]
        probabilities = {share_at(r): r.probability for r in (*graph.routes.single, *loops)}
        steps += formula_steps(probabilities.items())
        places = {arrivals_at(name) for name in graph.arrivals}
        changing = map(share_at, graph.routes.changing)
        needs = {*changing, *places, *_laws_that_lose(graph)}
        steps.append(step(FLOW, needs, partial(flow, graph, numbers_of(graph))))
    own = step(OWN_VISITS, {FLOW}, lambda v: FLOW.of(v).visits)
    parts = partial(with_parts, graph.stations)
    return [*steps, own, step(VISITS, {OWN_VISITS}, lambda v: parts(OWN_VISITS.of(v)))]


def _by_class(name: str, values: Values) -> Flow:
    """Refuse a number of visits that depends on the class."""
    del values
    msg = (
        f"{name}: visits differ by class, so a formula cannot use one value; use the "
        "visits of a class"
    )
    raise GraphError(msg)


def _laws_that_lose(graph: Structure) -> set[str]:
    """The laws that visits depend on, where stations lose jobs."""
    few = graph.losing
    loops = {law_at(name) for name in few if name in returning(graph)}
    return loops | {station_at(name) for name in few} | ({"throughput"} if few else set())


def _total(rates: tuple[str, ...], values: Values) -> Amount:
    """Add up arrival rates, each of which must be valid."""
    for name in rates:
        check_not_negative(name, values[name])
    return reduce(operator.add, (values[name] for name in rates))


def _station_steps(graph: Structure, name: str, *, by_moments: bool) -> list[AnyStep]:
    component = graph.stations[name]
    parts = [f"{name}.{part}" for part in component.fields]
    rate, response = f"{name}.arrival_rate", f"{name}.response_time"
    law_steps, law = _law_steps(graph, name)
    answers = ["throughput", "utilisation"]
    waits = waiting_steps(name) if by_moments else []
    if graph.arrival_batches:
        from headway.models.structure.planning.batches import batch_waiting_steps

        waits = batch_waiting_steps(graph, name)
    if graph.arrival_courses:
        from headway.models.structure.planning.courses import follows_time, unsteady_steps

        waits = unsteady_steps(graph, name) if follows_time(graph) else waits
    answers += [] if waits else ["waiting_time", "response_time"]
    answers += ["loss_probability"] if component.loses else []
    return [
        *component_steps(name, component),
        _making(name, component, parts, unknown_waits(graph, name)),
        number(f"{name}.visits", {VISITS}, lambda v: VISITS.of(v)[name]),
        _product_step(rate, "throughput", f"{name}.visits"),
        *law_steps,
        *(number(f"{name}.{part}", law, partial(_ask, *law, part)) for part in answers),
        step(offered_at(name), law, partial(_ask, *law, "offered")),
        *waits,
        *_residence_steps(graph, name, law),
        _product_step(f"{name}.queue_length", f"{name}.throughput", response),
    ]


def _making(name: str, component: Component, parts: list[str], refused: str) -> AnyStep:
    """A step for a station, from its own numbers and, for a fork, its branches."""
    made, branches = station_at(name), component.branches
    if not branches:
        return step(made, parts, partial(_station, component, name, refused))
    needs = {*parts, VISITS, *map(station_at, branches)}
    return step(made, needs, partial(_fork, component, name))


def _station(component: Component, name: str, refused: str, values: Values) -> Station:
    """A station with the laws that apply under its discipline and choice among queues."""
    made: Station = build(component, name, values)
    if component.choice is not QueueChoice.RANDOM:
        return made.chosen(name)
    if component.discipline.by_size:
        from headway.queueing.stations.sorted import SortedStation

        return SortedStation(made, component.discipline, refused)
    return made.shared() if component.discipline.shares else made


def _fork(component: Component, name: str, values: Values) -> Amount:
    """A fork with its branches, and the other arrivals at them."""
    visits, branches = VISITS.of(values), component.branches
    given = {
        "branches": tuple(station_at(branch).of(values) for branch in branches),
        "others": tuple(others_at(visits, name, branch) for branch in branches),
    }
    check_sides(name, branches, given["branches"])
    return build(component, name, values, given)


def _law_steps(graph: Structure, name: str) -> tuple[list[AnyStep], tuple[Key[Law], str]]:
    """Steps for a station's law, and the names of the law and of its arrival rate."""
    if name not in returning(graph):
        return [], (station_at(name), f"{name}.arrival_rate")
    made, stays, rate = law_at(name), f"{name}.stays", f"{name}.stay_rate"
    steps = [
        step(made, {station_at(name), share_of(name, name)}, partial(law, name)),
        number(stays, {FLOW}, lambda v: FLOW.of(v).stays[name]),
        _product_step(rate, "throughput", stays),
    ]
    return steps, (made, rate)


def _residence_steps(graph: Structure, name: str, law: tuple[Key[Law], str]) -> list[AnyStep]:
    """Residence time, V R, of the visits that are admitted."""
    residence, response = f"{name}.residence_time", f"{name}.response_time"
    if not graph.stations[name].loses:
        if name not in branches_of(graph):
            return [_product_step(residence, f"{name}.visits", response)]
        own = f"{name}.own_visits"
        here = number(own, {OWN_VISITS}, lambda v: OWN_VISITS.of(v)[name])
        return [here, _product_step(residence, own, response)]
    admitted, served = f"{name}.admitted", f"{name}.served"
    loop = share_of(name, name) if name in returning(graph) else None

    def visits_served(values: Values) -> Amount:
        let_in = FLOW.of(values).stays[name] * values[admitted]
        return let_in / (1 - loop.of(values)) if loop else let_in

    needs = {FLOW, admitted} | ({loop} if loop else set())
    return [
        number(admitted, law, partial(_ask, *law, "admitted")),
        number(served, needs, visits_served),
        _product_step(residence, served, response),
    ]


def _ask(law_name: Key[Law], rate: str, part: str, values: Values) -> Amount:
    return getattr(law_name.of(values), part)(values[rate])


def _sum(names: tuple[str, ...], values: Values) -> Amount:
    return in_blocks(lambda *parts: reduce(operator.add, parts), *(values[name] for name in names))


def _product_step(name: str, *factors: str) -> AnyStep:
    return number(name, factors, partial(_product, factors))


def _product(names: tuple[str, ...], values: Values) -> Amount:
    """Multiply, where no visits times infinite waiting is 0."""
    factors = [values[name] for name in names]
    if {*map(type, factors)} == {float}:  # plain floats never warn
        product = math.prod(factors)
        return product if product == product or 0.0 not in factors else 0.0
    changing = [factor for factor in factors if type(factor) is not float or factor != 1.0]
    if len(changing) == 1:  # as with a single visit: no further array over all points is made
        return changing[0]
    with np.errstate(invalid="ignore"):
        product = reduce(operator.mul, factors)
    if isinstance(product, float | np.ndarray) and np.size(product) and np.isnan(np.min(product)):
        nothing = [np.asarray(values[name]) == 0 for name in names]
        return np.where(np.any(np.broadcast_arrays(*nothing), axis=0), 0.0, product)
    return product


def all_steps(graph: Structure) -> list[AnyStep]:
    """Every number that a graph can calculate."""
    steps = [
        *formula_steps(graph.bindings.items()),
        *link_steps(graph),
        *formula_steps(graph.outputs.items()),
    ]
    for table, components in graph.algorithms.items():
        for name, component in components.items():
            steps += algorithm_steps(table, name, component)
    for name, numbers in graph.classes.items():
        steps += formula_steps(numbers.items(), f"class {name}.")
    limits = [(f"{name}.limit", region.limit) for name, region in graph.regions.items()]
    steps += formula_steps(limits)
    if graph.stations:
        check_visits(graph)
        check_forks(graph.name, graph.stations, graph.classes, returning(graph))
        check_ways(graph)
        check_priorities(graph)
        steps += _traffic_steps(graph)
        by_moments = propagates(graph)
        steps += spread_steps(graph) if by_moments else []
        if graph.arrival_batches:
            from headway.models.structure.planning.batches import batch_steps

            steps += batch_steps(graph)
        steps += _client_steps(graph)
        if graph.spreads and not graph.arrival_batches:
            check_spread(graph)
        check_reached(graph)
        for name in graph.stations:
            steps += _station_steps(graph, name, by_moments=by_moments)
        steps += _system_steps(graph)
    return steps


def _client_steps(graph: Structure) -> list[AnyStep]:
    if not graph.gives_up:
        return []
    from headway.models.structure.planning.clients import client_steps

    return client_steps(graph)


def _system_steps(graph: Structure) -> list[AnyStep]:
    """Response time of a job; where some are lost, that of answered jobs, and their rate."""
    residence = [f"{name}.residence_time" for name in graph.stations]
    if not graph.losing:
        mean = number("response_time", residence, partial(_sum, tuple(residence)))
        return [] if mean.key in graph.outputs else [mean]
    lost = {name: f"{name}.loss_probability" for name in graph.losing}
    served = [f"{name}.throughput" for name in graph.stations]
    stations = tuple(graph.stations)
    steps = [
        number("loss_probability", {FLOW, *lost.values()}, partial(_lost, lost)),
        number("response_time", {FLOW, *residence}, partial(_answered_time, stations)),
    ]
    done = step(ANSWERED, {FLOW, "throughput", *served}, partial(_answered_rate, stations))
    return [done, *(step for step in steps if step.key not in graph.outputs)]


def _lost(names: Mapping[str, str], values: Values) -> Amount:
    stays = FLOW.of(values).stays
    return sum(stays[station] * values[name] for station, name in names.items())


def _answered_time(stations: tuple[str, ...], values: Values) -> Amount:
    """Mean time of a job that is answered: at each station, of the visits answered in the end."""
    flowing = FLOW.of(values)
    total = sum(values[f"{name}.residence_time"] * flowing.after[name] for name in stations)
    return total / flowing.answered


def _answered_rate(stations: tuple[str, ...], values: Values) -> Amount:
    """Rate of jobs whose last visit is served."""
    last = FLOW.of(values).last
    if not last:
        return values["throughput"] * FLOW.of(values).answered
    return sum(values[f"{name}.throughput"] * last[name] for name in stations)


def check_visits(graph: Structure) -> None:
    """Refuse visits with routes, visits for some stations only, and classes without visits.

    Raises
    ------
    GraphError
        Naming the station and the remedy.
    """
    some = [name for name, station in graph.stations.items() if station.visits]
    for name, station in graph.stations.items():
        unknown = {*station.visits, *station.service_times, *station.scvs} - {"", *graph.classes}
        if unknown:
            msg = (
                f"{name}: there is no class {min(unknown)!r}{nearest(min(unknown), graph.classes)}"
            )
            raise GraphError(msg)
        if some and not station.visits:
            msg = (
                f"{name} has no visits, but {some[0]} has; give visits for all stations or for none"
            )
            raise GraphError(msg)
    if some and graph.routes:
        msg = f"{some[0]} has visits, but there are routes too; keep one of them"
        raise GraphError(msg)
