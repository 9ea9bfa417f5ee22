"""Graphs with variable arrivals: two moments of every flow, and the waits that they cause."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray, apply, check_not_negative, is_symbolic
from headway.models.structure.parts.keys import (
    OWN_VISITS,
    Key,
    Values,
    arrivals_at,
    scv_at,
    station_at,
)
from headway.models.structure.parts.routes import share_at, turned
from headway.models.structure.parts.structure import Structure, of_structure
from headway.models.structure.planning.components import AnyStep, formula_steps, number, step
from headway.models.structure.planning.flows import entry_shares
from headway.models.structure.planning.ways import visits_given
from headway.queueing.stations.abilities import Abilities, ServiceKind
from headway.queueing.stations.base import Station
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.queueing.variability.network import GeneralNetwork


@dataclass(frozen=True)
class TwoMoments:
    """Two-moment results of each station.

    Parameters
    ----------
    waits
        Mean wait of a visit [s].
    coming, leaving
        Squared coefficients of variation of the times between arrivals and between departures,
        without direct returns.
    busy
        Largest utilisation of a queue, over all points.
    exact
        Whether the results are exact.
    poisson
        Whether all arrivals from outside are Poisson.
    """

    waits: Mapping[str, Amount]
    coming: Mapping[str, Amount]
    leaving: Mapping[str, Amount]
    busy: float
    exact: bool
    poisson: bool


SPREAD: Key[TwoMoments] = Key("variability")
"""Two-moment results of each station, if the graph gives the variability of arrivals."""

_NOBODY = 1e-12  # rate in place of 0, at which variability has its limit


def propagates(graph: Structure) -> bool:
    """Whether variability is propagated, because arrivals or service times call for it.

    Where jobs go from a station with general service times to a queue, arrivals there are not
    Poisson. Two moments then err less than Poisson flows (``python -m
    tests.campaigns.general_networks``), and are used by default wherever possible.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MD1, MM1
    >>> one = ModelGraph("one").station("a", MD1(0.1)).station("b", MM1(0.1))
    >>> propagates(one.route("a", "b")), propagates(one.route("b", "a"))
    (True, False)
    """
    if graph.arrival_batches:
        return False
    return bool(graph.arrival_scvs) or (not graph.classes and _is_fed_by_services(graph))


def _is_fed_by_services(graph: Structure) -> bool:
    """Whether a station with general service times feeds a queue, or itself via others."""
    stations = graph.stations.items()
    general = [name for name, station in stations if not station.can.product_form]
    if not general or visits_given(graph) or any("arrival_scv" in s.fields for _, s in stations):
        return False
    if any(station.can.forks or station.loses for _, station in stations):
        return False
    queues = {name for name, station in stations if station.can.limits}
    return bool(queues & graph.routes.behind(general)) and not _why_not(graph, graph.name)


@of_structure
def comes_back(graph: Structure) -> bool:
    """Whether jobs return to a station from others."""
    others = graph.routes.elsewhere
    try:
        TopologicalSorter(others).prepare()
    except CycleError:
        return True
    return False


def unknown_waits(graph: Structure, name: str) -> str:
    """Why mean waits are not known at a station whose discipline depends on service times.

    Empty if they are known: at the only queue, which jobs visit once and as a Poisson stream.
    """
    station = graph.stations[name]
    if not station.discipline.by_size:
        return ""
    others = [n for n, s in graph.stations.items() if n != name and s.can.limits]
    often = any(v.constant is None or v.constant > 1 for v in station.visits.values())
    if others or often or name in graph.routes.behind([name]) or name in graph.routes.loops:
        return f"{name}: {station.discipline.needs}"
    return ""


def check_spread(graph: Structure) -> None:
    """Refuse stations through which variability cannot be propagated.

    Raises
    ------
    GraphError
        For closed classes, visits in place of routes, stations that are not queues in order of
        arrival described by two moments of service, or an scv of arrivals where there are none.
    """
    who = f"{graph.name}: arrivals have an scv"
    _check_classes(graph, who)
    msg = _why_not(graph, who)
    if msg:
        raise GraphError(msg)


def _why_not(graph: Structure, who: str) -> str:
    """Why variability cannot be propagated through some station; empty if it can."""
    if graph.blocks:
        return f"{who}, which headway cannot propagate through blocking; delete scv, or the limit"
    alone = lone_queue(graph)
    if visits_given(graph) and alone is None:
        return f"{who}, but visits do not show where jobs go; give routes instead of visits"
    for name, station in graph.stations.items():
        if not _goes_through(station.can, alone=alone == name):
            return (
                f"{name}: headway cannot propagate variability through a "
                f"{station.label}; delete the scv of arrivals"
            )
        if not station.discipline.in_turn and station.can.limits:
            return (
                f"{name}: headway propagates variability through fcfs queues only, not discipline "
                f"{station.discipline}; delete the scv of arrivals"
            )
    return ""


def _check_classes(graph: Structure, who: str) -> None:
    """Refuse closed classes, and an scv for all classes together, as each has its own arrivals."""
    own = any("arrival_scv" in numbers for numbers in graph.classes.values())
    if graph.arrival_scvs and (own or len(graph.classes) > 1):
        msg = f"{who}, but with classes each of them has its own; give arrival_scv to the classes"
        raise GraphError(msg)
    for name, numbers in graph.classes.items():
        if "population" in numbers:
            msg = (
                f"{who}, which headway propagates through open classes only; delete arrival_scv, "
                f"or give class {name} an arrival_rate"
            )
            raise GraphError(msg)


def _goes_through(can: Abilities, *, alone: bool) -> bool:
    """Whether two moments of service describe a queue in order of arrival.

    For separate queues they do if nothing follows to which their departures matter.
    """
    apart = can.product_form is ServiceKind.PARALLEL
    return can.service_scv is not None and (alone or not apart)


def spread_steps(graph: Structure) -> list[AnyStep]:
    """Steps for the variability of arrivals and everything that follows from it."""
    scvs = {scv_at(name): read for name, read in graph.arrival_scvs.items()}
    fixed = graph.routes.fixed(tuple(graph.stations))
    both = step(SPREAD, spread_needs(graph), partial(spread, graph, fixed))
    return [*formula_steps(scvs.items()), both]


def waiting_steps(name: str) -> list[AnyStep]:
    """Steps for waiting times under propagated variability, and what follows from them."""
    wait, made = f"{name}.waiting_time", station_at(name)
    return [
        number(wait, {SPREAD}, lambda v: SPREAD.of(v).waits[name]),
        number(f"{name}.response_time", {wait, made}, lambda v: v[wait] + _time(made.of(v))),
    ]


def _time(station: Station) -> Amount:
    """Mean service time of a station with numbers [s]."""
    return station.service_time


def service_scv(station: Station) -> Amount:
    """Squared coefficient of variation of a station's service times."""
    scv = station.can.service_scv
    return getattr(station, scv) if isinstance(scv, str) else scv


