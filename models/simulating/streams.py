"""Arrivals from outside as a simulation reads them, where a model says how they vary."""

from collections.abc import Mapping
from dataclasses import dataclass

from headway.kinds import Amount, FloatArray
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import scv_at

SPREAD_ARRIVALS = (
    "times between arrivals do not depend on each other; with an scv below 1 they are "
    "gamma-distributed, above 1 hyperexponential with balanced means"
)


@dataclass(frozen=True)
class Stream:
    """Arrivals at a station, by its position, the times between which vary in their own way."""

    station: int
    rate: float
    scv: float


def streams_of(
    graph: ModelGraph, rate: float, entry: FloatArray, values: Mapping[str, Amount]
) -> tuple[Stream, ...]:
    """Arrivals from outside by station; none where all are Poisson, and come as one.

    Parameters
    ----------
    graph
        Whose arrivals say how they vary.
    rate, entry
        All that come [1/s], and the chance to enter at each station, shape (stations,).
    values
        The graph's numbers.
    """
    scvs = {name: float(scv_at(name).of(values)) for name in graph.arrival_scvs}
    if set(scvs.values()) <= {1.0}:
        return ()
    shares = zip(graph.stations, entry.tolist(), strict=True)
    return tuple(
        Stream(k, rate * share, scvs.get(name, 1.0))
        for k, (name, share) in enumerate(shares)
        if share
    )
