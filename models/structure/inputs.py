"""The parameters that a graph needs, and the shape of their values."""

from collections.abc import Mapping

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import Number
from headway.models.language.parameters import Parameter
from headway.models.language.units import unit
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.links import link_parameters

ARRIVAL_RATE = "arrival_rate"
"""Name of the load of an open model."""

POPULATION = Parameter("population", None, minimum=0, doc="number of circulating jobs", own=0.0)
THINK_TIME = Parameter(
    "think_time", None, unit("s"), 0.0, doc="time between a reply and the next request", own=0.0
)

ARRIVAL_SCV = Parameter(
    "arrival_scv",
    None,
    minimum=0,
    doc="squared coefficient of variation of the times between arrivals: 0 regular, 1 Poisson",
)


def parameters_of(graph: ModelGraph) -> dict[str, Parameter]:
    """The parameters of a graph, without values except those of its links.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> list(parameters_of(ModelGraph("one").declare("s").station("cpu", MM1("s"))))
    ['s', 'arrival_rate']
    """
    names = list(graph.parameters)
    if "population" in names and not graph.layers:
        names += ["think_time"] * ("think_time" not in names)
    elif graph.needs_arrival_rate:
        names.append(ARRIVAL_RATE)
    rate = Parameter(ARRIVAL_RATE, None, unit("1/s"), 0.0, doc="rate of arrivals from outside")
    ready = {ARRIVAL_RATE: rate, "population": POPULATION, "think_time": THINK_TIME.at(0.0)}
    own = {name: ready.get(name, Parameter(name)) for name in names}
    return own | link_parameters(graph.links)


def points_shape(inputs: Mapping[str, Number]) -> tuple[int, ...]:
    """The shape to which all inputs broadcast: one entry for each operating point."""
    try:
        return np.broadcast_shapes(*(np.shape(value) for value in inputs.values()))
    except ValueError:
        shapes = {name: np.shape(v) for name, v in inputs.items() if np.ndim(v)}
        msg = f"these arrays have different lengths: {shapes}; give them the same length"
        raise InvalidParameter(msg) from None
