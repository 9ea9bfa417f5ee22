"""Parameters that count something: servers, places and jobs are whole numbers."""

from collections.abc import Iterable, Iterator

from headway.models.language.formula import Call, Formula, Name, Operation, Tree
from headway.models.structure.parts.structure import Structure

_ROUNDED = ("ceil", "floor")
"""Functions whose arguments need not be whole."""


def counts(graph: Structure) -> frozenset[str]:
    """Names of the parameters that must be whole numbers.

    Parameters
    ----------
    graph
        A graph. Populations must be whole, and so must the parameters that make up a station's
        counts, a link's processors, and servers, threads and clients of layered services.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MMm
    >>> pool = ModelGraph("pool").declare("s", "disks").station("disk", MMm("s", "disks"))
    >>> sorted(counts(pool))
    ['disks', 'population']
    """
    names = {"population", *(f"{link}.processors" for link in graph.links)}
    for number in _counted(graph):
        names |= set(_names(number.tree, graph))
    return frozenset(names)


def _counted(graph: Structure) -> Iterable[Formula]:
    """Formulas that must give whole numbers."""
    for station in graph.stations.values():
        for field in station.can.counts:
            number = station.fields[field]
            if isinstance(number, Formula):
                yield number
    yield from (region.limit for region in graph.regions.values())
    yield from (c["population"] for c in graph.classes.values() if "population" in c)
    if graph.layers:
        yield from (processor.servers for processor in graph.layers.processors.values())
        yield from (task.threads for task in graph.layers.tasks.values())


def _names(tree: Tree, graph: Structure) -> Iterator[str]:
    """Names whose values a formula adds, multiplies or selects, also through bindings."""
    if isinstance(tree, Name) and tree.name in graph.bindings:
        yield from _names(graph.bindings[tree.name].tree, graph)
    elif isinstance(tree, Name):
        yield tree.name
    elif isinstance(tree, Operation):
        yield from _names(tree.left, graph)
        yield from _names(tree.right, graph)
    elif isinstance(tree, Call) and tree.function not in _ROUNDED:
        chosen = tree.arguments[1:] if tree.function == "where" else tree.arguments
        for argument in chosen:
            yield from _names(argument, graph)
