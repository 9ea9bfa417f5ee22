"""Routes of the classes of a model, as arrays over its operating points."""

import numpy as np

from headway.kinds import FloatArray
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import Values
from headway.models.structure.parts.routes import share_at
from headway.models.structure.planning.ways import visits_given, ways_of
from headway.queueing.network.routing import Routing


def class_ways(graph: ModelGraph, values: Values) -> Routing | None:
    """Read entries and routes of all classes.

    Parameters
    ----------
    graph
        A graph with classes.
    values
        Its calculated numbers.

    Returns
    -------
    The routes; None if the graph gives visits, whose order is unknown, or if routes differ between
    operating points.
    """
    changing = [share_at(route).of(values) for route in graph.routes.changing]
    if visits_given(graph) or any(np.size(chance) > 1 for chance in changing):
        return None
    ways, classes = ways_of(graph, values), len(graph.classes)
    each = np.eye(classes)
    entries = np.repeat(ways.entries[None, :, None], classes, axis=0)
    onward: FloatArray = np.einsum("cd,kj->ckjd", each, ways.onward)[..., None]
    return Routing(entries, onward)
