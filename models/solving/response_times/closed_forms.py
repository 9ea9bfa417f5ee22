"""Percentiles in closed form: constant times, and at most one exponential time."""

from collections.abc import Mapping

import sympy

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.solving.response_times.sum_of_times import sum_of_times
from headway.models.solving.solutions.on_demand import check_percent
from headway.models.structure.graph import ModelGraph
from headway.models.structure.outputs import percentile_name
from headway.models.structure.parts.orders import check_turns_known
from headway.models.structure.planning.ways import shares, visits_given


def percentile_form(graph: ModelGraph, percent: float, given: Mapping[str, Amount]) -> Amount:
    """Write a percentile of the response time: constants - R log(1 - q / 100).

    Parameters
    ----------
    graph
        A graph with stations that all jobs visit once, one after the other; or with a formula of
        the response time that adds constant times to that of one station.
    percent
        q, between 0 and 100.
    given
        Symbols of the parameters, of the arrival rate, and of other names.

    Raises
    ------
    GraphError
        For any other graph, or a station whose time is neither constant nor exponential.
    InvalidParameter
        For a percentage out of range.
    """
    check_percent(percent)
    name = percentile_name(percent)
    try:
        constants, exponential = _times(graph)
    except GraphError as error:
        msg = f"{graph.name} has no closed form of {name}: {error}"
        raise GraphError(msg) from None
    values = graph.plan.run(given, [*constants, *exponential])
    longer = sympy.log(1 / (1 - sympy.Rational(name.rpartition("_p")[2]) / 100))
    return sum((values[n] for n in constants), 0) + sum(values[n] * longer for n in exponential)


def _times(graph: ModelGraph) -> tuple[list[str], list[str]]:
    """Names of the constant times of every job, and of the exponential one if there is one."""
    if graph.classes or not graph.stations:
        why = "there are several classes" if graph.classes else "a program's run time is one number"
        raise GraphError(why)
    if "response_time" in graph.outputs:
        return _times_of_sum(graph)
    visited = _path(graph)
    waiting = [name for name in visited if graph.stations[name].can.limits]
    for name in waiting:
        _check_exponential(graph, name)
    if len(waiting) > 1:
        msg = f"jobs wait at {' and '.join(waiting)}, and the sum of their times is not exponential"
        raise GraphError(msg)
    constants = [f"{name}.residence_time" for name in visited if name not in waiting]
    return constants, [f"{name}.residence_time" for name in waiting]


def _times_of_sum(graph: ModelGraph) -> tuple[list[str], list[str]]:
    """The same names, for a response time given by a formula."""
    parts = sum_of_times(graph)
    if parts is None:
        msg = (
            "its formula is more than the sum of constant times and one station in order of arrival"
        )
        raise GraphError(msg)
    _check_exponential(graph, parts.station)
    return list(parts.constants), [f"{parts.station}.response_time"]


def _check_exponential(graph: ModelGraph, name: str) -> None:
    station = graph.stations[name]
    check_turns_known(graph)
    if not station.can.exponential or shares(graph, name):
        kind = f"{station.kind.__name__}{', which all jobs share' if shares(graph, name) else ''}"
        msg = f"the response time of {name} ({kind}) is not exponential"
        raise GraphError(msg)


def _path(graph: ModelGraph) -> list[str]:
    """The stations that all jobs visit, in order."""
    if visits_given(graph):
        raise GraphError("visits are only means of how often jobs come; give routes")
    starts = list(graph.arrivals) or list(graph.stations)[:1]
    if len(starts) > 1:
        raise GraphError("jobs arrive at several stations")
    targets = _targets(graph)
    path = starts
    while path[-1] in targets:
        path.append(_next(path, targets[path[-1]]))
    return path


def _targets(graph: ModelGraph) -> dict[str, dict[str, float | None]]:
    """Stations that follow each station; those with probability 0 are left out."""
    targets: dict[str, dict[str, float | None]] = {}
    for route in graph.routes:
        if route.probability.constant != 0:
            targets.setdefault(route.source, {})[route.target] = route.probability.constant
    return targets


def _next(path: list[str], targets: Mapping[str, float | None]) -> str:
    target, chance = next(iter(targets.items()))
    if len(targets) > 1 or chance != 1:
        msg = f"jobs take different routes from {path[-1]}"
        raise GraphError(msg)
    if target in path:
        msg = f"jobs return to {target}"
        raise GraphError(msg)
    return target