@of_structure
def spread_needs(graph: Structure) -> frozenset[str]:
    """What `spread` needs, apart from stations and routing probabilities given by formulas."""
    needs: set[str] = {"throughput", *map(scv_at, graph.arrival_scvs)}
    needs |= {arrivals_at(name) for name in graph.arrivals}
    needs |= {station_at(name) for name in graph.stations}
    needs |= {OWN_VISITS} if lone_queue(graph) else set()
    return frozenset(needs.union(map(share_at, graph.routes.changing)))


def spread(graph: Structure, fixed: FloatArray, values: Values) -> TwoMoments:
    """Solve a network by two moments at all operating points.

    Parameters
    ----------
    graph
        Stations, arrivals and routes.
    fixed
        Routing probabilities that are numbers, shape (stations, stations).
    values
        The values that `spread_needs` names.

    Raises
    ------
    GraphError
        If numbers are symbols, as there is no closed form.
    InvalidParameter
        For an scv that is negative or not finite.
    """
    from headway.queueing.variability.network import solve_general

    queue = lone_queue(graph)
    _check_scvs(graph, values)
    if queue is not None and station_at(queue).of(values).can.scv == 1:
        return _renewal(graph, values, queue)
    numbers = list(map(_numbers, (station_at(name).of(values) for name in graph.stations)))
    if is_symbolic(*(values[name] for name in spread_needs(graph)), *chain(*numbers)):
        msg = (
            f"{graph.name}: flows vary as arrivals and services do, and propagated variability has "
            "no closed form; solve with numbers"
        )
        raise GraphError(msg)
    network = (
        _network(graph, values, numbers, fixed)
        if queue is None
        else _alone(graph, values, numbers, queue)
    )
    solution = solve_general(network)
    return TwoMoments(
        _by_name(graph, solution.waiting_time),
        _by_name(graph, solution.arrival_scv),
        _by_name(graph, solution.departure_scv),
        float(solution.utilisation.max(initial=0.0)),
        solution.exact,
        network.is_poisson,
    )


