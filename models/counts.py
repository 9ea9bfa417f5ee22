"""Parameters that count something: servers, places and jobs come in whole numbers."""

from headway.models.formula import Formula
from headway.models.graph import ModelGraph


def counts(graph: ModelGraph) -> frozenset[str]:
    """Name the parameters that have to be whole.

    Parameters
    ----------
    graph
        Any graph: jobs that circulate are whole, and what a station's counts are made of.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MMm
    >>> pool = ModelGraph("pool").declare("s", "disks").station("disk", MMm("s", "disks"))
    >>> sorted(counts(pool))
    ['disks', 'population']
    """
    names = {"population"}
    for station in graph.stations.values():
        for field in station.can.counts:
            number = station.fields[field]
            if isinstance(number, Formula):
                names |= number.names
    return frozenset(names)
