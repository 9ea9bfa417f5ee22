"""A model graph as a networkx graph, for networkx's algorithms and layouts."""

from typing import Protocol

import networkx as nx

from headway.kinds import Amount
from headway.models.structure.parts.components import Route
from headway.models.structure.parts.structure import Structure


class HasGraph(Protocol):
    """A model, as far as its graph goes."""

    @property
    def graph(self) -> Structure:
        """Stations, links and formulas."""


def to_networkx(graph: Structure) -> Amount:
    """Make a directed graph of a model: routes between stations, formulas between numbers.

    Parameters
    ----------
    graph
        Any model graph.

    Returns
    -------
    networkx.DiGraph with node attribute ``kind`` (a station's or link's kind, "parameter",
    "formula" or "output") and edge attribute ``sort`` ("route" or "formula"); routes carry
    their ``probability`` as text.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> from headway.models import ModelGraph
    >>> graph = ModelGraph("g").declare("s").station("cpu", MM1("s")).route("cpu", "cpu", 0.5)
    >>> sorted(to_networkx(graph).edges(data="sort"))
    [('cpu', 'cpu', 'route'), ('s (parameter)', 'cpu', 'formula')]
    """
    drawn = nx.DiGraph(name=graph.name)
    for name, component in {**graph.links, **graph.stations}.items():
        drawn.add_node(name, kind=component.kind.__name__)
        for formulas in component.formulas().values():
            _bind(drawn, graph, frozenset[str]().union(*(f.names for f in formulas)), name)
    for kind, named in (("formula", graph.bindings), ("output", graph.outputs)):
        for name, read in named.items():
            drawn.add_node(f"{name} ({kind})", kind=kind)
            _bind(drawn, graph, read.names, f"{name} ({kind})")
    for route in (*graph.routes, *graph.class_ways.routes):
        text = "\n".join(filter(None, (_known(drawn, route), _chance_words(route))))
        drawn.add_edge(route.source, route.target, sort="route", probability=text)
        _bind(drawn, graph, route.probability.names, route.target)
    return drawn


def model_to_networkx(model: HasGraph) -> Amount:
    """The graph of a model; see `to_networkx`."""
    return to_networkx(model.graph)


def _known(drawn: "nx.DiGraph", route: Route) -> str:
    """What has been stated already about the routes between two stations."""
    ends = route.source, route.target
    return str(drawn.edges[ends].get("probability", "")) if drawn.has_edge(*ends) else ""


def _chance_words(route: Route) -> str:
    """A route's probability in words, with its class."""
    of = f"{route.job_class or 'all'} > {route.becomes}" if route.becomes else route.job_class
    return f"{of}: {route.probability.text}" if of else route.probability.text


def _bind(drawn: "nx.DiGraph", graph: Structure, names: frozenset[str], target: str) -> None:
    for name in sorted(names):
        source = _source(graph, name)
        if source != target and not drawn.has_edge(source, target):
            drawn.add_edge(source, target, sort="formula")


def _source(graph: Structure, name: str) -> str:
    """The component or number to which a name in a formula belongs."""
    head, dot, _ = name.partition(".")
    if dot:
        return head
    kinds = {"formula": graph.bindings, "output": graph.outputs}
    kind = next((kind for kind, formulas in kinds.items() if name in formulas), "parameter")
    return f"{name} ({kind})"
