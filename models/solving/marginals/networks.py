"""Distributions of the number of jobs at stations of a solved network, by operating point."""

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError, InvalidParameter, nearest
from headway.kinds import Amount, FloatArray
from headway.models.solving.blocking.refused import refuse_blocking
from headway.models.solving.solutions.marks import DRIVEN, QNA
from headway.models.solving.solutions.queue_lengths import NumberLaws, QueueLengths
from headway.models.structure.graph import ModelGraph
from headway.models.structure.network_kind import NetworkKind
from headway.models.structure.parts.keys import VISITS, share_of, station_at
from headway.models.structure.parts.orders import check_exponential
from headway.models.structure.planning.batches import refuse_batches
from headway.models.structure.planning.clients import check_clients_wait
from headway.models.structure.planning.flows import returning
from headway.models.structure.planning.ways import shares
from headway.queueing.marginals.closed import Marginal, closed_marginal
from headway.queueing.methods.registry import approximates
from headway.queueing.numbers.laws import NumberLaw
from headway.queueing.numbers.waits import WaitLaw, in_turn, served
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Delay, Station
from headway.queueing.times.inversion import exceedance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headway.models.solving.solutions.solution import Solution

WaitLaws = list[WaitLaw | None]
"""Distributions of waiting times, by operating point."""


def queue_lengths(solution: "Solution", names: tuple[str, ...]) -> "QueueLengths[Solution]":
    """Find the distributions of the number of jobs at some stations, or at all of them.

    Raises
    ------
    InvalidParameter
        For a name that is not a station.
    GraphError
        If the distribution is unknown, with the reason.
    """
    for name in names:
        if name not in solution.stations:
            msg = f"{solution.model.name} has no station {name!r}{nearest(name, solution.stations)}"
            raise InvalidParameter(msg)
    wanted = names or solution.stations
    if not wanted:
        number_laws(solution, "")  # for a program, this raises the refusal
    return QueueLengths(solution, {name: number_laws(solution, name) for name in wanted})


def number_laws(solution: "Solution", station: str) -> NumberLaws:
    """Distribution of the number of jobs at a station, by operating point.

    Parameters
    ----------
    solution
        A solution of an open network, or an exact one of a closed network or several classes.
    station
        One of its stations.

    Raises
    ------
    GraphError
        If the distribution is unknown, with the reason.
    """
    check_has_queues(solution)
    with named(solution, station):
        check_clients_wait(solution.model.graph, "distributions of numbers of jobs")
        return _NUMBERS[solution.model.network_kind](solution, station)


def wait_laws(solution: "Solution", station: str) -> WaitLaws:
    """Distribution of the waiting time of arriving jobs at a station, by operating point.

    Parameters
    ----------
    solution, station
        As for `number_laws`, but without classes, and with service in order of arrival.

    Raises
    ------
    GraphError
        If the distribution is unknown, with the reason.
    """
    check_has_queues(solution)
    refuse_blocking(solution.model.graph, "waiting times at stations")
    refuse_batches(solution.model.graph, "waiting times at stations")
    check_clients_wait(solution.model.graph, "waiting times at stations")
    with named(solution, station):
        network, kind = solution.model.network, solution.model.network_kind
        if kind is NetworkKind.CLASSES:
            msg = "waiting times of several classes have no known distribution"
            raise GraphError(msg)
        if not network.graph.stations[station].discipline.in_turn:
            msg = "waiting times have a known distribution only in order of arrival"
            raise GraphError(msg)
        if kind is NetworkKind.CLOSED:
            return _waits_closed(solution, station)
        if station in returning(network.graph):
            msg = "waiting times of jobs that return directly have no known distribution"
            raise GraphError(msg)
        rates = _row(solution, solution.values[f"{station}.arrival_rate"])
        open_points = _sustained(solution, station)
        made = _each(solution, station_at(station).of(solution.values))
        return [
            one.wait_law(float(rate)) if fine else None
            for one, rate, fine in zip(made, rates, open_points, strict=True)
        ]


def stay_laws(solution: "Solution", station: str) -> WaitLaws:
    """Distribution of the time of a visit to a station (waiting and service), by operating point.

    Parameters
    ----------
    solution, station
        As for `wait_laws`; in an open network, jobs present may also share the servers.

    Raises
    ------
    GraphError
        Where no law is known, with the reason.
    """
    check_has_queues(solution)
    refuse_blocking(solution.model.graph, "response times at stations")
    refuse_batches(solution.model.graph, "response times at stations")
    check_clients_wait(solution.model.graph, "response times at stations")
    with named(solution, station):
        network = solution.model.network
        _check_visits(network.graph, station)
        if solution.model.network_kind is NetworkKind.CLOSED:
            check_exponential(network.graph)
            return _stays_closed(solution, station)
        rates = _row(solution, solution.values[f"{station}.arrival_rate"])
        made = _each(solution, station_at(station).of(solution.values))
        find = _shared if shares(network.graph, station) else _stay
        points = zip(made, rates, _sustained(solution, station), strict=True)
        return [find(one, float(rate)) if fine else None for one, rate, fine in points]