def _check_scvs(graph: Structure, values: Values) -> None:
    for name in graph.arrival_scvs:
        check_not_negative(f"scv of arrivals at {name}", values[scv_at(name)])


def _by_name(graph: Structure, rows: FloatArray) -> dict[str, Amount]:
    each = rows.tolist() if rows.ndim == 1 else np.moveaxis(rows, -1, 0)
    return dict(zip(graph.stations, each, strict=True))


def _numbers(station: Station) -> tuple[Amount, Amount, Amount]:
    """Service time, its scv, and servers, which determine the waiting time."""
    return _time(station), service_scv(station), station.count if station.can.limits else np.inf


def _network(
    graph: Structure,
    values: Values,
    numbers: Sequence[tuple[Amount, Amount, Amount]],
    fixed: FloatArray,
) -> "GeneralNetwork":
    """The network of a graph with routes."""
    from headway.queueing.variability.network import GeneralNetwork

    times, scvs, servers = map(_columns, zip(*numbers, strict=True))
    rates = _rates(graph, values)
    given = {name: scv_at(name).of(values) for name in graph.arrival_scvs}
    arrival_scvs = _columns(given.get(name, 1.0) for name in graph.stations)
    onward = _onward(graph, fixed, values)
    return GeneralNetwork(rates, arrival_scvs, onward, times, servers, scvs)


def _alone(
    graph: Structure,
    values: Values,
    numbers: Sequence[tuple[Amount, Amount, Amount]],
    queue: str,
) -> "GeneralNetwork":
    """The network of a graph whose only queue is visited v times, directly from outside.

    Each of its n separate queues receives a share v / n of the jobs, chosen at random; if that is
    above 1 every job comes, and returns directly with probability 1 - n / v.
    """
    from headway.queueing.variability.network import GeneralNetwork

    times, scvs, servers = map(_columns, zip(*numbers, strict=True))
    part, apart = arriving(station_at(queue).of(values), OWN_VISITS.of(values)[queue])
    here = np.array([name == queue for name in graph.stations])
    part, apart = (np.asarray(v, float)[..., None] for v in (part, apart))
    total = np.maximum(np.asarray(values["throughput"], float), _NOBODY)[..., None]
    chosen = np.where(here, np.minimum(part, 1.0), 1.0)
    back = np.where(here, 1 - 1 / np.maximum(part, 1.0), 0.0)
    scv = outside_scv(graph, values)
    servers = np.where(here, servers / apart, servers)
    onward = back[..., None] * np.eye(len(here))
    rates = total * chosen
    return GeneralNetwork(rates, scv[..., None], onward, times, servers, scvs, chosen=chosen)


def _renewal(graph: Structure, values: Values, queue: str) -> TwoMoments:
    """Two moments for a renewal flow to the only queue, whose service is exponential.

    Constant delays do not change the flow: those before the queue pass the arrivals on, and those
    after it the departures.
    """
    from headway.queueing.variability.lone import lone_wait

    station = station_at(queue).of(values)
    part, apart = arriving(station, OWN_VISITS.of(values)[queue])
    chosen, scv, servers = apply("min", part, 1.0), _outside(graph, values), station.count / apart
    load = values["throughput"] * part * _time(station)
    wait = _time(station) * lone_wait(servers, load, scv, chosen)
    coming = 1 + chosen * (scv - 1)
    leaving = coming + apply("min", load / servers, 1.0) ** 2 * (1 - coming)
    after = graph.routes.behind([queue])
    seen = {name: leaving if name in after else scv for name in graph.stations} | {queue: coming}
    waits = {name: wait if name == queue else 0.0 * load for name in graph.stations}
    known = not is_symbolic(scv, wait)
    poisson = known and bool(np.all(np.asarray(scv) == 1))
    steady = known and bool(np.all((np.asarray(scv) == 0) | (np.asarray(scv) == 1)))
    busy = float(np.max(load / servers, initial=0.0)) if known else np.inf
    return TwoMoments(waits, seen, {**seen, queue: leaving}, busy, steady, poisson)


