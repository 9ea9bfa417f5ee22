"""Percentiles of the response time of open networks' jobs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.errors import GraphError
from headway.kinds import check_domain
from headway.models.solving.class_times import class_laws
from headway.models.structure.ways import visits_given, ways_of
from headway.queueing.percentiles import Phase, path_law, percentile_of
from headway.queueing.routed import GIVEN, RoutedNetwork
from headway.queueing.times.laws import TimeLaw, merged

if TYPE_CHECKING:
    from headway.models.solving.solution import Solution

Laws = Mapping[str, TimeLaw | None]
"""Law of the jobs of each class, of all under ""; None where a station is saturated."""


def percentile(solution: "Solution", percent: float) -> dict[str, Any]:
    """Time within which a share of the jobs has made all its visits, by operating point.

    Parameters
    ----------
    solution
        Of an open network; of several classes, all of them open.
    percent
        Between 0 and 100.

    Returns
    -------
    The new values, of all jobs and of each class, and what is approximate about them, by name.

    Raises
    ------
    GraphError
        Where no law is known, with the reason.
    """
    check_domain("percentile", percent, lambda p: (p > 0) & (p < 100), "between 0 and 100")
    _check_open(solution)
    count = int(np.prod(solution.shape))
    points = [_laws(solution.point(k)) for k in range(count)]
    part = f"response_time_p{percent:g}"
    values: dict[str, Any] = {}
    for name in ("", *solution.classes):
        times = [_time(laws.get(name, laws[""]), percent / 100) for laws in points]
        values[f"class {name}.{part}" if name else part] = np.array(times).reshape(solution.shape)
    told = tuple(note for note in (solution.approximation,) if note)
    notes = (law.notes for laws in points for law in laws.values() if law is not None)
    return values | {"approximation": "; ".join(merged(told, *notes))}


def _check_open(solution: "Solution") -> None:
    name = solution.model.name
    if not solution.stations:
        msg = f"{name}: a program's run time is one number, without percentiles"
        raise GraphError(msg)
    if "response_time" in solution.model.graph.outputs:
        msg = (
            f"{name}: its response time is a formula, and percentiles follow the stations; "
            "make a station of each part of it"
        )
        raise GraphError(msg)
    if solution.model.network.is_closed or _closed_classes(solution):
        msg = (
            f"{name}: percentiles are known for open networks only; how long jobs take that "
            "circulate depends on each other"
        )
        raise GraphError(msg)


def _closed_classes(solution: "Solution") -> bool:
    classes = solution.model.network.graph.classes
    return any("population" in numbers for numbers in classes.values())


def _time(law: TimeLaw | None, share: float) -> float:
    return np.inf if law is None else percentile_of(law, share)


def _laws(point: "Solution") -> Laws:
    graph = point.model.network.graph
    if graph.classes:
        with _named(point):
            return class_laws(point)
    if any(_saturated(point, name) for name in point.stations):
        return {"": None}
    with _named(point):
        return {"": law_of(point)}


def law_of(point: "Solution") -> TimeLaw:
    """How the response time of an open network without classes is distributed, below saturation."""
    given = visits_given(point.model.network.graph)
    return _of_visits(point) if given else _routed(point)


@contextmanager
def _named(point: "Solution") -> Iterator[None]:
    """Say of what model a law is not known."""
    try:
        yield
    except GraphError as error:
        msg = f"{point.model.name}: {error}"
        raise GraphError(msg) from None


def _saturated(point: "Solution", name: str) -> bool:
    visited = bool(np.any(point.values["visits"][name] > 0))
    return visited and not np.isfinite(point.values[f"{name}.response_time"])


def _of_visits(point: "Solution") -> TimeLaw:
    values = point.values
    phases = [
        Phase(values["visits"][name], values[f"station {name}"], values[f"{name}.arrival_rate"])
        for name in point.stations
        if values["visits"][name] > 0
    ]
    law = path_law(phases)
    alone = len(phases) == 1 and phases[0].visits <= 1
    return TimeLaw(law.pieces, law.mean, merged(() if alone else (GIVEN,), law.notes))


def _routed(point: "Solution") -> TimeLaw:
    values, graph = point.values, point.model.network.graph
    admitted = np.array([_admitted(point, name) for name in graph.stations])
    ways = ways_of(graph, values)
    network = RoutedNetwork(
        tuple(graph.stations),
        tuple(values[f"station {name}"] for name in graph.stations),
        np.array([float(values[f"{name}.arrival_rate"]) for name in graph.stations]),
        ways.entries,
        ways.onward * admitted[:, None],
        ways.leaving * admitted,
    )
    return network.law()


def _admitted(point: "Solution", name: str) -> float:
    """Chance that a job which comes finds a place; refuses places that are kept on a return."""
    graph, values = point.model.network.graph, point.values
    if not graph.stations[name].can.loses:
        return 1.0
    if name in graph.routes.loops:
        msg = f"how long jobs take that keep their place at {name} and come back is not known"
        raise GraphError(msg)
    return 1 - float(values[f"{name}.loss_probability"])
