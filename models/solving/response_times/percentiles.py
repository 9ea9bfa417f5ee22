"""Percentiles of the response time of a network's jobs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.models.solving.blocking.refused import refuse_blocking
from headway.models.solving.classes.rooms import as_one
from headway.models.solving.response_times.feed_forward import (
    Finding,
    is_feed_forward,
    percentiles_together,
    row_of,
)
from headway.models.solving.response_times.measured_tails import check_tail, tail_notes
from headway.models.solving.response_times.sum_of_times import (
    closed_alone,
    sum_law,
    sum_of_times_in,
    sum_percentiles,
)
from headway.models.solving.response_times.visited import is_renewal, visited_station
from headway.models.solving.solutions.marks import DRIVEN, QNA, Marks
from headway.models.solving.solutions.on_demand import check_percent
from headway.models.structure.network_kind import NetworkKind
from headway.models.structure.outputs import Request
from headway.models.structure.parts.keys import OWN_VISITS, VISITS, scv_at, station_at
from headway.models.structure.parts.orders import check_turns_known
from headway.models.structure.planning.batches import refuse_batches
from headway.models.structure.planning.clients import check_clients_wait
from headway.models.structure.planning.ways import shares, visits_given, ways_of
from headway.queueing.sojourn.feed_forward_percentiles import (
    Precision,
    feed_forward_percentiles,
)
from headway.queueing.sojourn.interpolated_percentiles import interpolated_percentiles
from headway.queueing.times.inversion import exceedance, percentile_of
from headway.queueing.times.laws import TimeLaw, constant, in_series, independent_visits, merged

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution
    from headway.models.structure.graph import ModelGraph

Laws = Mapping[str, TimeLaw | None]
"""Distribution for each class, and for all jobs under ""; None if a station is saturated."""

Times = list[dict[str, FloatArray]]
"""Times [s] for each class, and for all jobs under "", shape (points,), for each share."""


def percentiles(solution: "Solution", requests: Sequence[Request]) -> "Solution":
    """Add percentiles of the response time, by operating point.

    Parameters
    ----------
    solution
        A solution of a network.
    requests
        Percentages between 0 and 100, of all jobs or of a class. Distributions are computed once.

    Returns
    -------
    The solution with those of all jobs and of each class, and a note on their approximation.

    Raises
    ------
    GraphError
        If the distribution is unknown, with the reason.
    """
    refuse_blocking(solution.model.graph, "percentiles")
    refuse_batches(solution.model.graph, "percentiles")
    check_clients_wait(solution.model.graph, "percentiles")
    percents = list(dict.fromkeys(one.number for one in requests))
    if solution.model.graph.layers:
        from headway.models.solving.layered.layered_times import layered_percentiles

        for percent in percents:
            check_percent(percent)
        return layered_percentiles(solution, requests)
    _check(solution, percents)
    find = _at_all_points if all_at_once(solution) else _one_by_one
    times, laws = find(solution, [percent / 100 for percent in percents])
    values = {
        one.name: np.reshape(times[percents.index(one.number)][one.owner], solution.shape)
        for one in requests
    }
    marks = _marks(solution, laws, tail_notes(solution.model, percents))
    return replace(solution, values={**solution.values, **values}, marks=marks)


def exceedances(solution: "Solution", requests: Sequence[Request]) -> "Solution":
    """Add probabilities that jobs take longer than some times, by operating point.

    Parameters
    ----------
    solution
        A solution of a network.
    requests
        Times of 0 or more [s], of all jobs or of a class.

    Returns
    -------
    The solution with the probabilities of all jobs and of each class (1 where a station is
    saturated), and with notes on what is approximate about them.

    Raises
    ------
    GraphError
        Where no law is known, with the reason.
    """
    laws = time_laws(solution)
    values = {
        one.name: np.reshape(
            [_chance(law.get(one.owner, law[""]), one.number) for law in laws], solution.shape
        )
        for one in requests
    }
    return replace(solution, values={**solution.values, **values}, marks=_marks(solution, laws))


def time_laws(solution: "Solution") -> list[Laws]:
    """Laws of the response time at each operating point; see `OnDemand.time_laws`."""
    refuse_blocking(solution.model.graph, "laws of times")
    refuse_batches(solution.model.graph, "laws of times")
    check_clients_wait(solution.model.graph, "laws of times")
    _check_open(solution)
    return [_laws(solution.point(k)) for k in range(int(np.prod(solution.shape)))]


def _chance(law: TimeLaw | None, time: float) -> float:
    return 1.0 if law is None else exceedance(law, time)


def _marks(solution: "Solution", laws: Iterable[Laws], more: tuple[str, ...] = ()) -> Marks:
    """Approximations of a solution and of its laws of times, for its marks."""
    own = tuple(note for note in solution.approximation.split("; ") if note)
    notes = (law.notes for each in laws for law in each.values() if law is not None)
    return replace(solution.marks, approximation="; ".join(merged(own, *notes, more)))


def why_unknown(solution: "Solution", percent: float) -> GraphError | None:
    """Why a percentile is unknown at the lightest load; None if it is known.

    Parameters
    ----------
    solution, percent
        As for `percentiles`, and one percentage.

    Raises
    ------
    InvalidParameter
        For a percentage out of range.
    """
    quiet = int(np.argmin(np.broadcast_to(solution["response_time"], solution.shape)))
    try:
        solution.point(quiet).with_percentile(percent)
    except GraphError as error:
        return error
    return None


def search_percentile(solution: "Solution", percent: float) -> FloatArray:
    """Percentiles for a search, of all jobs only, accurate to about 1e-6 without loops.

    An scv of service below 0.01 counts as 0.01.

    Parameters
    ----------
    solution, percent
        As for `percentiles`, and one percentage.
    """
    refuse_blocking(solution.model.graph, "percentiles")
    refuse_batches(solution.model.graph, "percentiles")
    check_clients_wait(solution.model.graph, "percentiles")
    _check(solution, [percent])
    share = percent / 100
    if not all_at_once(solution, for_search=True):
        return np.reshape(_one_by_one(solution, [share])[0][0][""], solution.shape)
    find = partial(feed_forward_percentiles, precision=Precision.SEARCH)
    return _percentiles(solution, share, _stable(solution), find).reshape(solution.shape)


def all_at_once(solution: "Solution", *, for_search: bool = False) -> bool:
    """Whether percentiles of all points can be computed together."""
    if solution.method == QNA:
        return False
    parts = sum_of_times_in(solution.model)
    if parts is None:
        return is_feed_forward(solution, for_search=for_search)
    if solution.model.network.is_closed:
        return False
    if shares(solution.model.network.graph, parts.station):
        return False
    station = station_at(parts.station).of(solution.values)
    return (station.spread() if for_search else station).smooth


def _percentiles(
    solution: "Solution", share: float, stable: NDArray[np.bool_], find: Finding
) -> FloatArray:
    parts = sum_of_times_in(solution.model)
    if parts is None:
        return percentiles_together(solution, share, stable, find)
    return sum_percentiles(solution, parts, share, stable, find)


def _check(solution: "Solution", percents: Sequence[float]) -> None:
    for percent in percents:
        check_percent(percent)
    _check_open(solution)
    for percent in percents:
        check_tail(solution.model, percent)


def _one_by_one(solution: "Solution", shares: Sequence[float]) -> tuple[Times, list[Laws]]:
    """Times by class, and of all jobs under "", for each share, with their distributions."""
    laws = time_laws(solution)
    names = ("", *solution.classes)
    return [
        {name: np.array([_time(law.get(name, law[""]), share) for law in laws]) for name in names}
        for share in shares
    ], laws


def _at_all_points(solution: "Solution", shares: Sequence[float]) -> tuple[Times, list[Laws]]:
    """Such times for all points at once, with a distribution for each set of visited stations."""
    stable = _stable(solution)
    laws = [_laws(solution.point(int(k))) for k in _one_of_each(solution, stable)]
    rows = [_percentiles(solution, share, stable, interpolated_percentiles) for share in shares]
    return [dict.fromkeys(("", *solution.classes), row) for row in rows], laws


def _one_of_each(solution: "Solution", stable: NDArray[np.bool_]) -> NDArray[np.intp]:
    """A stable point for each set of visited stations."""
    kept = np.flatnonzero(stable)
    sets = [visited for each in _visited(solution).values() if not (visited := each[kept]).all()]
    if not sets:
        return kept[:1]
    return np.asarray(kept[np.unique(sets, axis=1, return_index=True)[1]])


def _visited(solution: "Solution") -> dict[str, NDArray[np.bool_]]:
    """Where each station has visits, shape (points,)."""
    visits = VISITS.of(solution.values)
    return {name: row_of(solution, visits[name]) > 0 for name in solution.stations}


def _stable(solution: "Solution") -> NDArray[np.bool_]:
    """Where no station is saturated, shape (points,)."""
    stable = np.ones(int(np.prod(solution.shape)), bool)
    for name, visited in _visited(solution).items():
        stable &= np.isfinite(row_of(solution, solution.values[f"{name}.response_time"])) | ~visited
    return stable


def _check_open(solution: "Solution") -> None:
    name = solution.model.name
    if solution.method == DRIVEN:
        raise at_a_pace(name)
    if not solution.stations:
        msg = f"{name}: a program's run time is one number, without percentiles"
        if solution.model.graph.layers:
            msg = f"{name}: layered services have no distribution in a formula; ask for percentiles"
        raise GraphError(msg)
    with _named(solution):
        if not _is_followed(solution.model.network.graph):
            check_turns_known(solution.model.network.graph)
    if solution.method == QNA and not (_is_poisson(solution) or is_renewal(solution)):
        msg = (
            f"{name}: propagated variability has no percentiles where arrivals have an scv: two "
            "moments of them do not determine a distribution; simulate, or delete the scv"
        )
        raise GraphError(msg)
    if "response_time" in solution.model.graph.outputs and sum_of_times_in(solution.model) is None:
        msg = (
            f"{name}: its response time is a formula, but percentiles need stations; make each "
            "part of it a station, such as a Delay for a time that every job takes"
        )
        raise GraphError(msg)


def _is_followed(graph: "ModelGraph") -> bool:
    """Whether one job is followed to find percentiles, which works under any discipline."""
    return bool(graph.ways_by_class) and all("population" in n for n in graph.classes.values())


def _is_poisson(solution: "Solution") -> bool:
    """Whether all arrivals from outside are Poisson, whatever the service times."""
    graph = solution.model.network.graph
    if graph.classes:
        return False
    scvs = (scv_at(name).of(solution.values) for name in graph.arrival_scvs)
    return all(bool(np.all(np.asarray(scv) == 1)) for scv in scvs)


def at_a_pace(name: str) -> GraphError:
    """Refuse percentiles of a closed model that is compared with throughputs."""
    return GraphError(
        f"{name}: a closed model driven by a throughput has no known percentiles; give the load as "
        "a population"
    )


def _closed_classes(solution: "Solution") -> bool:
    classes = solution.model.network.graph.classes
    return any("population" in numbers for numbers in classes.values())


def _time(law: TimeLaw | None, share: float) -> float:
    return np.inf if law is None else percentile_of(law, share)


def _laws(point: "Solution") -> Laws:
    if point.model.network_kind is NetworkKind.CLASSES:
        return _laws_of_classes(point)
    if not _stable(point).all():
        return {"": None}
    with _named(point):
        return {"": law_of(point)}


def _laws_of_classes(point: "Solution") -> Laws:
    graph = point.model.network.graph
    if graph.ways_by_class:
        from headway.models.solving.response_times.class_routes import class_route_laws

        with _named(point):
            return class_route_laws(point)
    one = as_one(point.model)
    if one is not None:
        alike = law_of(one.solve())
        return {"": alike, **dict.fromkeys(graph.classes, alike)}
    with _named(point):
        return _laws_of_unlike_classes(point)


def _laws_of_unlike_classes(point: "Solution") -> Laws:
    if _closed_classes(point):
        from headway.models.solving.response_times.closed_classes import closed_class_laws

        return closed_class_laws(point)
    from headway.models.solving.response_times.open_classes import open_class_laws

    return open_class_laws(point)


def law_of(point: "Solution") -> TimeLaw:
    """Distribution of the response time of a network without classes, below saturation."""
    parts = sum_of_times_in(point.model)
    if parts is not None and point.model.network.is_closed:
        always, alone = closed_alone(point, parts)
        return in_series(constant(always), _closed_law(alone.solve()))
    if parts is not None:
        return sum_law(point, parts)
    if point.model.network_kind is NetworkKind.CLOSED:
        return _closed_law(point)
    if any(shares(point.model.network.graph, name) for name in point.stations):
        from headway.models.solving.response_times.open_sharing import sharing_law

        return sharing_law(point)
    given = visits_given(point.model.network.graph)
    return _of_visits(point) if given else _law_of_routes(point)


def _closed_law(point: "Solution") -> TimeLaw:
    from headway.models.solving.response_times.closed import closed_law

    return closed_law(point)


@contextmanager
def _named(point: "Solution") -> Iterator[None]:
    """Add the model to the error of an unknown distribution."""
    try:
        yield
    except GraphError as error:
        msg = f"{point.model.name}: {error}"
        raise GraphError(msg) from None


def _of_visits(point: "Solution") -> TimeLaw:
    from headway.queueing.sojourn.routed_network import GIVEN

    values, own = point.values, OWN_VISITS.of(point.values)
    met = [name for name in point.stations if own[name] > 0]
    laws = {n: visited_station(point, n).time_law(values[f"{n}.arrival_rate"]) for n in met}
    law = in_series(*(independent_visits(law, float(own[name])) for name, law in laws.items()))
    alone = len(met) == 1 and own[met[0]] <= 1
    return TimeLaw(law.pieces, law.mean, merged(() if alone else (GIVEN,), law.notes))


def _law_of_routes(point: "Solution") -> TimeLaw:
    from headway.queueing.sojourn.routed_network import RoutedNetwork

    values, graph = point.values, point.model.network.graph
    admitted = np.array([_admitted(point, name) for name in graph.stations])
    ways = ways_of(graph, values)
    network = RoutedNetwork(
        tuple(graph.stations),
        tuple(visited_station(point, name) for name in graph.stations),
        np.array([float(values[f"{name}.arrival_rate"]) for name in graph.stations]),
        ways.entries,
        ways.onward * admitted[:, None],
        ways.leaving * admitted,
    )
    return network.law()


def _admitted(point: "Solution", name: str) -> float:
    """Probability that an arriving job is admitted; direct feedback is refused."""
    graph, values = point.model.network.graph, point.values
    if not graph.stations[name].can.loses:
        return 1.0
    if name in graph.routes.loops:
        msg = f"times of jobs that return directly to {name} have no known distribution"
        raise GraphError(msg)
    return 1 - float(values[f"{name}.loss_probability"])
