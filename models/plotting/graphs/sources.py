"""Where the jobs of a graph come from: arrivals, classes, terminals, and who returns to them."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from headway.models.language.formula import Formula
from headway.models.language.scales import Scale
from headway.models.language.units import ONE
from headway.models.showing.parts.numbers import LOAD_UNITS, RATE, number_text
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.class_ways import EVERY
from headway.models.structure.parts.components import Route
from headway.records import dataclass

_SURE = 1 - 1e-9  # a sum of probabilities above which nothing is left over


@dataclass(frozen=True)
class Source:
    """A place that jobs come from.

    Parameters
    ----------
    name
        Name of its box, which no station has.
    words
        Its words.
    entries
        Stations where jobs enter, with the share of each if there are several.
    back
        Stations from which jobs return to it.
    """

    name: str
    words: str
    entries: Mapping[str, str]
    back: frozenset[str] = field(default_factory=frozenset)


def sources_of(graph: ModelGraph, terminals: str | None, scale: Scale) -> Iterator[Source]:
    """Find where jobs come from; classes with the same routes have a common source.

    Parameters
    ----------
    graph
        A graph with stations.
    terminals
        What is known of a closed population; None if jobs arrive from outside.
    scale
        The units of the picture.
    """
    if graph.classes:
        yield from _of_classes(graph, scale)
    elif terminals is not None:
        start = graph.class_ways.references.get(EVERY) or next(iter(graph.stations))
        entries = dict.fromkeys(graph.stations if is_visited(graph) else [start], "")
        yield Source("(terminals)", terminals, entries, _back(graph, entries, EVERY))
    elif graph.arrivals:
        for name, rate in graph.arrivals.items():
            spread = graph.arrival_scvs.get(name)
            scv = f"\nscv {spread.text}" if spread else ""
            batch = graph.arrival_batches.get(name)
            sizes = f"\nbatches of {batch.text}" if batch else ""
            course = graph.arrival_courses.get(name)
            words = f"arrivals\n{number_text(rate, RATE, scale)}{scv}{sizes}"
            words += f"\n{course.words}" if course else ""
            yield Source(f"(arrivals at {name})", words, {name: ""})
    else:
        names = list(graph.stations)
        yield Source(
            "(arrivals)", "arrivals", dict.fromkeys(names if is_visited(graph) else names[:1], "")
        )


def is_visited(graph: ModelGraph) -> bool:
    """Whether visits are given in place of routes: jobs go to each station and back."""
    return not (graph.routes or graph.class_ways.routes)


def _of_classes(graph: ModelGraph, scale: Scale) -> Iterator[Source]:
    alike: dict[Any, list[str]] = {}
    ways: dict[Any, tuple[dict[str, str], frozenset[str]]] = {}
    for name, loads in graph.classes.items():
        entries = _entries(graph, name)
        back = _back(graph, entries, name) if "population" in loads else frozenset[str]()
        key = (tuple(entries.items()), back)
        alike.setdefault(key, []).append(name)
        ways[key] = (entries, back)
    for key, names in alike.items():
        words = "\n".join(_class_words(name, graph.classes[name], scale) for name in names)
        yield Source(f"({', '.join(names)})", words, *ways[key])


def _entries(graph: ModelGraph, name: str) -> dict[str, str]:
    """Stations where a class enters, with its shares if there are several."""
    if is_visited(graph):
        visited = (
            station
            for station, component in graph.stations.items()
            if not component.visits or component.visits.keys() & {name, EVERY}
        )
        return dict.fromkeys(visited, "")
    ways = graph.class_ways
    shares = ways.arrives.get(name)
    if shares:
        return {at: "" if len(shares) == 1 else share.text for at, share in shares.items()}
    first = ways.references.get(name) or ways.references.get(EVERY) or next(iter(graph.stations))
    return {first: ""}


def _back(graph: ModelGraph, entries: Mapping[str, str], name: str) -> frozenset[str]:
    """Stations that jobs of a class reach, and from which they may return to their source."""
    if is_visited(graph):
        return frozenset(entries)
    own = [r for r in (*graph.routes, *graph.class_ways.routes) if r.job_class in (name, EVERY)]
    reached, new = set(entries), list(entries)
    while new:
        here = new.pop()
        beyond = {r.target for r in own if r.source == here} - reached
        reached |= beyond
        new += beyond
    return frozenset(at for at in reached if not _is_sure([r for r in own if r.source == at]))


def _is_sure(routes: list[Route]) -> bool:
    """Whether routes are numbers whose sum leaves nothing over."""
    shares = [route.probability.constant for route in routes]
    return None not in shares and sum(share or 0.0 for share in shares) >= _SURE


def _class_words(name: str, loads: Mapping[str, Formula], scale: Scale) -> str:
    """A class with its numbers, one per line."""
    numbers = (
        f"{key.replace('_', ' ')} {number_text(load, LOAD_UNITS.get(key, ONE), scale)}"
        for key, load in loads.items()
    )
    return "\n".join((name, *numbers))