def _check_visits(graph: ModelGraph, station: str) -> None:
    """Refuse visits of several classes, in other orders of service, or with direct returns."""
    if graph.classes:
        msg = "how long jobs of several classes stay has no known distribution by station"
        raise GraphError(msg)
    discipline = graph.stations[station].discipline
    if not (discipline.in_turn or shares(graph, station)):
        msg = f"how long jobs stay is not known under {discipline}"
        raise GraphError(msg)
    if station in returning(graph):
        msg = "how long jobs stay that come straight back has no known distribution"
        raise GraphError(msg)


def _stay(station: Station, rate: float) -> WaitLaw:
    law = station.time_law(rate)
    return WaitLaw(1.0, law.mean, partial(exceedance, law), law.notes)


def _shared(station: Station, rate: float) -> WaitLaw:
    """Distribution of a visit's time at servers that all jobs present share."""
    law = station.shared_law(rate)
    return WaitLaw(1.0, law.mean, partial(exceedance, law), law.notes)


def check_has_queues(solution: "Solution") -> None:
    """Refuse models without queues, or whose distributions do not follow from the network.

    Raises
    ------
    GraphError
        With the reason.
    """
    name = solution.model.name
    if not solution.stations:
        msg = f"{name}: a program has no queues"
        raise GraphError(msg)
    refuse_batches(solution.model.graph, "distributions of numbers of jobs")
    if solution.method == QNA:
        msg = (
            f"{name}: propagated variability gives only mean numbers of jobs, because two moments "
            "do not determine a distribution; simulate, or delete the scv"
        )
        raise GraphError(msg)
    if solution.method == DRIVEN:
        msg = (
            f"{name}: a closed model driven by a throughput has no known numbers of jobs; give the "
            "load as a population"
        )
        raise GraphError(msg)


@contextmanager
def named(solution: "Solution", station: str) -> "Iterator[None]":
    """Add the model and station to the error about an unknown distribution."""
    try:
        yield
    except GraphError as error:
        msg = f"{solution.model.name}: {station}: {error}"
        raise GraphError(msg) from None


def _row(solution: "Solution", value: Amount) -> FloatArray:
    """A value by operating point, in flat order."""
    return np.broadcast_to(np.asarray(value, float), solution.shape).reshape(-1)


def _sustained(solution: "Solution", station: str) -> NDArray[np.bool_]:
    """Where the station is not saturated, in flat order."""
    time = _row(solution, solution.values[f"{station}.response_time"])
    used = _row(solution, solution.values[f"{station}.arrival_rate"]) > 0
    return np.isfinite(time) | ~used


def _each(solution: "Solution", station: Station) -> list[Station]:
    """The station with its numbers at each operating point."""
    own = {f.name: getattr(station, f.name) for f in fields(station)}  # type: ignore[arg-type]
    arrays = {name: value for name, value in own.items() if _varies(value)}
    count = int(np.prod(solution.shape))
    if not arrays:
        return [station] * count
    picked = {name: _rows(solution, value) for name, value in arrays.items()}
    return [replace(station, **{n: v[k] for n, v in picked.items()}) for k in range(count)]  # type: ignore[type-var]


def _varies(value: Any) -> bool:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return any(np.ndim(each) for each in value)
    return bool(np.ndim(value))


def _rows(solution: "Solution", value: Any) -> list[Any]:
    """A field by operating point; a list of numbers gives one list per point."""
    if isinstance(value, Sequence):
        return list(zip(*(_row(solution, each).tolist() for each in value), strict=True))
    return list(_row(solution, value).tolist())


def _of_open(solution: "Solution", station: str) -> NumberLaws:
    values, graph = solution.values, solution.model.network.graph
    if sum(part.branches.count(station) for part in graph.stations.values()) > 1:
        msg = "the number of parts of a fork that arrive together has no known distribution"
        raise GraphError(msg)
    rate, again = values[f"{station}.arrival_rate"], 0.0
    if station in returning(graph):
        rate, again = values[f"{station}.stay_rate"], share_of(station, station).of(values)
    points = zip(
        _each(solution, station_at(station).of(values)),
        _row(solution, rate),
        _row(solution, again),
        _sustained(solution, station),
        strict=True,
    )
    return [
        one.number_law(float(coming), float(back)) if fine else None
        for one, coming, back, fine in points
    ]