def arriving(station: Station, visits: Amount) -> tuple[Amount, Amount]:
    """Visits to each separate queue of a station, and the number of queues."""
    apart = station.count if station.can.product_form is ServiceKind.PARALLEL else 1.0
    return visits / apart, apart


@of_structure
def lone_queue(graph: Structure) -> str | None:
    """The only queue of a graph, if all its arrivals come directly from outside.

    Constant delays in between change nothing; None for other graphs.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1, Delay
    >>> one = ModelGraph("one").station("wire", Delay(0.1)).station("cpu", MM1(0.1))
    >>> lone_queue(one.route("wire", "cpu")), lone_queue(one.route("cpu", "wire").arrive("cpu"))
    ('cpu', 'cpu')
    """
    queues = [name for name, station in graph.stations.items() if station.can.limits]
    if len(queues) != 1 or graph.classes or len(graph.arrivals) > 1:
        return None
    place, entry = queues[0], next(iter(graph.arrivals or graph.stations))
    if visits_given(graph):
        return place
    sources = turned(graph.routes.onward)
    while True:
        before = sources.get(place, set()) - {queues[0]}
        if place in before or (place == entry) == bool(before) or len(before) > 1:
            return None
        if not before:
            return None if queues[0] in graph.routes.behind(queues) else queues[0]
        place = before.pop()


def has_renewal(graph: Structure, values: Values) -> bool:
    """Whether the only queue has exponential service, and arrivals of scv at most 1.

    Arrivals are then taken as a renewal flow, with gamma-distributed gaps if they vary.

    Parameters
    ----------
    graph, values
        An open network without classes, and the values that `spread_needs` names.
    """
    queue = lone_queue(graph)
    if queue is None:
        return False
    exponential = station_at(queue).of(values).can.scv == 1
    return exponential and bool(np.all(outside_scv(graph, values) <= 1))


def outside_scv(graph: Structure, values: Values) -> FloatArray:
    """Scv of the times between arrivals from outside, which enter at a single station."""
    return np.asarray(_outside(graph, values), float)


def _outside(graph: Structure, values: Values) -> Amount:
    return next((scv_at(name).of(values) for name in graph.arrival_scvs), 1.0)


def _columns(values: Iterable[Amount]) -> FloatArray:
    rows = list(values)
    if all(type(row) is float for row in rows) or not any(map(np.ndim, rows)):
        return np.array(rows, float)
    return np.stack(np.broadcast_arrays(*(np.asarray(v, float) for v in rows)), axis=-1)


def _rates(graph: Structure, values: Values) -> FloatArray:
    """Arrivals from outside by station [1/s]; almost 0 where there are none."""
    given = {name: arrivals_at(name).of(values) for name in graph.arrivals}
    shares = entry_shares(given) if given else {next(iter(graph.stations)): 1.0}
    total = np.maximum(np.asarray(values["throughput"], float), _NOBODY)
    each = _columns(shares.get(name, 0.0) for name in graph.stations)
    return np.asarray(each * total[..., None])


def _onward(graph: Structure, fixed: FloatArray, values: Values) -> FloatArray:
    place = {name: k for k, name in enumerate(graph.stations)}
    changing = {route: share_at(route).of(values) for route in graph.routes.changing}
    shape = np.broadcast_shapes(*(np.shape(chance) for chance in changing.values()))
    onward = np.broadcast_to(fixed, (*shape, *fixed.shape)).copy()
    for route, chance in changing.items():
        onward[..., place[route.source], place[route.target]] = chance
    return onward
