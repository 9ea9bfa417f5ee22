"""Arrivals from outside with a given variability, for a simulation."""

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
    """Arrivals at a station, by position, with their own interarrival times."""

    station: int
    rate: float
    scv: float


def streams_of(
    graph: ModelGraph,
    rate: float,
    entry: FloatArray,
    values: Mapping[str, Amount],
    own: Mapping[str, float],
) -> tuple[Stream, ...]:
    """Arrivals from outside by station; empty if all are Poisson and form one flow.

    Parameters
    ----------
    graph
        A graph whose arrivals may have an scv.
    rate, entry
        The total rate [1/s], and the probability to enter at each station, shape (stations,).
    values
        The graph's numbers.
    own
        The scv of arrivals at stations whose kind says it; what the graph says goes before.
    """
    scvs = {**own} | {name: float(scv_at(name).of(values)) for name in graph.arrival_scvs}
    if set(scvs.values()) <= {1.0}:
        return ()
    shares = zip(graph.stations, entry.tolist(), strict=True)
    return tuple(
        Stream(k, rate * share, scvs.get(name, 1.0))
        for k, (name, share) in enumerate(shares)
        if share
    )
