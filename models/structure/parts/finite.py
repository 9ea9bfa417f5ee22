"""Stations with limited room whose arrivals are not Poisson."""

from dataclasses import replace
from typing import TypeVar

from headway.errors import GraphError
from headway.models.language.formula import Formula, of_number
from headway.models.structure.parts.structure import Structure

Graph = TypeVar("Graph", bound=Structure)


def in_renewal_room(graph: Graph, scv: Formula) -> Graph:
    """The graph with a renewal flow to its only queue, which has limited room.

    Parameters
    ----------
    graph
        A graph with a station that loses jobs when full.
    scv
        Squared coefficient of variation of the interarrival times.

    Raises
    ------
    GraphError
        For more than one queue, and for kinds whose losses under a renewal flow are not known.
    """
    queues = [name for name, station in graph.stations.items() if station.can.limits]
    station = graph.stations[queues[0]]
    kind = getattr(station.kind, "renewal", None)
    if len(queues) > 1 or kind is None or station.visits or not station.discipline.in_turn:
        names = ", ".join(dict.fromkeys(graph.stations[n].kind.__name__ for n in queues))
        msg = f"{graph.name}: headway has no formula for arrivals with an scv at {names}"
        raise GraphError(msg)
    fields = {"servers": of_number(1.0), **station.fields, "arrival_scv": scv}
    renewed = replace(station, kind=kind, fields=fields)
    return replace(graph, stations={**graph.stations, queues[0]: renewed})