def _of_closed(solution: "Solution", station: str) -> NumberLaws:
    marginal, jobs = _closed(solution, station)
    chances = marginal.chances.reshape(len(marginal.chances), -1)
    waits = np.broadcast_to(marginal.waits, solution.shape).reshape(-1)
    return [NumberLaw(chances[: int(n) + 1, k], waits=float(waits[k])) for k, n in enumerate(jobs)]


def _closed(solution: "Solution", station: str) -> tuple[Marginal, FloatArray]:
    """Distribution of circulating jobs at a station, and the population, in flat order."""
    values, inputs = solution.values, solution.model.network.inputs
    if any(part.can.forks for part in solution.model.network.graph.stations.values()):
        msg = (
            "jobs of a closed network with a fork are at several stations at once, so how many are "
            "at one has no known distribution; simulate the model"
        )
        raise GraphError(msg)
    stations = [station_at(name).of(values) for name in solution.stations]
    visits = [VISITS.of(values)[name] for name in solution.stations]
    _check_exact(solution, any(one.can.mixed for one in stations))
    if np.any(np.asarray(solution.beyond_stations) > 0):
        stations, visits = [*stations, Delay(solution.beyond_stations)], [*visits, 1.0]
    population = np.broadcast_to(np.asarray(inputs["population"], float), solution.shape)
    place = solution.stations.index(station)
    marginal = closed_marginal(stations, visits, population, inputs["think_time"], place)
    return marginal, population.reshape(-1)


def _check_exact(solution: "Solution", mixed: bool) -> None:  # noqa: FBT001 - a fact
    if solution.approximation and (mixed or approximates(solution.method)):
        msg = "an approximate solution has means only; use method exact for numbers of jobs"
        raise GraphError(msg)


def _waits_closed(solution: "Solution", station: str) -> WaitLaws:
    """Distribution of the wait behind the jobs that an arrival finds, at exponential servers."""
    made = station_at(station).of(solution.values)
    kind = made.can.product_form
    if kind not in {ServiceKind.DELAY, ServiceKind.QUEUE}:
        made.wait_law(0.0)  # raises the refusal where no law is known
        msg = (
            f"the waiting time at {type(made).__name__} has a known distribution only in open "
            "networks"
        )
        raise GraphError(msg)
    marginal, jobs = _closed(solution, station)
    found = marginal.found.reshape(len(marginal.found), -1)
    if kind is ServiceKind.DELAY:
        return [made.wait_law(0.0) for _ in jobs]
    each = _each(solution, made)
    return [
        in_turn(found[: int(n), k], int(one.plain_count), one.mean_service / one.plain_count)
        if n > 0
        else None
        for k, (n, one) in enumerate(zip(jobs, each, strict=True))
    ]


def _stays_closed(solution: "Solution", station: str) -> WaitLaws:
    """Distribution of a visit's time behind the jobs found, at exponential servers, FCFS."""
    made = station_at(station).of(solution.values)
    kind = made.can.product_form
    graph = solution.model.network.graph
    if kind not in {ServiceKind.DELAY, ServiceKind.QUEUE} or shares(graph, station):
        how = "at shared servers" if shares(graph, station) else f"at {type(made).__name__}"
        msg = f"the response time {how} is known of open networks only"
        raise GraphError(msg)
    marginal, jobs = _closed(solution, station)
    found = marginal.found.reshape(len(marginal.found), -1)
    each = _each(solution, made)
    if kind is ServiceKind.DELAY:
        return [_stay(one, 0.0) for one in each]
    return [
        served(found[: int(n), k], int(one.plain_count), one.mean_service / one.plain_count)
        if n > 0
        else None
        for k, (n, one) in enumerate(zip(jobs, each, strict=True))
    ]


def _of_blocking(solution: "Solution", station: str) -> NumberLaws:
    from headway.models.solving.marginals.blocked import blocked_laws

    return blocked_laws(solution, station)


def _of_classes(solution: "Solution", station: str) -> NumberLaws:
    from headway.models.solving.marginals.classes import class_laws

    _check_exact(solution, mixed=False)
    return class_laws(solution, station)


_NUMBERS: dict[NetworkKind, "Callable[[Solution, str], NumberLaws]"] = {
    NetworkKind.BLOCKING: _of_blocking,
    NetworkKind.CLASSES: _of_classes,
    NetworkKind.CLOSED: _of_closed,
    NetworkKind.OPEN: _of_open,
}
"""Distributions of the number of jobs at a station, by kind of network."""
