"""Routes of single classes, checked and planned: their names, and that every route can be taken."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from headway.errors import GraphError, nearest
from headway.kinds import Amount
from headway.models.structure.parts.class_ways import EVERY, entry_by, share_by, words_of
from headway.models.structure.parts.components import Route
from headway.models.structure.parts.keys import Values, arrivals_at
from headway.models.structure.parts.routes import share_at
from headway.models.structure.parts.structure import Structure
from headway.models.structure.planning.flows import entry_shares
from headway.queueing.flows.traffic import SUM_TOLERANCE

if TYPE_CHECKING:
    from headway.queueing.chains.routes import At, ClassRoutes


def check_ways(graph: Structure) -> None:
    """Refuse unknown classes and stations, and routes that no job can take.

    Raises
    ------
    GraphError
        With the route or the class, and the remedy.
    """
    ways = graph.class_ways
    named = [(words_of(r), c) for r in ways.routes for c in (r.job_class, r.becomes) if c]
    for place, name in named:
        if name not in graph.classes:
            msg = f"{place}: there is no class {name!r}{nearest(name, graph.classes)}"
            raise GraphError(msg)
    stations = [(f"class {c}: arrives", s) for c, by in ways.arrives.items() for s in by]
    stations += [(f"class {c}: reference" if c else "reference", s)
                 for c, s in ways.references.items()]  # fmt: skip
    for place, name in stations:
        if name not in graph.stations:
            msg = f"{place}: there is no station {name!r}{nearest(name, graph.stations)}"
            raise GraphError(msg)
    _check_apart(graph)
    _check_taken(graph)


def _check_apart(graph: Structure) -> None:
    """Refuse routes by class together with visits, or one that all classes have too."""
    ways = graph.class_ways
    given = next((name for name, station in graph.stations.items() if station.visits), None)
    if given is not None and (ways.by_class or ways.references):
        msg = f"{given} has visits, but there are routes or references too; keep one of them"
        raise GraphError(msg)
    for route in ways.routes:
        if not route.becomes and graph.routes.between(route.source, route.target):
            msg = f"{words_of(route)} is given for every class too; delete one of them"
            raise GraphError(msg)


def _check_taken(graph: Structure) -> None:
    """Refuse routes of a class that reaches the start of none of them, if it starts nowhere."""
    ways = graph.class_ways
    entering = {*ways.arrives, *ways.references, EVERY}
    routes = [route for route in ways.routes if route.job_class not in entering]
    here = visited(graph) if routes else set()
    taken = {route.job_class for route in routes if (route.job_class, route.source) in here}
    for route in routes:
        if route.job_class not in taken:
            msg = (
                f"{words_of(route)} is never taken: no job of that class reaches {route.source}; "
                "give its arrives or reference, let a class become it, or delete the route"
            )
            raise GraphError(msg)


def visited(graph: Structure) -> "set[At]":
    """Classes at the stations that they can reach, whatever the numbers are."""
    onward: dict[str, list[Route]] = {}
    for route in (*graph.routes, *graph.class_ways.routes):
        onward.setdefault(route.source, []).append(route)
    todo = [(c, station) for c in graph.classes for station in _entries(graph, c)]
    reached = set(todo)
    while todo:
        c, station = todo.pop()
        for route in onward.get(station, ()):
            state = route.becomes or c, route.target
            if route.job_class in (EVERY, c) and state not in reached:
                reached.add(state)
                todo.append(state)
    return reached


def _entries(graph: Structure, name: str) -> tuple[str, ...]:
    """Stations where jobs of a class enter, or begin their rounds."""
    ways = graph.class_ways
    if name in ways.arrives:
        return tuple(ways.arrives[name])
    if name in ways.references:
        return (ways.references[name],)
    return tuple(graph.arrivals) or tuple(graph.stations)[:1]


def needs_chains(graph: Structure) -> bool:
    """Whether classes have their own routes, or circulate on routes without an exit."""
    if graph.class_ways.by_class:
        return True
    if len(graph.classes) < 2 or any(s.visits for s in graph.stations.values()):
        return False
    closed = any("population" in numbers for numbers in graph.classes.values())
    if not closed or not graph.routes:
        return False
    changing = {route.source for route in graph.routes.changing}
    names = tuple(graph.stations)
    rest = zip(names, graph.routes.fixed(names).sum(axis=1).tolist(), strict=True)
    return all(name in changing or total >= 1 - SUM_TOLERANCE for name, total in rest)


def chain_targets(graph: Structure) -> list[str]:
    """Names of the numbers that define routes by class."""
    targets: list[str] = [key for key, _ in graph.class_ways.formulas()]
    targets += [share_at(route) for route in graph.routes.changing]
    return targets + [arrivals_at(name) for name in graph.arrivals]


def class_routes(graph: Structure, values: Values) -> "ClassRoutes":
    """Routes by class, in numbers.

    Parameters
    ----------
    graph, values
        A graph with classes, and the numbers of `chain_targets`.
    """
    from headway.queueing.chains.routes import ClassRoutes

    onward: dict[tuple[At, At], Amount] = {}
    for source, target, chance in _steps(graph, values):
        onward[source, target] = onward.get((source, target), 0.0) + chance
    closed = frozenset(c for c, numbers in graph.classes.items() if "population" in numbers)
    return ClassRoutes(
        tuple(graph.stations),
        tuple(graph.classes),
        onward,
        {c: _shares(graph, c, values) for c in graph.classes},
        closed,
        frozenset(graph.class_ways.references),
    )


def _steps(graph: Structure, values: Values) -> "Iterator[tuple[At, At, Amount]]":
    """The routes of each class that may reach their start."""
    here = visited(graph)
    for (source, target), chance in graph.routes.chances(values).items():
        for c in graph.classes:
            if (c, source) in here:
                yield (c, source), (c, target), chance
    for route in graph.class_ways.routes:
        chance = share_by(route).of(values)
        for c in (route.job_class,) if route.job_class else graph.classes:
            if (c, route.source) in here:
                yield (c, route.source), (route.becomes or c, route.target), chance


def _shares(graph: Structure, name: str, values: Values) -> Mapping[str, Amount]:
    """Shares of the stations where a class enters, or where its rounds begin; they sum to 1."""
    ways = graph.class_ways
    if name in ways.references:
        return {ways.references[name]: 1.0}
    keys = {s: entry_by(name, s) for s in ways.arrives.get(name, ())}
    keys = keys or {s: arrivals_at(s) for s in graph.arrivals}
    if not keys:
        return {next(iter(graph.stations)): 1.0}
    return entry_shares({station: key.of(values) for station, key in keys.items()})
